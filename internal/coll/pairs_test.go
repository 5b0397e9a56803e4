package coll_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/coll"
)

// pairs is the part of a task that is an Alltoallw: blocks to and from every member, each with a
// layout of its own. Those of a NeighborAlltoallw are to and from every neighbour.
type pairs struct {
	out, in []*laid // by rank, or neighbour; out is in if in place
}

// paired reports whether t consists of pairs.
func (t *task) paired() bool { return t.kind == coll.Alltoallw || t.kind == coll.NeighborAlltoallw }

// layOutPairs makes the blocks. In place the block to a member is as long as the block from that
// member.
func (t *task) layOutPairs(g *rand.Rand) {
	n, me, w := t.c.Size(), t.c.Rank, t.typ.Size()
	if t.inPlace {
		for r := range n {
			for d := range r {
				t.counts[r][d] = t.counts[d][r]
			}
		}
	}
	g = rand.New(rand.NewPCG(g.Uint64(), uint64(me)))
	block := func(count int) *laid {
		size := w
		if count%4 == 0 && g.IntN(2) == 0 {
			size *= 4
		}
		return layOut(g, make([]byte, count*w), size)
	}
	for r := range n {
		t.in = append(t.in, block(t.counts[r][me]))
		t.out = append(t.out, t.in[r])
		if !t.inPlace {
			t.out[r] = block(t.counts[me][r])
		}
	}
}

// allPairs returns the argument of the engine.
func (t *task) allPairs() coll.Pairs {
	return coll.Pairs{Sends: len(t.out), Receives: len(t.in), At: t.pair}
}

// pair is the At of allPairs.
func (t *task) pair(r int) (send, recv coll.Side) {
	if r < len(t.out) {
		send = coll.Elements(t.out[r].all())
	}
	if r < len(t.in) {
		recv = coll.Elements(t.in[r].all())
	}
	return send, recv
}

// outPiece returns what block r of out contains, and inPiece what that of in contains afterwards, nil
// if it does not change.
func (t *task) outPiece(r int, k uint64) []byte {
	if t.kind == coll.NeighborAlltoallw {
		return t.along(t.outEdges[r], k)
	}
	return t.piece(t.c.Rank, r, k)
}

func (t *task) inPiece(r int, k uint64) []byte {
	if t.kind == coll.NeighborAlltoallw {
		return t.along(t.inEdges[r], k)
	}
	return t.piece(r, t.c.Rank, k)
}

func (t *task) loadPairs(k uint64) {
	g := rand.New(rand.NewPCG(k, 79))
	for r := range t.in {
		fill(t.in[r].flat, g)
		t.in[r].load(g)
	}
	for r := range t.out {
		copy(t.out[r].flat, t.outPiece(r, k))
		t.out[r].load(g)
	}
}

func (t *task) verifyPairs(k uint64) error {
	for r := range t.out {
		if t.inPlace {
			break
		}
		if err := t.out[r].verify(); err != nil {
			return fmt.Errorf("%v: what goes to rank %d: %w", t, r, err)
		}
	}
	for r := range t.in {
		copy(t.in[r].flat, t.inPiece(r, k))
		if err := t.in[r].verify(); err != nil {
			return fmt.Errorf("%v: what comes from rank %d: %w", t, r, err)
		}
	}
	return nil
}
