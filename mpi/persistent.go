package mpi

import "github.com/halo-mpi/halo/internal/call"

// SendInit makes a request for a send that can be started many times. The request is inactive
// until Start, and again after the program has waited for it.
//
// C: MPI_Send_init, section 3.9.
func SendInit[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.SendInit, m, e, dest, tag)
}

// SsendInit is SendInit in synchronous mode.
//
// C: MPI_Ssend_init, section 3.9.
func SsendInit[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.SsendInit, m, e, dest, tag)
}

// BsendInit is SendInit in buffered mode.
//
// C: MPI_Bsend_init, section 3.9.
func BsendInit[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.BsendInit, m, e, dest, tag)
}

// RsendInit is SendInit in ready mode.
//
// C: MPI_Rsend_init, section 3.9.
func RsendInit[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.RsendInit, m, e, dest, tag)
}

// RecvInit makes a request for a receive that can be started many times.
//
// C: MPI_Recv_init, section 3.9.
func RecvInit[T any](c *Comm, buf []T, source, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.RecvInit, m, e, source, tag)
}

// Start starts a persistent request that is inactive.
//
// C: MPI_Start, section 3.9.
func (q *Request) Start() error {
	e, err := q.begin(call.Start)
	if e == nil {
		if err == nil {
			err = newError(ErrRequest, call.Start, nil, "request is null")
		}
		return raise(err)
	}
	class, why := Success, ""
	switch {
	case !q.r.Persistent:
		class, why = ErrRequest, "request of "+q.call().String()+" is not persistent"
	case !q.r.Startable():
		class, why = ErrRequest, "request of "+q.call().String()+" is active: wait for it first"
	case q.c.ended():
		class, why = ErrOther, "called after Finalize"
	default:
		e.Start(q.r)
	}
	e.Proc().Unlock()
	if class != Success {
		return fail(class, call.Start, q.c, "%s", why)
	}
	return nil
}

// Startall starts all of rs in order. It stops at the first that cannot be started and returns
// the error.
//
// C: MPI_Startall, section 3.9.
func Startall(rs []Request) error {
	for i := range rs {
		if err := rs[i].Start(); err != nil {
			return err
		}
	}
	return nil
}
