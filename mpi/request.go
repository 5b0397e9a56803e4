package mpi

import (
	"context"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
)

// Request is an operation that has been started, or a persistent request, which can be started.
// The zero Request is the null request: waiting for it does nothing.
//
// Request is a small value. Completing it by one copy makes the other copies stale; using a
// stale copy is ErrRequest. Methods that complete a request set it to null, except persistent
// ones.
//
// C: MPI_Request, section 3.7.1.
type Request struct {
	r   *p2p.Request
	c   *Comm
	err *Error // the error of the arguments; then r is nil
	// made is the generation of r, shifted left by callBits, the call that started the operation, and
	// madeReusable. They share a field since a struct of four words, but not of five, is passed in
	// registers.
	made uint64
}

const (
	callBits     = 16
	madeReusable = 1 << 63 // r is reusable: see retire
)

func newRequest(k call.Number, c *Comm, r *p2p.Request) Request {
	return Request{r: r, c: c, made: uint64(r.Gen.Load())<<callBits | uint64(k)}
}

// watched records a request that is about to be returned to the program; in checking mode
// Finalize reports it if the program never waits for it. It is separate from newRequest so that
// both inline.
func watched(q Request) Request {
	if q.c.self.left != nil {
		q.note()
	}
	return q
}

// call is the call that started the operation.
func (q *Request) call() call.Number { return call.Number(q.made & (1<<callBits - 1)) }

// gen is the generation of the request.
func (q *Request) gen() uint32 { return uint32(q.made >> callBits) }

// stale reports whether the operation was completed by another copy.
func (q *Request) stale() bool { return q.r.Gen.Load() != q.gen() }

// errStale is the error of a call on a stale request.
func (q *Request) errStale(by call.Number) *Error {
	return newError(ErrRequest, by, q.c, "request of %v is stale: it was completed or freed through another copy", q.call())
}

// reusable reports whether the operation was complete when its call returned, with a request that
// is completed without the lock, by retire.
func (q *Request) reusable() bool { return q.made&madeReusable != 0 }

// retire completes a reusable request, with or without the lock. The caller has to raise the error.
func (q *Request) retire(by call.Number) *Error {
	if !q.r.Retire(q.gen()) {
		return q.errStale(by)
	}
	*q = Request{}
	return nil
}

// IsNull reports whether q is the null request.
//
// C: MPI_REQUEST_NULL, section 3.7.3.
func (q Request) IsNull() bool { return q.r == nil && q.err == nil }

// Err is the error of the arguments of the call that should have started the operation, or nil
// if the operation was started. Calls that wait for the request return the error, too.
//
// C: none; what MPI_Isend and so on return, section 3.7.2.
func (q Request) Err() error {
	if q.err == nil {
		return nil
	}
	return q.err
}

// begin takes the engine's lock and checks that the request is not stale. If e is nil there is
// nothing to wait for, and the lock is not held. The caller has to raise the error.
func (q *Request) begin(by call.Number) (e *p2p.Engine, err *Error) {
	if q.err != nil {
		err = q.err
		*q = Request{}
		return nil, err
	}
	if q.r == nil {
		return nil, nil
	}
	e = q.c.w.P2P
	e.Proc().Lock()
	if q.stale() {
		e.Proc().Unlock()
		return nil, q.errStale(by)
	}
	return e, nil
}

// end takes the status of a complete request and releases the lock.
func (q *Request) end(e *p2p.Engine, st *Status) error {
	err := q.take(e, st)
	e.Proc().Unlock()
	return raise(err)
}

// take completes the request, whose operation is complete or inactive, under the lock. The
// caller has to raise the error.
func (q *Request) take(e *p2p.Engine, st *Status) *Error {
	r := q.r
	if q.stale() { // the call has completed another copy
		*st = emptyStatus()
		return q.errStale(q.call())
	}
	if e.Guards() {
		e.Land(r)
	}
	if q.call().Is(call.Once) && r.Status.Err == nil { // what follows does the same, and costs twice as much
		st.set(&r.Status)
		e.Free(r)
		*q = Request{}
		return nil
	}
	if q.reusable() {
		*st = emptyStatus()
		return q.retire(q.call())
	}
	if !r.Active {
		*st = emptyStatus()
		return nil
	}
	if q.call() == call.GrequestStart {
		return q.takeGrequest(e, st)
	}
	e.End(r)
	err := q.status(st)
	if q.call().Is(call.Window) {
		err = q.checkWaited(err)
	}
	e.Take(r)
	if !r.Persistent {
		*q = Request{}
	}
	return err
}

// status sets st to the status of the operation, which is complete, and returns its error, if
// any, as a described one.
func (q *Request) status(st *Status) *Error {
	st.set(&q.r.Status)
	if q.r.Status.Err == nil {
		return nil
	}
	peer, tag := Undefined, Undefined
	if q.call().Is(call.Message) {
		rank, t := q.r.Arguments()
		peer, tag = rank, publicTag(t)
	}
	err := describe(q.r.Status.Err, q.call(), q.c, peer, tag)
	st.Err = err
	return err
}

// Wait waits until the operation is complete and returns its status. It also returns the error
// of invalid arguments of the call that should have started the operation.
//
// C: MPI_Wait, section 3.7.3.
func (q *Request) Wait() (st Status, failed error) {
	if q.reusable() {
		return emptyStatus(), raise(q.retire(call.Wait))
	}
	e, err := q.begin(call.Wait)
	if e == nil {
		return emptyStatus(), raise(err)
	}
	e.Wait(q.r)
	failed = q.end(e, &st)
	return st, failed
}

// Test is Wait that does not wait; done is false if the operation is not complete yet. It makes
// progress.
//
// C: MPI_Test, section 3.7.3.
func (q *Request) Test() (st Status, done bool, failed error) {
	e, err := q.begin(call.Test)
	if e == nil {
		return emptyStatus(), true, raise(err)
	}
	if !e.Test(q.r) {
		e.Proc().Unlock()
		return emptyStatus(), false, nil
	}
	failed = q.end(e, &st)
	return st, true, failed
}

// GetStatus is Test that does not complete the request.
//
// C: MPI_Request_get_status, section 3.7.6.
func (q *Request) GetStatus() (Status, bool, error) {
	st, done, err := q.peek(call.RequestGetStatus, true)
	return st, done, raise(err)
}

// peek tests a request for a call without completing it. wanted says whether the caller
// needs the status. The caller has to raise the error.
func (q *Request) peek(by call.Number, wanted bool) (Status, bool, *Error) {
	if q.err != nil {
		return emptyStatus(), true, q.err
	}
	e, err := q.begin(by)
	if e == nil {
		return emptyStatus(), true, err
	}
	defer e.Proc().Unlock()
	if !e.Test(q.r) {
		return emptyStatus(), false, nil
	}
	if wanted {
		q.r.Told = q.gen()
		e.Land(q.r)
	}
	q.checkLooked()
	if !q.r.Active || !wanted {
		return emptyStatus(), true, nil
	}
	var st Status
	if q.call() == call.GrequestStart {
		err = q.queryGrequest(e, &st)
		return st, true, err
	}
	err = q.status(&st)
	return st, true, err
}

// WaitContext is Wait that returns early, with the context's error, when ctx is done. The
// operation continues, and the program can wait for it again.
//
// C: MPI_Wait, section 3.7.3.
func (q *Request) WaitContext(ctx context.Context) (st Status, failed error) {
	e, err := q.begin(call.WaitContext)
	if e == nil {
		return emptyStatus(), raise(err)
	}
	e.NotifyWait(q.r)
	if q.r.Active && !q.r.Done() {
		g := proc.Event{About: q.r}
		stop := context.AfterFunc(ctx, func() {
			e.Proc().Lock()
			g.Fire()
			e.Proc().Unlock()
		})
		q.r.Also(&g)
		e.Proc().Wait(&g, -1)
		stop()
		q.r.Also(nil)
		if !q.r.Done() {
			e.Proc().Unlock()
			return emptyStatus(), context.Cause(ctx)
		}
	}
	failed = q.end(e, &st)
	return st, failed
}

// Cancel cancels a send or receive that has not been matched yet. The program must still wait
// for the request, which then completes without any action of other ranks; the status tells
// whether the operation was cancelled. ErrRequest for collective, partitioned and one-sided operations,
// except requests that wait for notifications (IwaitNotify), which then consume none.
//
// A send may be cancelled even if it was complete, as long as no receive has matched the
// message. Cancelling sends is deprecated.
//
// C: MPI_Cancel, section 3.8.4.
func (q *Request) Cancel() error {
	e, err := q.begin(call.Cancel)
	if e == nil {
		if err == nil {
			err = newError(ErrRequest, call.Cancel, nil, "request is null")
		}
		return raise(err)
	}
	if q.call() == call.GrequestStart {
		return q.cancelGrequest(e)
	}
	k, active := q.call(), q.r.Active
	oneSided, collective, inParts := k.Is(call.Window), k.Is(call.Collective), partitioned(k)
	switch {
	case awaits(k):
		oneSided = false
		q.c.w.RMA.CancelAwait(q.r)
	case active && !oneSided && !collective && !inParts:
		e.Cancel(q.r)
	}
	e.Proc().Unlock()
	switch {
	case collective:
		return fail(ErrRequest, call.Cancel, q.c, "%v cannot be cancelled: it is collective, and other members wait for it", k)
	case oneSided:
		return fail(ErrRequest, call.Cancel, q.c, "%v cannot be cancelled: it may have reached the target", k)
	case !active:
		return fail(ErrRequest, call.Cancel, q.c, "request of %v is inactive", k)
	case inParts:
		return fail(ErrRequest, call.Cancel, q.c, "%v cannot be cancelled: partitions of it may have been moved", k)
	}
	return nil
}

// Free frees the request. A pending operation completes, but the program cannot find out when.
// ErrRequest for active partitioned operations, and for active collectives and operations of windows
// unless GetStatus has reported that they are complete. Requests of SyncOpsInit, which still signals,
// and of SyncObjectInit can always be freed.
//
// C: MPI_Request_free, section 3.7.3.
func (q *Request) Free() error {
	e, err := q.begin(call.RequestFree)
	if e == nil {
		if err == nil {
			err = newError(ErrRequest, call.RequestFree, nil, "request is null")
		}
		return raise(err)
	}
	if q.call() == call.GrequestStart {
		return q.freeGrequest(e)
	}
	if k := q.call(); q.r.Active && (partitioned(k) || q.r.Told != q.gen() && k.Is(call.Collective|call.Window) && !attended(k)) {
		e.Proc().Unlock()
		return fail(ErrRequest, call.RequestFree, q.c, "%v is active: wait for it first", q.call())
	}
	switch {
	case partitioned(q.call()):
		q.freePartitioned()
	case q.reusable():
		err = q.retire(call.RequestFree)
	default:
		e.Release(q.r)
	}
	e.Proc().Unlock()
	if err != nil {
		return raise(err)
	}
	*q = Request{}
	return nil
}
