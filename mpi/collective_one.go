package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
)

// The forms for a single value return it. Each call allocates memory.

// BcastOne returns the value that rank root passes. The values of other ranks are ignored.
//
// C: MPI_Bcast, section 6.4.
func BcastOne[T any](c *Comm, value T, root int) (T, error) {
	buf := []T{value}
	err := Bcast(c, buf, root)
	return buf[0], err
}

// AllreduceOne returns the combination of the values of all members; on an intercommunicator, of
// all members of the remote group.
//
// C: MPI_Allreduce, section 6.9.6.
func AllreduceOne[T Elem](c *Comm, value T, op Op) (T, error) {
	buf := []T{value, value}
	send, recv := buf[:1], buf[:1]
	if c.Inter() {
		recv = buf[1:]
	}
	err := Allreduce(c, send, recv, op)
	return recv[0], err
}

// AllgatherOne returns the values of all members in the order of the ranks; on an
// intercommunicator, those of the remote group.
//
// C: MPI_Allgather, section 6.7.
func AllgatherOne[T any](c *Comm, value T) ([]T, error) {
	if err := c.usable(call.Allgather); err != nil {
		return nil, err
	}
	all := make([]T, c.peers())
	own := []T{value}
	if !c.Inter() {
		own = all[c.Rank() : c.Rank()+1]
		own[0] = value
	}
	if err := Allgather(c, own, all); err != nil {
		return nil, err
	}
	return all, nil
}

// ExscanOne returns the combination of the values of all ranks below the caller's, and the zero
// value at rank 0. With Sum and the lengths of the members' parts as values, the result is the
// index of the caller's part in the whole.
//
// C: MPI_Exscan, section 6.11.2.
func ExscanOne[T Elem](c *Comm, value T, op Op) (T, error) {
	buf := make([]T, 2)
	buf[0] = value
	err := Exscan(c, buf[:1], buf[1:], op)
	return buf[1], err
}
