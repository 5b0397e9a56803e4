package mpi

import (
	"github.com/halo-mpi/halo/internal/coll"
)

// Gather collects the send slices of all members, which are equally long, at
// rank root in the order of the ranks: recv there has at least
// c.Size()*len(send) elements; elsewhere it is not looked at. In place: the
// root's send is its own block of recv.
//
// C: MPI_Gather, section 6.5.
func Gather[T any](c *Comm, send, recv []T, root int) error {
	a := gatherArgs(send, recv, root)
	return c.do(coll.Gather, &a)
}

// Igather starts a Gather.
//
// C: MPI_Igather, section 6.12.3.
func Igather[T any](c *Comm, send, recv []T, root int) Request {
	a := gatherArgs(send, recv, root)
	return c.start(coll.Gather, &a)
}

// GatherInit prepares a Gather that can be started many times.
//
// C: MPI_Gather_init, section 6.13.3.
func GatherInit[T any](c *Comm, send, recv []T, root int) Request {
	a := gatherArgs(send, recv, root)
	return c.prepare(coll.Gather, &a)
}

func gatherArgs[T any](send, recv []T, root int) coll.Args {
	a := sliceArgs(send, recv)
	a.Root = root
	return a
}

// Gatherv collects send slices of any lengths at rank root: that of rank r
// becomes recv[displs[r]:displs[r]+counts[r]]. With nil displs they stand one
// behind the other. Only the root looks at recv, counts and displs. In place:
// the root's send is its own block of recv.
//
// A nonblocking or persistent one reads counts and displs until it has ended.
//
// C: MPI_Gatherv, section 6.5.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	a := gathervArgs(send, recv, counts, displs, root)
	return c.do(coll.Gatherv, &a)
}

// Igatherv starts a Gatherv.
//
// C: MPI_Igatherv, section 6.12.3.
func Igatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) Request {
	a := gathervArgs(send, recv, counts, displs, root)
	return c.start(coll.Gatherv, &a)
}

// GathervInit prepares a Gatherv that can be started many times.
//
// C: MPI_Gatherv_init, section 6.13.3.
func GathervInit[T any](c *Comm, send, recv []T, counts, displs []int, root int) Request {
	a := gathervArgs(send, recv, counts, displs, root)
	return c.prepare(coll.Gatherv, &a)
}

func gathervArgs[T any](send, recv []T, counts, displs []int, root int) coll.Args {
	a := sliceArgs(send, recv)
	a.Root, a.RecvCounts, a.RecvDispls = root, counts, displs
	return a
}
