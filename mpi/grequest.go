package mpi

import "github.com/halo-mpi/halo/internal/p2p"

// Grequest is what a generalized request calls: an operation of the program, such as one
// on a file or a device, that is waited for, and tested, together with those of MPI. Any of
// the functions may be nil.
//
// Query fills in the status of an operation that is complete, by SetElements,
// SetCancelled, Source and Tag, for whoever waits or tests, and for GetStatus, which may be
// several times; the field Err has no meaning. Free is called once, when the request is
// gone: after Query by the call that has completed it, or by Request.Free or Complete,
// whichever comes last. Cancel is what Request.Cancel calls, with whether the operation is
// complete. They are called by the goroutine whose call is the reason, without any lock. An
// error of theirs is that of the call, one of Free before one of Query.
//
// C: MPI_Grequest_query_function, MPI_Grequest_free_function and MPI_Grequest_cancel_function, section 13.2.
type Grequest struct {
	Query  func(st *Status) error
	Free   func() error
	Cancel func(complete bool) error
}

// StartGrequest starts a generalized request, which Complete completes. Any communicator
// of the process will do. The request may be waited for and tested as any other, and
// among others.
//
// C: MPI_Grequest_start, section 13.2.
func (c *Comm) StartGrequest(g Grequest) Request {
	if err := c.usable(callStartGrequest); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	r := e.NewRequest(c.core, "generalized request")
	e.SetStarter(r, &grequest{Grequest: g})
	return watched(newRequest(callStartGrequest, c, r))
}

// Complete says that the operation of a generalized request is complete: who waits for it,
// through this copy or another, goes on. Once for each request, by any goroutine. Other
// requests, and completing one again, are ErrRequest.
//
// C: MPI_Grequest_complete, section 13.2.
func (q Request) Complete() error {
	const what = "Complete"
	c := q.c
	e, err := q.begin(what)
	if e == nil {
		if err == nil {
			err = newError(ErrRequest, what, nil, "request is null")
		}
		return raise(err)
	}
	why := ""
	switch {
	case q.call() != callStartGrequest:
		why = "request of " + q.call().String() + " is no generalized one"
	case q.r.Done():
		why = "the operation has been completed before"
	}
	if why != "" {
		e.Proc().Unlock()
		return fail(ErrRequest, what, c, "%s", why)
	}
	g := q.grequest()
	freed := g.freed
	e.Finish(q.r, nil)
	e.Proc().Unlock()
	if freed {
		return raise(g.free(c))
	}
	return nil
}

// grequest is a generalized request. It begins by itself: Begin is never called.
type grequest struct {
	Grequest
	freed bool // nobody waits: Complete calls Free; guarded by the engine's lock
}

// Begin implements p2p.Starter.
func (*grequest) Begin() {}

// grequest is the generalized request that q is of.
func (q *Request) grequest() *grequest { return q.r.Starter().(*grequest) }

// takeGrequest is take. The lock is let go meanwhile: the request is nobody else's by then.
func (q *Request) takeGrequest(e *p2p.Engine, st *Status) *Error {
	g, c := q.grequest(), q.c
	e.Take(q.r)
	*q = Request{}
	e.Proc().Unlock()
	own, err := g.query(c)
	if last := g.free(c); last != nil {
		err = last
	}
	e.Proc().Lock()
	if *st = own; err != nil {
		st.Err = err
	}
	return err
}

// queryGrequest fills in the status and leaves the request.
func (q *Request) queryGrequest(e *p2p.Engine, st *Status) *Error {
	g := q.grequest()
	e.Proc().Unlock()
	own, err := g.query(q.c)
	e.Proc().Lock()
	*st = own
	return err
}

// cancelGrequest is Cancel. It lets the lock go.
func (q *Request) cancelGrequest(e *p2p.Engine) error {
	g, done := q.grequest(), q.r.Done()
	e.Proc().Unlock()
	if g.Cancel == nil {
		return nil
	}
	return raise(grequestError(g.Cancel(done), q.c, "cancel"))
}

// freeGrequest is Request.Free. It lets the lock go.
func (q *Request) freeGrequest(e *p2p.Engine) error {
	g, c, done := q.grequest(), q.c, q.r.Done()
	g.freed = true
	e.Release(q.r)
	e.Proc().Unlock()
	*q = Request{}
	if done {
		return raise(g.free(c))
	}
	return nil
}

// query calls Query, on a status of its own: one that is passed on to a function of the
// program would be moved to the heap, for all kinds of requests. The error is still to be
// raised, as are those of the next two.
func (g *grequest) query(c *Comm) (Status, *Error) {
	st := emptyStatus()
	if g.Query == nil {
		return st, nil
	}
	err := grequestError(g.Query(&st), c, "query")
	st.Err = nil
	return st, err
}

// free calls Free.
func (g *grequest) free(c *Comm) *Error {
	if g.Free == nil {
		return nil
	}
	return grequestError(g.Free(), c, "free")
}

// grequestError is the error of a call one of whose functions has failed.
func grequestError(err error, c *Comm, which string) *Error {
	if err == nil {
		return nil
	}
	e := newError(codeOf(err), callStartGrequest.String(), c, "%s function of a generalized request: %v", which, err)
	e.cause = err
	return e
}
