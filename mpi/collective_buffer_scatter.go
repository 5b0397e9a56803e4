package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Scatter gives each member its block of the send Buffer of rank root, in the order of
// the ranks: the size of recv in bytes, which is that of the others' and a whole number
// of elements of send. Only the root looks at send. In place: the root's recv is its
// own block of send.
//
// C: MPI_Scatter, section 6.6.
func (c *Comm) Scatter(send, recv Buffer, root int) error {
	return c.doBuffers(coll.Scatter, &coll.Args{Root: root}, &send, &recv)
}

// Iscatter starts a Scatter.
//
// C: MPI_Iscatter, section 6.12.4.
func (c *Comm) Iscatter(send, recv Buffer, root int) Request {
	return c.requestBuffers(coll.Scatter, nonblocking, &coll.Args{Root: root}, &send, &recv)
}

// ScatterInit prepares a Scatter that can be started many times.
//
// C: MPI_Scatter_init, section 6.13.4.
func (c *Comm) ScatterInit(send, recv Buffer, root int) Request {
	return c.requestBuffers(coll.Scatter, persistent, &coll.Args{Root: root}, &send, &recv)
}

// Scatterv gives rank r counts[r] elements of the send Buffer of rank root, from
// element displs[r] on. With nil displs the blocks stand one behind the other. Only
// the root looks at send, counts and displs. In place: the root's recv is its own
// block of send.
//
// A nonblocking or persistent one reads counts and displs until it has ended.
//
// C: MPI_Scatterv, section 6.6.
func (c *Comm) Scatterv(send Buffer, counts, displs []int, recv Buffer, root int) error {
	return c.doBuffers(coll.Scatterv, &coll.Args{Root: root, SendCounts: counts, SendDispls: displs}, &send, &recv)
}

// Iscatterv starts a Scatterv.
//
// C: MPI_Iscatterv, section 6.12.4.
func (c *Comm) Iscatterv(send Buffer, counts, displs []int, recv Buffer, root int) Request {
	return c.requestBuffers(coll.Scatterv, nonblocking, &coll.Args{Root: root, SendCounts: counts, SendDispls: displs}, &send, &recv)
}

// ScattervInit prepares a Scatterv that can be started many times.
//
// C: MPI_Scatterv_init, section 6.13.4.
func (c *Comm) ScattervInit(send Buffer, counts, displs []int, recv Buffer, root int) Request {
	return c.requestBuffers(coll.Scatterv, persistent, &coll.Args{Root: root, SendCounts: counts, SendDispls: displs}, &send, &recv)
}
