package mpi

import "github.com/halo-mpi/halo/internal/unexported"

// internals is what internal/unexported hands to abi/bind and mpitest. Its methods stand beside
// what they belong to.
type internals struct{}

func init() { unexported.Set(&internals{}) }
