package coll

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// Transfer is a message of a collective.
type Transfer struct {
	Rank  int // of the other member
	Bytes int
}

// Round is what a member does in one round of an algorithm: it starts the sends and receives, and copies
// or reduces Work bytes when all of them are complete.
type Round struct {
	Sends, Receives []Transfer
	Work            int
}

// Tracer tells what the members of a collective do, round by round, without carrying it out. It calls
// the functions that carry it out, for one member after the other.
type Tracer struct {
	s       schedule
	round   Round
	shifted bool    // all members do what rank 0 does, with ranks that are higher by their own
	first   []Round // of rank 0, if shifted
	last    bool    // first is complete
}

// NewTracer returns the Tracer of an algorithm among n members. size is the length in bytes of the
// buffer of a Bcast, of an operand, or of the block for or from each member.
func NewTracer(a choice.Algorithm, n, root, size int) (*Tracer, error) {
	k := a.Kind()
	switch k {
	case Barrier, Bcast, Reduce, Allreduce, Gather, Scatter, Allgather, Alltoall, Scan, Exscan, ReduceScatterBlock:
	default:
		return nil, fmt.Errorf("coll: the rounds of %v depend on more than the number of members", a)
	}
	if a.Leads() || a == choice.BcastChain {
		return nil, fmt.Errorf("coll: the rounds of %v depend on hosts or on what arrives", a)
	}
	if n < 1 || root < 0 || root >= n || size < 0 {
		return nil, fmt.Errorf("coll: %v among %d members with root %d and %d bytes", a, n, root, size)
	}
	t := &Tracer{shifted: shifted(a)}
	members := make([]int32, n)
	for i := range members {
		members[i] = int32(i)
	}
	s := &t.s
	s.c, s.kind, s.step, s.Root, s.traced = comm.New(nil, 0, 0, members), k, stepOf(a), root, &t.round
	s.Width, s.Send.Width, s.Recv.Width = 1, 1, 1
	send, recv := size, size
	switch k {
	case Barrier:
		send, recv = 0, 0
	case Gather, Allgather:
		recv *= n
	case Scatter, ReduceScatterBlock:
		send *= n
	case Alltoall:
		send, recv = n*size, n*size
	}
	s.Send.Mem, s.Recv.Mem = mem.Of(make([]byte, send)), mem.Of(make([]byte, recv))
	s.unit, _ = s.shape()
	return t, nil
}

// Round returns what a member does in a round, and whether there are more. The Round is valid until the
// next call.
func (t *Tracer) Round(rank, number int) (r *Round, more bool) {
	if !t.shifted {
		return &t.round, t.step(rank, number)
	}
	for len(t.first) <= number {
		t.last = !t.step(0, len(t.first))
		t.first = append(t.first, Round{slices.Clone(t.round.Sends), slices.Clone(t.round.Receives), t.round.Work})
	}
	n, first := t.s.c.Size(), &t.first[number]
	t.round.Sends = shift(t.round.Sends[:0], first.Sends, rank, n)
	t.round.Receives = shift(t.round.Receives[:0], first.Receives, rank, n)
	t.round.Work = first.Work
	return &t.round, !t.last || number < len(t.first)-1
}

// shift appends transfers with the ranks of a member whose rank is higher by as many.
func shift(to, of []Transfer, by, n int) []Transfer {
	for _, x := range of {
		to = append(to, Transfer{(x.Rank + by) % n, x.Bytes})
	}
	return to
}

// step puts what a member does in a round into t.round.
func (t *Tracer) step(rank, number int) bool {
	t.round = Round{t.round.Sends[:0], t.round.Receives[:0], 0}
	t.s.c.Rank, t.s.round = rank, number
	return t.s.step(&t.s)
}

// shifted reports whether the ranks with which a member exchanges messages differ from its own by the same
// numbers at all members. Then a Tracer need not go through all blocks for each of them.
func shifted(a choice.Algorithm) bool {
	switch a {
	case choice.BarrierDissemination, choice.AllgatherBruck, choice.AlltoallBruck:
		return true
	}
	return false
}
