package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Scan stores in recv of each member the combination, element by element, of the send slices of
// all ranks up to and including its own. All send slices have the same length, and recv is at
// least as long. In place: send and recv are the same slice.
//
// C: MPI_Scan, section 6.11.1.
func Scan[T Elem](c *Comm, send, recv []T, op Op) error {
	return c.do(coll.Scan, reduction(send, recv, op))
}

// Iscan starts a Scan.
//
// C: MPI_Iscan, section 6.12.11.
func Iscan[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.start(coll.Scan, reduction(send, recv, op))
}

// ScanInit prepares a Scan that can be started many times.
//
// C: MPI_Scan_init, section 6.13.11.
func ScanInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.prepare(coll.Scan, reduction(send, recv, op))
}

// Exscan stores in recv of each member the combination, element by element, of the send slices
// of all ranks below its own. At rank 0 recv is not changed. All send slices have the same
// length, and recv is at least as long. In place: send and recv are the same slice.
//
// C: MPI_Exscan, section 6.11.2.
func Exscan[T Elem](c *Comm, send, recv []T, op Op) error {
	return c.do(coll.Exscan, reduction(send, recv, op))
}

// Iexscan starts an Exscan.
//
// C: MPI_Iexscan, section 6.12.12.
func Iexscan[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.start(coll.Exscan, reduction(send, recv, op))
}

// ExscanInit prepares an Exscan that can be started many times.
//
// C: MPI_Exscan_init, section 6.13.12.
func ExscanInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.prepare(coll.Exscan, reduction(send, recv, op))
}

// Scan is the function Scan for Buffers; see Comm.Reduce.
//
// C: MPI_Scan, section 6.11.1.
func (c *Comm) Scan(send, recv Buffer, op Op) error {
	return c.do(coll.Scan, c.operands(coll.Scan, &send, &recv, op, 0))
}

// Iscan starts a Scan.
//
// C: MPI_Iscan, section 6.12.11.
func (c *Comm) Iscan(send, recv Buffer, op Op) Request {
	return c.start(coll.Scan, c.operands(coll.Scan, &send, &recv, op, 0))
}

// ScanInit prepares a Scan that can be started many times.
//
// C: MPI_Scan_init, section 6.13.11.
func (c *Comm) ScanInit(send, recv Buffer, op Op) Request {
	return c.prepare(coll.Scan, c.operands(coll.Scan, &send, &recv, op, 0))
}

// Exscan is the function Exscan for Buffers; see Comm.Reduce.
//
// C: MPI_Exscan, section 6.11.2.
func (c *Comm) Exscan(send, recv Buffer, op Op) error {
	return c.do(coll.Exscan, c.operands(coll.Exscan, &send, &recv, op, 0))
}

// Iexscan starts an Exscan.
//
// C: MPI_Iexscan, section 6.12.12.
func (c *Comm) Iexscan(send, recv Buffer, op Op) Request {
	return c.start(coll.Exscan, c.operands(coll.Exscan, &send, &recv, op, 0))
}

// ExscanInit prepares an Exscan that can be started many times.
//
// C: MPI_Exscan_init, section 6.13.12.
func (c *Comm) ExscanInit(send, recv Buffer, op Op) Request {
	return c.prepare(coll.Exscan, c.operands(coll.Exscan, &send, &recv, op, 0))
}
