package mpi

import (
	"github.com/halo-mpi/halo/internal/coll"
)

// Scatter deals the send slice of rank root out to all members in the order of
// the ranks, len(recv) elements to each: send there has at least
// c.Size()*len(recv) elements; elsewhere it is not looked at. In place: the
// root's recv is its own block of send.
//
// C: MPI_Scatter, section 6.6.
func Scatter[T any](c *Comm, send, recv []T, root int) error {
	a := scatterArgs(send, recv, root)
	return c.do(coll.Scatter, &a)
}

// Iscatter starts a Scatter.
//
// C: MPI_Iscatter, section 6.12.4.
func Iscatter[T any](c *Comm, send, recv []T, root int) Request {
	a := scatterArgs(send, recv, root)
	return c.start(coll.Scatter, &a)
}

// ScatterInit prepares a Scatter that can be started many times.
//
// C: MPI_Scatter_init, section 6.13.4.
func ScatterInit[T any](c *Comm, send, recv []T, root int) Request {
	a := scatterArgs(send, recv, root)
	return c.prepare(coll.Scatter, &a)
}

func scatterArgs[T any](send, recv []T, root int) coll.Args {
	a := sliceArgs(send, recv)
	a.Root = root
	return a
}

// Scatterv deals the send slice of rank root out in blocks of any lengths: rank
// r, whose recv has counts[r] elements, gets
// send[displs[r]:displs[r]+counts[r]]. With nil displs they stand one behind the
// other. Only the root looks at send, counts and displs. In place: the root's
// recv is its own block of send.
//
// A nonblocking or persistent one reads counts and displs until it has ended.
//
// C: MPI_Scatterv, section 6.6.
func Scatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) error {
	a := scattervArgs(send, counts, displs, recv, root)
	return c.do(coll.Scatterv, &a)
}

// Iscatterv starts a Scatterv.
//
// C: MPI_Iscatterv, section 6.12.4.
func Iscatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) Request {
	a := scattervArgs(send, counts, displs, recv, root)
	return c.start(coll.Scatterv, &a)
}

// ScattervInit prepares a Scatterv that can be started many times.
//
// C: MPI_Scatterv_init, section 6.13.4.
func ScattervInit[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) Request {
	a := scattervArgs(send, counts, displs, recv, root)
	return c.prepare(coll.Scatterv, &a)
}

func scattervArgs[T any](send []T, counts, displs []int, recv []T, root int) coll.Args {
	a := sliceArgs(send, recv)
	a.Root, a.SendCounts, a.SendDispls = root, counts, displs
	return a
}
