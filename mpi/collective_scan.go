package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Scan leaves in recv of each member the combination, element by element, of the
// send slices of all ranks up to its own. In place: send and recv are the same
// slice. All send slices have the same length, and recv at least that.
//
// C: MPI_Scan, section 6.11.1.
func Scan[T Elem](c *Comm, send, recv []T, op Op) error {
	a := scanArgs(send, recv, op)
	return c.do(coll.Scan, &a)
}

// Iscan starts a Scan.
//
// C: MPI_Iscan, section 6.12.11.
func Iscan[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := scanArgs(send, recv, op)
	return c.start(coll.Scan, &a)
}

// ScanInit prepares a Scan that can be started many times.
//
// C: MPI_Scan_init, section 6.13.11.
func ScanInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := scanArgs(send, recv, op)
	return c.prepare(coll.Scan, &a)
}

func scanArgs[T Elem](send, recv []T, op Op) coll.Args {
	return reduction(send, recv, op)
}

// Exscan leaves in recv of each member the combination, element by element, of
// the send slices of all ranks below its own; at rank 0 recv is not changed. In
// place: send and recv are the same slice. All send slices have the same length,
// and recv at least that.
//
// C: MPI_Exscan, section 6.11.2.
func Exscan[T Elem](c *Comm, send, recv []T, op Op) error {
	a := exscanArgs(send, recv, op)
	return c.do(coll.Exscan, &a)
}

// Iexscan starts an Exscan.
//
// C: MPI_Iexscan, section 6.12.12.
func Iexscan[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := exscanArgs(send, recv, op)
	return c.start(coll.Exscan, &a)
}

// ExscanInit prepares an Exscan that can be started many times.
//
// C: MPI_Exscan_init, section 6.13.12.
func ExscanInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := exscanArgs(send, recv, op)
	return c.prepare(coll.Exscan, &a)
}

func exscanArgs[T Elem](send, recv []T, op Op) coll.Args {
	return reduction(send, recv, op)
}
