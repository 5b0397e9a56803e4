package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// A library uses MPI without Init, and whether the program has called Init or not: it has a session
// and communicators of its own.
func ExampleOpenSession() {
	s, err := mpi.OpenSession(mpi.ErrorsReturn)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Finalize()
	everybody, err := s.Group(mpi.PsetWorld)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := mpi.CommFromGroup(everybody, "example.org/library", mpi.ErrorsReturn)
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, err := mpi.AllreduceOne(c, c.Rank(), mpi.Sum)
	fmt.Println(sum, err)
}
