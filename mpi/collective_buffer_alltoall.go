package mpi

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Alltoall sends the r-th of c.Size() equal blocks of elements of send to rank r, whose
// block becomes the r-th of recv: recv is at least as large as send, and a block is a
// whole number of its elements. In place: both are the same.
//
// C: MPI_Alltoall, section 6.8.
func (c *Comm) Alltoall(send, recv Buffer) error {
	return c.doBuffers(coll.Alltoall, &coll.Args{}, &send, &recv)
}

// Ialltoall starts an Alltoall.
//
// C: MPI_Ialltoall, section 6.12.6.
func (c *Comm) Ialltoall(send, recv Buffer) Request {
	return c.requestBuffers(coll.Alltoall, nonblocking, &coll.Args{}, &send, &recv)
}

// AlltoallInit prepares an Alltoall that can be started many times.
//
// C: MPI_Alltoall_init, section 6.13.6.
func (c *Comm) AlltoallInit(send, recv Buffer) Request {
	return c.requestBuffers(coll.Alltoall, persistent, &coll.Args{}, &send, &recv)
}

// Alltoallv sends sendCounts[r] elements of send, from element sendDispls[r] on, to rank
// r, and what rank r sends becomes recvCounts[r] elements of recv, from recvDispls[r]
// on. With nil displacements the blocks stand one behind the other. In place: both are
// of one type and begin at the same place.
//
// A nonblocking or persistent one reads counts and displacements until it has ended.
//
// C: MPI_Alltoallv, section 6.8.
func (c *Comm) Alltoallv(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) error {
	return c.doBuffers(coll.Alltoallv, &coll.Args{SendCounts: sendCounts, SendDispls: sendDispls, RecvCounts: recvCounts, RecvDispls: recvDispls}, &send, &recv)
}

// Ialltoallv starts an Alltoallv.
//
// C: MPI_Ialltoallv, section 6.12.6.
func (c *Comm) Ialltoallv(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) Request {
	return c.requestBuffers(coll.Alltoallv, nonblocking, &coll.Args{SendCounts: sendCounts, SendDispls: sendDispls, RecvCounts: recvCounts, RecvDispls: recvDispls}, &send, &recv)
}

// AlltoallvInit prepares an Alltoallv that can be started many times.
//
// C: MPI_Alltoallv_init, section 6.13.6.
func (c *Comm) AlltoallvInit(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) Request {
	return c.requestBuffers(coll.Alltoallv, persistent, &coll.Args{SendCounts: sendCounts, SendDispls: sendDispls, RecvCounts: recvCounts, RecvDispls: recvDispls}, &send, &recv)
}

// Alltoallw sends send[r] to rank r and receives from it into recv[r], which are of any
// types and sizes; what the one sends and the other receives is of the same size in
// bytes, and may be empty. In place: every send[r] is recv[r].
//
// C: MPI_Alltoallw, section 6.8.
func (c *Comm) Alltoallw(send, recv []Buffer) error {
	if err := c.usable(collectiveCall(coll.Alltoallw, blocking)); err != nil {
		return err
	}
	if err := c.checkPairs(send, recv); err != nil {
		return c.done(coll.Alltoallw, c.w.Coll.Refuse(c.core, coll.Alltoallw, err))
	}
	return c.done(coll.Alltoallw, c.w.Coll.DoPairs(c.core, func(r int) (from, to coll.Side) { return send[r].side(), recv[r].side() }))
}

// Ialltoallw starts an Alltoallw. The slices, not the data, may be used again at once.
//
// C: MPI_Ialltoallw, section 6.12.6.
func (c *Comm) Ialltoallw(send, recv []Buffer) Request {
	return c.requestPairs(nonblocking, send, recv)
}

// AlltoallwInit prepares an Alltoallw that can be started many times. The slices, not
// the data, may be used again at once.
//
// C: MPI_Alltoallw_init, section 6.13.6.
func (c *Comm) AlltoallwInit(send, recv []Buffer) Request {
	return c.requestPairs(persistent, send, recv)
}

func (c *Comm) requestPairs(f form, send, recv []Buffer) Request {
	name := collectiveCall(coll.Alltoallw, f)
	if err := c.usable(name); err != nil {
		return Request{err: err}
	}
	if err := c.checkPairs(send, recv); err != nil {
		return c.refuse(coll.Alltoallw, f, err)
	}
	return c.launch(name, func(e *coll.Engine) (*p2p.Request, error) {
		pair := func(r int) (from, to coll.Side) { return send[r].side(), recv[r].side() }
		if f == persistent {
			return e.InitPairs(c.core, pair)
		}
		return e.StartPairs(c.core, pair)
	})
}

// checkPairs checks that there is a Buffer from and to every member, and that none was
// made wrongly.
func (c *Comm) checkPairs(send, recv []Buffer) error {
	if n := c.peers(); len(send) != n || len(recv) != n {
		return &class.Error{Class: class.Count, Text: fmt.Sprintf("%d send and %d receive buffers for %d members", len(send), len(recv), n)}
	}
	for r := range send {
		if err := wrongBuffer(&send[r], &recv[r]); err != nil {
			return err
		}
	}
	return nil
}
