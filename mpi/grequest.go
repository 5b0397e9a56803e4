package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Grequest has the functions of a generalized request: an operation of the program, such as one
// on a file or a device, for which the program waits and tests together with those of MPI. Any
// of the functions may be nil.
//
// Query sets the status of a complete operation, with SetElements, SetCancelled, Source and Tag;
// its field Err is ignored. Query is called for each call that completes the request or gets its
// status; GetStatus may do so several times. Free is called once, when the request is no longer
// needed: by the call that completes it, after Query, or by Request.Free or Complete, whichever
// comes last. Request.Cancel calls Cancel and tells it whether the operation is complete. The
// goroutine that makes the call runs the functions, without holding any lock. The call returns
// an error of these functions; an error of Free takes precedence over one of Query.
//
// C: MPI_Grequest_query_function, MPI_Grequest_free_function and MPI_Grequest_cancel_function, section 13.2.
type Grequest struct {
	Query  func(st *Status) error
	Free   func() error
	Cancel func(complete bool) error
}

// StartGrequest starts a generalized request, which Complete completes. c may be any
// communicator of the process. The program may wait for the request and test it like any other,
// and together with others.
//
// C: MPI_Grequest_start, section 13.2.
func (c *Comm) StartGrequest(g Grequest) Request {
	if err := c.usable(call.GrequestStart); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	r := e.NewRequest(c.core, call.GeneralizedRequest)
	e.SetStarter(r, &grequest{Grequest: g})
	return watched(newRequest(call.GrequestStart, c, r))
}

// Complete completes the operation of a generalized request, so that calls which wait for it, by
// this copy or another, return. Any goroutine may call it, once for each request. ErrRequest for
// requests of other kinds, and for a request that is already complete.
//
// C: MPI_Grequest_complete, section 13.2.
func (q Request) Complete() error {
	const by = call.GrequestComplete
	c := q.c
	e, err := q.begin(by)
	if e == nil {
		if err == nil {
			err = newError(ErrRequest, by, nil, "request is null")
		}
		return raise(err)
	}
	why := ""
	switch {
	case q.call() != call.GrequestStart:
		why = "request of " + q.call().String() + " is no generalized one"
	case q.r.Done():
		why = "the operation has been completed before"
	}
	if why != "" {
		e.Proc().Unlock()
		return fail(ErrRequest, by, c, "%s", why)
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

// grequest is a generalized request. The program begins its operation; Begin is never called.
type grequest struct {
	Grequest
	freed bool // Request.Free was called, so that Complete calls Free; guarded by the engine's lock
}

// Begin implements p2p.Starter.
func (*grequest) Begin() {}

// grequest returns the generalized request of q.
func (q *Request) grequest() *grequest { return q.r.Starter().(*grequest) }

// takeGrequest is take for generalized requests. It releases the lock while it runs callbacks;
// the request belongs to this call alone by then.
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
	*st = own
	if err != nil {
		st.Err = err
	}
	return err
}

// queryGrequest sets the status and does not complete the request.
func (q *Request) queryGrequest(e *p2p.Engine, st *Status) *Error {
	g := q.grequest()
	e.Proc().Unlock()
	own, err := g.query(q.c)
	e.Proc().Lock()
	*st = own
	return err
}

// cancelGrequest is Cancel for generalized requests. It releases the lock.
func (q *Request) cancelGrequest(e *p2p.Engine) error {
	g, done := q.grequest(), q.r.Done()
	e.Proc().Unlock()
	if g.Cancel == nil {
		return nil
	}
	return raise(grequestError(g.Cancel(done), q.c, "cancel"))
}

// freeGrequest is Request.Free for generalized requests. It releases the lock.
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

// query calls Query with a status of its own. A caller's status that is passed to a function of
// the program would escape to the heap, for all kinds of requests. The caller has to raise the
// error, and also those of the next two functions.
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

// grequestError is the error of a call in which a function of the program has failed.
func grequestError(err error, c *Comm, which string) *Error {
	if err == nil {
		return nil
	}
	e := newError(codeOf(err), call.GrequestStart, c, "%s function of a generalized request: %v", which, err)
	e.cause = err
	return e
}
