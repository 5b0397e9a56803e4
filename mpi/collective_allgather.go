package mpi

import "github.com/halo-mpi/halo/internal/coll"

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
	return c.start(coll.Allgather, sliceArgs(send, recv))
}

// AllgatherInit prepares an Allgather that can be started many times.
//
// C: MPI_Allgather_init, section 6.13.5.
func AllgatherInit[T any](c *Comm, send, recv []T) Request {
	return c.prepare(coll.Allgather, sliceArgs(send, recv))
}

// exchange does a blocking Allgather or Alltoall.
func exchange[T any](c *Comm, k coll.Kind, send, recv []T) error {
	if err := c.usable(k.Number()); err != nil {
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

// Allgatherv collects the send slices of all members, which may differ in length, at every
// member: the slice of rank r becomes recv[displs[r]:displs[r]+counts[r]]. With nil displs the
// blocks are adjacent, in rank order. All members pass the same counts, and len(send) is the
// caller's count. In place: send is the caller's own block of recv.
//
// The nonblocking and persistent forms read counts and displs until the operation has ended.
//
// C: MPI_Allgatherv, section 6.7.
func Allgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	return c.do(coll.Allgatherv, sliceArgs(send, recv).WithRecvBlocks(counts, displs))
}

// Iallgatherv starts an Allgatherv.
//
// C: MPI_Iallgatherv, section 6.12.5.
func Iallgatherv[T any](c *Comm, send, recv []T, counts, displs []int) Request {
	return c.start(coll.Allgatherv, sliceArgs(send, recv).WithRecvBlocks(counts, displs))
}

// AllgathervInit prepares an Allgatherv that can be started many times.
//
// C: MPI_Allgatherv_init, section 6.13.5.
func AllgathervInit[T any](c *Comm, send, recv []T, counts, displs []int) Request {
	return c.prepare(coll.Allgatherv, sliceArgs(send, recv).WithRecvBlocks(counts, displs))
}

// Allgather collects the send Buffers of all members, which have the same size in bytes, at
// every member in the order of the ranks. recv has room for c.Size() such blocks; the size of a
// block is a whole number of elements of recv. In place: send is the caller's own block of recv.
//
// C: MPI_Allgather, section 6.7.
func (c *Comm) Allgather(send, recv Buffer) error {
	return c.do(coll.Allgather, bufferArgs(&send, &recv))
}

// Iallgather starts an Allgather.
//
// C: MPI_Iallgather, section 6.12.5.
func (c *Comm) Iallgather(send, recv Buffer) Request {
	return c.start(coll.Allgather, bufferArgs(&send, &recv))
}

// AllgatherInit prepares an Allgather that can be started many times.
//
// C: MPI_Allgather_init, section 6.13.5.
func (c *Comm) AllgatherInit(send, recv Buffer) Request {
	return c.prepare(coll.Allgather, bufferArgs(&send, &recv))
}

// Allgatherv collects the send Buffers of all members, which may differ in size, at every
// member: the Buffer of rank r becomes counts[r] elements of recv, starting at element
// displs[r]. With nil displs the blocks are adjacent, in rank order. All members expect the same
// number of bytes from rank r. In place: send is the caller's own block of recv.
//
// The nonblocking and persistent forms read counts and displs until the operation has ended.
//
// C: MPI_Allgatherv, section 6.7.
func (c *Comm) Allgatherv(send, recv Buffer, counts, displs []int) error {
	return c.do(coll.Allgatherv, bufferArgs(&send, &recv).WithRecvBlocks(counts, displs))
}

// Iallgatherv starts an Allgatherv.
//
// C: MPI_Iallgatherv, section 6.12.5.
func (c *Comm) Iallgatherv(send, recv Buffer, counts, displs []int) Request {
	return c.start(coll.Allgatherv, bufferArgs(&send, &recv).WithRecvBlocks(counts, displs))
}

// AllgathervInit prepares an Allgatherv that can be started many times.
//
// C: MPI_Allgatherv_init, section 6.13.5.
func (c *Comm) AllgathervInit(send, recv Buffer, counts, displs []int) Request {
	return c.prepare(coll.Allgatherv, bufferArgs(&send, &recv).WithRecvBlocks(counts, displs))
}
