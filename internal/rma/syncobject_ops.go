package rma

import (
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/rma/syncobject"
	"github.com/halo-mpi/halo/internal/wire"
)

// covers reports whether m is a mode of o. A coalesced frame, which holds short operations that are
// complete at the origin, counts as puts and accumulates.
func covers(m syncobject.Mode, o *link.Operation) bool {
	switch o.Kind {
	case operation.Put:
		return m&syncobject.Put != 0
	case operation.Get:
		return m&syncobject.Get != 0
	case operation.Accumulate:
		return m&syncobject.Accumulate != 0 || m&syncobject.Get != 0 && o.Answers()
	case operation.CompareAndSwap:
		return m&(syncobject.Get|syncobject.Accumulate) != 0
	case link.Coalesced:
		return m&(syncobject.Put|syncobject.Accumulate) != 0
	}
	return false
}

// opsRequest is the persistent request of an origin that signals a synchronisation object of a
// target when its operations there are complete.
//
// The set of operations that it covers is closed when a test or wait looks at the request
// (WaitStarted): all operations of its kinds that were issued until then, by the view's channel or,
// if that is the main one, by any; a later look adds those that were issued meanwhile. Operations
// that an earlier request has covered are complete, and need no distinction. When all are complete
// at the origin, all their frames are sent and the target handles them before any later one. So the
// signal is sent now, as a frame, and is counted when they are complete there: without a flush, and
// without an answer. Where the counter is mapped and nothing is under way by frames it is an atomic
// addition.
//
// Deferred operations, whose target has not posted, have no number yet: while there are any, the
// request waits until they are issued, and looks again.
//
// Rejected: counts of operations by kind, issued and complete. They would cost something in every
// call on mapped memory, where everything is complete when the call returns; and operations that
// are not complete are in a list anyway.
type opsRequest struct {
	v       *View
	t       *target // nil for ProcNull
	mode    syncobject.Mode
	counter int
	restart bool
	request *p2p.Request

	self     bool     // it began again by itself: with mode 0 the signal waits for a look
	attended bool     // a look has closed the set: it is in engineSyncs.looking
	deferred bool     // some of the set are deferred
	marks    []uint64 // the last operation that is covered, by channel
}

// engineSyncs is the state of synchronisation objects of a process. The engine's lock guards it.
type engineSyncs struct {
	looking []*opsRequest // requests whose set is closed and not complete
	serial  uint64        // of the newest own object
}

// SyncOps returns a persistent request that waits for the operations of mode to a target, and
// signals an object of that (MPIX_WIN_SYNC_OPS_INIT). With mode 0 it waits for nothing, and
// signals when it is started.
func (v *View) SyncOps(rank int, mode syncobject.Mode, h syncobject.Handle, restart bool, by call.Number) (*p2p.Request, error) {
	w := v.w
	q := &opsRequest{v: v, mode: mode, restart: restart}
	if err := v.entire(); err != nil {
		return nil, err
	}
	if mode&^syncobject.All != 0 {
		return nil, class.Errorf(class.Arg, "mode %#x is none: put is %#x, get %#x, accumulate %#x", uint32(mode), syncobject.Put, syncobject.Get, syncobject.Accumulate)
	}
	if rank != ProcNull {
		t, err := w.target(rank)
		if err == nil {
			err = w.checkRemote(t, h)
		}
		if err != nil {
			return nil, err
		}
		q.t, q.counter = t, h.Counter()
	}
	e := w.e
	e.p.Lock()
	defer e.p.Unlock()
	q.request = e.messages.NewRequest(w.Comm, by)
	e.messages.SetPersistent(q.request, q)
	return q.request, nil
}

// checkRemote returns an error unless h names an object of t, as far as this process can know.
func (w *Window) checkRemote(t *target, h syncobject.Handle) error {
	w.e.p.Lock()
	defer w.e.p.Unlock()
	if err := w.checkHandle(h); err != nil {
		return err
	}
	switch {
	case h.Process() != brief16(t.brief):
		return class.Errorf(class.Rank, "the synchronisation object is %s, not of %d", w.ofWhom(h), t.Rank)
	case t.Rank == w.Comm.Rank:
		return w.checkLocal(h)
	}
	return nil
}

// Begin implements p2p.Starter.
func (q *opsRequest) Begin() {
	q.attended = false
	if q.t == nil {
		q.end(nil)
		return
	}
	w := q.v.w
	rank := w.Comm.RankOf(q.t.Process)
	if w.live() == nil && (rank < 0 || w.targets[rank].Load() != q.t) {
		q.end(class.Errorf(class.Rank, "the process that has the synchronisation object has left the window"))
		return
	}
	if q.mode == 0 && !q.self {
		q.end(q.signal())
	}
}

// WaitStarted implements p2p.WaitObserver.
func (q *opsRequest) WaitStarted() {
	if q.mode == 0 {
		q.end(q.signal())
		return
	}
	e := q.v.w.e
	q.close()
	switch i := slices.Index(e.looking, q); {
	case q.look():
		if i >= 0 {
			e.forgetLooking(i)
		}
	case i < 0:
		q.attended = true
		e.looking = append(e.looking, q)
		if len(e.looking) == 1 {
			e.p.Later(1) // operations under way make pollers look at it
		}
	}
}

// close adds everything that was issued until now to the set.
func (q *opsRequest) close() {
	e := q.v.w.e
	q.deferred = false
	for _, o := range q.t.deferred {
		if o != nil && covers(q.mode, o) && q.has(o.Number()) {
			q.deferred = true
		}
	}
	for c := range q.t.Channels {
		number := c.Number()
		for len(q.marks) <= int(number) {
			q.marks = append(q.marks, 0)
		}
		if q.has(number) {
			e.link.Release(c)
			q.marks[number] = c.Issued()
		}
	}
}

// has reports whether operations of the channel of a number are in the set.
func (q *opsRequest) has(number uint16) bool { return q.v.number == 0 || number == q.v.number }

// look ends the request if the set is complete, and reports whether it did.
func (q *opsRequest) look() bool {
	w, t := q.v.w, q.t
	if cause := w.e.p.DownCause(int(t.Process)); cause != nil {
		q.end(link.Gone(t.Rank, cause))
		return true
	}
	if err := w.live(); err != nil {
		q.end(err)
		return true
	}
	if q.deferred {
		if len(t.deferred) > 0 {
			return false
		}
		q.close()
	}
	for c := range t.Channels {
		number := c.Number()
		if int(number) >= len(q.marks) || !q.has(number) {
			continue // of a view that is newer than the set
		}
		for o := range c.UnderWay(q.marks[number]) {
			if covers(q.mode, o) {
				return false
			}
		}
	}
	err := q.signal()
	for c := range t.Channels { // errors of operations without a request are reported here, as by a flush
		if q.has(c.Number()) {
			err = firstOf(err, c.TakeFault())
		}
	}
	q.end(err)
	return true
}

// signal signals the object. With mode 0 it overtakes what is under way.
func (q *opsRequest) signal() error {
	w, t := q.v.w, q.t
	if err := w.live(); err != nil {
		return err
	}
	e := w.e
	if cause := e.p.DownCause(int(t.Process)); cause != nil {
		return link.Gone(t.Rank, cause)
	}
	quiet := q.mode == 0
	if !quiet && (!t.rec.Framed.Load() || t.Quiet()) {
		quiet = true
	}
	if quiet && t.count(q.counter, true) {
		return nil
	}
	if q.mode == 0 {
		e.hdr = wire.Header{Kind: wire.WinNotify, Ctx: w.id}
		e.hdr.SetCounter(q.counter)
		e.p.Queue(int(t.Process), &e.hdr, nil, nil)
		return nil
	}
	e.dispatch(t, q.v.operation(t, &operation.Op{Kind: link.Signal, Notify: operation.Notice(q.counter)}, 0))
	return nil
}

// end completes the request.
func (q *opsRequest) end(err error) { q.v.w.e.messages.Finish(q.request, err) }

// WaitFinished implements p2p.WaitObserver.
func (q *opsRequest) WaitFinished(err error) (failed error, again bool) {
	q.self = q.restart && (err == nil || classOf(err) == class.RMARange)
	return err, q.self
}

// Restartable implements p2p.WaitObserver: a notification alone has no end to report.
func (q *opsRequest) Restartable() bool { return q.mode == 0 && !q.restart }

// Abandoned implements p2p.WaitObserver. A request that was started signals once; one that has
// begun again by itself, and was not looked at, never.
func (q *opsRequest) Abandoned() {
	switch {
	case q.request.Done():
	case q.self && !q.attended:
		q.end(nil)
	default:
		q.WaitStarted()
	}
}

// workSyncs checks requests whose set is closed.
func (e *Engine) workSyncs() int {
	n := 0
	for i := 0; i < len(e.looking); i++ {
		if e.looking[i].look() {
			e.forgetLooking(i)
			n++
			i--
		}
	}
	return n
}

// forgetLooking removes a request from the list.
func (e *Engine) forgetLooking(i int) {
	e.looking = slices.Delete(e.looking, i, i+1)
	if len(e.looking) == 0 {
		e.p.Later(-1)
	}
}
