package coll

import "github.com/halo-mpi/halo/internal/comm"

// HasSlot reports whether c has a slot.
func HasSlot(c *comm.Comm) bool { return stateOf(c).slot != nil }
