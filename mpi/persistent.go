package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// SendInit prepares a send that can be started many times: the request is
// inactive until Start, and again once it has been waited for.
//
// C: MPI_Send_init, section 3.9.
func SendInit[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return sendInit(callSendInit, p2p.Standard, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// SsendInit is SendInit in synchronous mode.
//
// C: MPI_Ssend_init, section 3.9.
func SsendInit[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return sendInit(callSsendInit, p2p.Synchronous, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// BsendInit is SendInit in buffered mode.
//
// C: MPI_Bsend_init, section 3.9.
func BsendInit[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return sendInit(callBsendInit, p2p.Buffered, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// RsendInit is SendInit in ready mode.
//
// C: MPI_Rsend_init, section 3.9.
func RsendInit[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return sendInit(callRsendInit, p2p.Standard, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// RecvInit prepares a receive that can be started many times.
//
// C: MPI_Recv_init, section 3.9.
func RecvInit[T Elem](c *Comm, buf []T, source, tag int) Request {
	return recvInit(c, memOf(buf), typed(c, buf), elementCode[T](), source, tag)
}

func recvInit(c *Comm, m mem.Mem, of *dtype.Buffer, code dtype.Code, source, tag int) Request {
	if err := c.check(callRecvInit, source, tag, true); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	v := c.envelope(p2p.Standard, of, code, source, engineTag(tag))
	r := e.RecvInit(&v, m)
	r.Persistent = true
	return watched(newRequest(callRecvInit, c, r))
}

func sendInit(k call, mode p2p.Mode, c *Comm, m mem.Mem, of *dtype.Buffer, code dtype.Code, dest, tag int) Request {
	if err := c.check(k, dest, tag, false); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	v := c.envelope(mode, of, code, dest, int32(tag))
	r := e.SendInit(&v, m)
	r.Persistent = true
	return watched(newRequest(k, c, r))
}

// Start starts a persistent request that is inactive.
//
// C: MPI_Start, section 3.9.
func (q *Request) Start() error {
	e, err := q.begin("Start")
	if e == nil {
		if err == nil {
			err = newError(ErrRequest, "Start", nil, "request is null")
		}
		return raise(err)
	}
	class, why := Success, ""
	switch {
	case !q.r.Persistent:
		class, why = ErrRequest, "request of "+q.call().String()+" is not persistent"
	case !q.r.Startable():
		class, why = ErrRequest, "request of "+q.call().String()+" is active: wait for it first"
	case q.c.w.Closed():
		class, why = ErrOther, "called after Finalize"
	default:
		e.Start(q.r)
	}
	e.Proc().Unlock()
	if class != Success {
		return fail(class, "Start", q.c, "%s", why)
	}
	return nil
}

// Startall starts all of rs, in order, up to the first that cannot be started.
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
