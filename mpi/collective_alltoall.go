package mpi

import (
	"github.com/halo-mpi/halo/internal/coll"
)

// Alltoall sends the r-th of c.Size() equal blocks of send to rank r, whose
// block becomes the r-th of recv: recv is at least as long as send. In place:
// send and recv are the same slice.
//
// C: MPI_Alltoall, section 6.8.
func Alltoall[T any](c *Comm, send, recv []T) error {
	return exchange(c, coll.Alltoall, send, recv)
}

// Ialltoall starts an Alltoall.
//
// C: MPI_Ialltoall, section 6.12.6.
func Ialltoall[T any](c *Comm, send, recv []T) Request {
	a := sliceArgs(send, recv)
	return c.start(coll.Alltoall, &a)
}

// AlltoallInit prepares an Alltoall that can be started many times.
//
// C: MPI_Alltoall_init, section 6.13.6.
func AlltoallInit[T any](c *Comm, send, recv []T) Request {
	a := sliceArgs(send, recv)
	return c.prepare(coll.Alltoall, &a)
}

// Alltoallv sends send[sendDispls[r]:sendDispls[r]+sendCounts[r]] to rank r, and
// what rank r sends becomes recv[recvDispls[r]:recvDispls[r]+recvCounts[r]].
// With nil displacements the blocks stand one behind the other. In place: send
// and recv begin at the same element.
//
// A nonblocking or persistent one reads counts and displacements until it has
// ended.
//
// C: MPI_Alltoallv, section 6.8.
func Alltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) error {
	a := alltoallvArgs(send, sendCounts, sendDispls, recv, recvCounts, recvDispls)
	return c.do(coll.Alltoallv, &a)
}

// Ialltoallv starts an Alltoallv.
//
// C: MPI_Ialltoallv, section 6.12.6.
func Ialltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) Request {
	a := alltoallvArgs(send, sendCounts, sendDispls, recv, recvCounts, recvDispls)
	return c.start(coll.Alltoallv, &a)
}

// AlltoallvInit prepares an Alltoallv that can be started many times.
//
// C: MPI_Alltoallv_init, section 6.13.6.
func AlltoallvInit[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) Request {
	a := alltoallvArgs(send, sendCounts, sendDispls, recv, recvCounts, recvDispls)
	return c.prepare(coll.Alltoallv, &a)
}

func alltoallvArgs[T any](send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) coll.Args {
	a := sliceArgs(send, recv)
	a.SendCounts, a.SendDispls, a.RecvCounts, a.RecvDispls = sendCounts, sendDispls, recvCounts, recvDispls
	return a
}
