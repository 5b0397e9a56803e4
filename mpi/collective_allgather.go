package mpi

import (
	"github.com/halo-mpi/halo/internal/coll"
)

// Allgather collects the send slices of all members, which are equally long, at
// every member in the order of the ranks: recv has at least c.Size()*len(send)
// elements. In place: send is the caller's own block of recv.
//
// C: MPI_Allgather, section 6.7.
func Allgather[T any](c *Comm, send, recv []T) error {
	return exchange(c, coll.Allgather, send, recv)
}

// Iallgather starts an Allgather.
//
// C: MPI_Iallgather, section 6.12.5.
func Iallgather[T any](c *Comm, send, recv []T) Request {
	a := sliceArgs(send, recv)
	return c.start(coll.Allgather, &a)
}

// AllgatherInit prepares an Allgather that can be started many times.
//
// C: MPI_Allgather_init, section 6.13.5.
func AllgatherInit[T any](c *Comm, send, recv []T) Request {
	a := sliceArgs(send, recv)
	return c.prepare(coll.Allgather, &a)
}

// exchange is an Allgather or Alltoall that blocks.
func exchange[T any](c *Comm, k coll.Kind, send, recv []T) error {
	if err := c.usable(collectiveCall(k, blocking)); err != nil {
		return err
	}
	if isNumber[T]() {
		if done, err := c.w.Coll.Exchange(c.core, k, memory(send), memory(recv), sizeOf[T](), elementCode[T]()); done {
			return c.done(k, err)
		}
	}
	a := sliceArgs(send, recv)
	return c.carryOut(k, &a)
}

// Allgatherv collects send slices of any lengths at every member: that of rank r
// becomes recv[displs[r]:displs[r]+counts[r]]. With nil displs they stand one
// behind the other. All members pass the same counts, and len(send) is the
// caller's. In place: send is the caller's own block of recv.
//
// A nonblocking or persistent one reads counts and displs until it has ended.
//
// C: MPI_Allgatherv, section 6.7.
func Allgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	a := allgathervArgs(send, recv, counts, displs)
	return c.do(coll.Allgatherv, &a)
}

// Iallgatherv starts an Allgatherv.
//
// C: MPI_Iallgatherv, section 6.12.5.
func Iallgatherv[T any](c *Comm, send, recv []T, counts, displs []int) Request {
	a := allgathervArgs(send, recv, counts, displs)
	return c.start(coll.Allgatherv, &a)
}

// AllgathervInit prepares an Allgatherv that can be started many times.
//
// C: MPI_Allgatherv_init, section 6.13.5.
func AllgathervInit[T any](c *Comm, send, recv []T, counts, displs []int) Request {
	a := allgathervArgs(send, recv, counts, displs)
	return c.prepare(coll.Allgatherv, &a)
}

func allgathervArgs[T any](send, recv []T, counts, displs []int) coll.Args {
	a := sliceArgs(send, recv)
	a.RecvCounts, a.RecvDispls = counts, displs
	return a
}
