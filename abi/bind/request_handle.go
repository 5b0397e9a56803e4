package bind

import (
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/mpi"
)

// requestDone is the handle of every request that was complete when the call that started it
// returned. C returns it to the program, and completes such requests without entering Go
// (abi/lib/request.h). It is neither a predefined handle of the standard nor the handle of
// a slot.
const requestDone handle = 0x7f5

// requestNothing is the handle of every receive from MPI_PROC_NULL that C has started: like requestDone, with
// the status of such a receive.
const requestNothing handle = 0x7f6

// requestNowhere is the handle of every send to MPI_PROC_NULL that C has started. Unlike an operation on a window, it
// may be cancelled.
const requestNowhere handle = 0x7f7

// isDone reports whether h is requestDone, requestNothing, requestNowhere, or the handle of a send that C has completed.
// The last one is
// the number of the send and kindSent. It has as many bits as the integer that stands for it in Fortran.
func isDone(h handle) bool {
	return requestDone <= h && h <= requestNowhere || h&(1<<kindBits-1) == handle(kindSent) && h>>kindBits >= shmfmt.SentFirst && h>>kindBits < 1<<shmfmt.SentBits
}

// isReceived reports whether h is the handle of a receive that C has posted: the number of the receive and
// kindReceived.
func isReceived(h handle) bool {
	return h&(1<<kindBits-1) == handle(kindReceived) && h>>kindBits < 1<<shmfmt.ReceiveBits
}

// receive returns the request of a receive that C has posted, if it has not ended. From then on C leaves the
// request to Go.
func (l *Lib) receive(h handle) (mpi.Request, bool) {
	return engine.ReceivedRequest(l.base(), uint32(h>>kindBits))
}

// standIn returns a request for a handle that isDone: complete, and in no table.
func (l *Lib) standIn(h handle) mpi.Request {
	switch h {
	case requestDone:
		return engine.CompletedRequest(l.base())
	case requestNothing:
		return mpi.Irecv(l.base(), []byte(nil), mpi.ProcNull, mpi.AnyTag)
	case requestNowhere:
		return mpi.Isend(l.base(), []byte(nil), mpi.ProcNull, 0)
	}
	return engine.SentRequest(l.base(), uint32(h>>kindBits))
}

// undone returns h, or the handle of a new complete request if h isDone. Calls that C leaves to Go need
// one.
func (l *Lib) undone(h handle) handle {
	if !isDone(h) {
		return h
	}
	return l.requests.add(l.standIn(h))
}

// find returns the request of a handle that is not done, if there is one.
func (l *Lib) find(h handle) (mpi.Request, bool) {
	if isReceived(h) {
		return l.receive(h)
	}
	return l.requests.get(h)
}

// borrowed are requests of receives that C has posted, which are in no table, during a call.
var borrowed = sync.Pool{New: func() any { return new(mpi.Request) }}

// borrow returns the request of a handle that is not done, nil if there is none. The caller must call giveBack.
func (l *Lib) borrow(h handle) *mpi.Request {
	if isReceived(h) {
		q, ok := l.receive(h)
		if !ok {
			return nil
		}
		b := borrowed.Get().(*mpi.Request)
		*b = q
		return b
	}
	if s := l.requests.at(h); s != nil {
		return &s.value
	}
	return nil
}

// giveBack ends the use of what borrow has returned for a handle.
func giveBack(h handle, q *mpi.Request) {
	if isReceived(h) {
		*q = mpi.Request{}
		borrowed.Put(q)
	}
}

// getStatus is MPI_Request_get_status.
func (l *Lib) getStatus(a args) error {
	if err := l.need(call.RequestGetStatus, a, "flag", 1); err != nil {
		return err
	}
	h := a.word(0)
	switch {
	case h == requestNull:
		a.setBool(1, true)
		a.setEmpty(2)
		return nil
	case isDone(h):
		source := mpi.AnySource
		if h == requestNothing {
			source = mpi.ProcNull
		}
		a.setBool(1, true)
		a.setStatus(2, mpi.Status{Source: source, Tag: mpi.AnyTag})
		return nil
	}
	q, ok := l.find(h)
	if !ok {
		return l.noRequest(call.RequestGetStatus, h)
	}
	st, done, err := q.GetStatus()
	a.setBool(1, done)
	if done {
		l.completed(h, &q)
		a.setStatus(2, st)
	}
	return err
}
