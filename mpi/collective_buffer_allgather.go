package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Allgather collects the send Buffers of all members, which are of the same size in
// bytes, at every member in the order of the ranks: recv has room for as many such
// blocks, each a whole number of its elements. In place: send is the caller's own block
// of recv.
//
// C: MPI_Allgather, section 6.7.
func (c *Comm) Allgather(send, recv Buffer) error {
	return c.doBuffers(coll.Allgather, &coll.Args{}, &send, &recv)
}

// Iallgather starts an Allgather.
//
// C: MPI_Iallgather, section 6.12.5.
func (c *Comm) Iallgather(send, recv Buffer) Request {
	return c.requestBuffers(coll.Allgather, nonblocking, &coll.Args{}, &send, &recv)
}

// AllgatherInit prepares an Allgather that can be started many times.
//
// C: MPI_Allgather_init, section 6.13.5.
func (c *Comm) AllgatherInit(send, recv Buffer) Request {
	return c.requestBuffers(coll.Allgather, persistent, &coll.Args{}, &send, &recv)
}

// Allgatherv collects send Buffers of any sizes at every member: that of rank r becomes
// counts[r] elements of recv, from element displs[r] on. With nil displs they stand
// one behind the other. What rank r gives is of the same size in bytes to all members.
// In place: send is the caller's own block of recv.
//
// A nonblocking or persistent one reads counts and displs until it has ended.
//
// C: MPI_Allgatherv, section 6.7.
func (c *Comm) Allgatherv(send, recv Buffer, counts, displs []int) error {
	return c.doBuffers(coll.Allgatherv, &coll.Args{RecvCounts: counts, RecvDispls: displs}, &send, &recv)
}

// Iallgatherv starts an Allgatherv.
//
// C: MPI_Iallgatherv, section 6.12.5.
func (c *Comm) Iallgatherv(send, recv Buffer, counts, displs []int) Request {
	return c.requestBuffers(coll.Allgatherv, nonblocking, &coll.Args{RecvCounts: counts, RecvDispls: displs}, &send, &recv)
}

// AllgathervInit prepares an Allgatherv that can be started many times.
//
// C: MPI_Allgatherv_init, section 6.13.5.
func (c *Comm) AllgathervInit(send, recv Buffer, counts, displs []int) Request {
	return c.requestBuffers(coll.Allgatherv, persistent, &coll.Args{RecvCounts: counts, RecvDispls: displs}, &send, &recv)
}
