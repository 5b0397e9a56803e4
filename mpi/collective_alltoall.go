package mpi

import (
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Alltoall divides send and recv into c.Size() blocks of equal length. It sends block r of send
// to rank r, and receives the block that rank r sends to the caller into block r of recv. recv
// is at least as long as send. In place: send and recv are the same slice.
//
// C: MPI_Alltoall, section 6.8.
func Alltoall[T any](c *Comm, send, recv []T) error {
	return exchange(c, coll.Alltoall, send, recv)
}

// Ialltoall starts an Alltoall.
//
// C: MPI_Ialltoall, section 6.12.6.
func Ialltoall[T any](c *Comm, send, recv []T) Request {
	return c.start(coll.Alltoall, sliceArgs(send, recv))
}

// AlltoallInit prepares an Alltoall that can be started many times.
//
// C: MPI_Alltoall_init, section 6.13.6.
func AlltoallInit[T any](c *Comm, send, recv []T) Request {
	return c.prepare(coll.Alltoall, sliceArgs(send, recv))
}

// Alltoallv sends send[sendDispls[r]:sendDispls[r]+sendCounts[r]] to rank r, and receives what
// rank r sends into recv[recvDispls[r]:recvDispls[r]+recvCounts[r]]. With nil displacements the
// blocks are adjacent, in rank order. In place: send and recv begin at the same element.
//
// The nonblocking and persistent forms read counts and displacements until the operation has
// ended.
//
// C: MPI_Alltoallv, section 6.8.
func Alltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) error {
	return c.do(coll.Alltoallv, sliceArgs(send, recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// Ialltoallv starts an Alltoallv.
//
// C: MPI_Ialltoallv, section 6.12.6.
func Ialltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) Request {
	return c.start(coll.Alltoallv, sliceArgs(send, recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// AlltoallvInit prepares an Alltoallv that can be started many times.
//
// C: MPI_Alltoallv_init, section 6.13.6.
func AlltoallvInit[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) Request {
	return c.prepare(coll.Alltoallv, sliceArgs(send, recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// Alltoall divides send into c.Size() blocks of equal size. It sends block r of send to rank r,
// and receives the block that rank r sends to the caller as block r of recv. recv is at least as
// large as send, and the size of a block is a whole number of elements of recv. In place: send
// and recv are the same.
//
// C: MPI_Alltoall, section 6.8.
func (c *Comm) Alltoall(send, recv Buffer) error {
	return c.do(coll.Alltoall, bufferArgs(&send, &recv))
}

// Ialltoall starts an Alltoall.
//
// C: MPI_Ialltoall, section 6.12.6.
func (c *Comm) Ialltoall(send, recv Buffer) Request {
	return c.start(coll.Alltoall, bufferArgs(&send, &recv))
}

// AlltoallInit prepares an Alltoall that can be started many times.
//
// C: MPI_Alltoall_init, section 6.13.6.
func (c *Comm) AlltoallInit(send, recv Buffer) Request {
	return c.prepare(coll.Alltoall, bufferArgs(&send, &recv))
}

// Alltoallv sends sendCounts[r] elements of send, starting at element sendDispls[r], to rank r,
// and receives what rank r sends as recvCounts[r] elements of recv, starting at element
// recvDispls[r]. With nil displacements the blocks are adjacent, in rank order. In place: both
// Buffers have the same type and begin at the same address.
//
// The nonblocking and persistent forms read counts and displacements until the operation has
// ended.
//
// C: MPI_Alltoallv, section 6.8.
func (c *Comm) Alltoallv(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) error {
	return c.do(coll.Alltoallv, bufferArgs(&send, &recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// Ialltoallv starts an Alltoallv.
//
// C: MPI_Ialltoallv, section 6.12.6.
func (c *Comm) Ialltoallv(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) Request {
	return c.start(coll.Alltoallv, bufferArgs(&send, &recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// AlltoallvInit prepares an Alltoallv that can be started many times.
//
// C: MPI_Alltoallv_init, section 6.13.6.
func (c *Comm) AlltoallvInit(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) Request {
	return c.prepare(coll.Alltoallv, bufferArgs(&send, &recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// Alltoallw sends send[r] to rank r and receives from rank r into recv[r]. The Buffers may have
// any types and sizes. What one member sends has the same size in bytes as what the other
// receives, and may be empty. In place: every send[r] is recv[r].
//
// C: MPI_Alltoallw, section 6.8.
func (c *Comm) Alltoallw(send, recv []Buffer) error { return c.doPairs(coll.Alltoallw, send, recv) }

// Ialltoallw starts an Alltoallw. The caller may change the slices send and recv, but not the
// data of their Buffers, as soon as the call returns.
//
// C: MPI_Ialltoallw, section 6.12.6.
func (c *Comm) Ialltoallw(send, recv []Buffer) Request {
	return c.requestPairs(coll.Alltoallw, nonblocking, send, recv)
}

// AlltoallwInit prepares an Alltoallw that can be started many times. The caller may change the
// slices send and recv as soon as the call returns. The Buffers' data belongs to the operation
// while it is active.
//
// C: MPI_Alltoallw_init, section 6.13.6.
func (c *Comm) AlltoallwInit(send, recv []Buffer) Request {
	return c.requestPairs(coll.Alltoallw, persistent, send, recv)
}

// doPairs carries out an Alltoallw or NeighborAlltoallw.
func (c *Comm) doPairs(k coll.Kind, send, recv []Buffer) error {
	if err := c.usable(k.Number()); err != nil {
		return err
	}
	return c.done(k, c.w.Coll.DoPairs(c.core, k, coll.Pairs{Sends: len(send), Receives: len(recv),
		At: func(r int) (from, to coll.Side) { return sideOf(send, r), sideOf(recv, r) }}))
}

// requestPairs is doPairs for the forms that do not block.
func (c *Comm) requestPairs(k coll.Kind, f coll.Form, send, recv []Buffer) Request {
	by := k.In(f)
	if err := c.usable(by); err != nil {
		return Request{err: err}
	}
	return c.launch(by, func(e *coll.Engine) (*p2p.Request, error) {
		return e.StartPairs(c.core, k, f, coll.Pairs{Sends: len(send), Receives: len(recv),
			At: func(r int) (from, to coll.Side) { return sideOf(send, r), sideOf(recv, r) }})
	})
}

// sideOf is the side of a Buffer of a list, empty beyond its end.
func sideOf(list []Buffer, r int) coll.Side {
	if r >= len(list) {
		return coll.Side{}
	}
	return list[r].side()
}
