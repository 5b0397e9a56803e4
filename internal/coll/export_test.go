package coll

import (
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
)

// HasSlot reports whether c has a slot.
func HasSlot(c *comm.Comm) bool { return stateOf(c).slot.SlotState != nil }

// HasNodeSlot reports whether the members of c on this node have a slot for c.
func HasNodeSlot(c *comm.Comm) bool {
	d := stateOf(c).division
	return d != nil && d.slot != nil
}

// Chosen returns the algorithm for a collective of the kind on c, to which each member gives
// size bytes.
func (e *Engine) Chosen(c *comm.Comm, k Kind, size int) choice.Algorithm {
	return e.choice.Algorithm(k, size, stateOf(c).where, false)
}

// WaitsFor returns what is reported of a member of c that sleeps in the slot of its node.
func WaitsFor(c *comm.Comm) string {
	return string(stateOf(c).division.AppendAbout(nil))
}

const (
	CopiesMin = slot.CopiesMin
	Trials    = slot.Trials

	BalanceEvery = slot.BalanceEvery
)

// ShareCores lets the members of c believe that they have n cores.
func ShareCores(c *comm.Comm, n int64) { stateOf(c).slot.Cores = n }
