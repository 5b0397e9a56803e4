package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/proc"
)

// member is a member of a communicator that has a slot: what the slot asks when a call waits for long, or fails.
type member struct {
	e     *Engine
	c     *comm.Comm
	whole *comm.Comm // of the program's call: c, or c has those of its members that are on one node
}

// Lost implements slot.Owner.
func (m *member) Lost() error { return m.e.lost(m.c) }

// Rank implements slot.Owner.
func (m *member) Rank(r int) int {
	if m.whole == m.c {
		return r
	}
	return m.whole.RankOf(m.c.Members[r])
}

// Ranks implements slot.Owner.
func (m *member) Ranks() int { return m.whole.Size() }

// Refusal implements slot.Owner.
func (m *member) Refusal(rank int, cl class.Class) error { return newRefusal(m.whole, rank, cl) }

// AppendAbout implements proc.About.
func (m *member) AppendAbout(b []byte) []byte {
	k := Kind(stateOf(m.c).slot.Kind)
	return m.c.AppendOperation(b, k.Number())
}

// Awaits implements proc.Awaiter.
func (m *member) Awaits() int32 { return m.c.Awaits() }

// groupOf returns what a slot for the members of c is opened for.
func (e *Engine) groupOf(c *comm.Comm, m *member, about proc.About) *slot.Group {
	return &slot.Group{
		Proc: e.p, Node: e.node, Kernel: &e.choice.Kernel, Members: c.Members, Rank: c.Rank, Owner: m, About: about, Tells: e.tells,
		// Unique in the process of the operating system: contexts are, and one communicator has a record
		// for each of its ranks that are goroutines there.
		Idle: (c.Ctx + 1 + uint64(c.Rank)) << callBits,
	}
}
