package mpi

import "github.com/halo-mpi/halo/internal/unexported"

// internals has the methods that internal/unexported makes available to abi/bind and mpitest.
// Each stands in the file of its subject.
type internals struct{}

func init() { unexported.Set(&internals{}) }
