package coll_test

import (
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
)

// neighborhood is the part of a task that is a neighbourhood collective: a grid, or a graph whose
// edges are a list that all members know.
type neighborhood struct {
	around            *comm.Neighbors
	edges             []edge
	outEdges, inEdges []int // of the member: the edge of each block, -1 if it goes nowhere
}

// edge is a number of elements from one member to another.
type edge struct{ from, to, count int }

// everybody is a graph in which there is one edge from each of n members to each, so that the blocks
// are those of an Alltoall.
func everybody(n int) *comm.Neighbors {
	all := &comm.Neighbors{}
	for r := range n {
		all.Sources, all.Dests = append(all.Sources, r), append(all.Dests, r)
	}
	return all
}

// newNeighborTask makes a random task of a kind among random neighbours; g has the same state at all
// members.
func newNeighborTask(c *comm.Comm, k coll.Kind, g *rand.Rand, most int) *task {
	t := &task{c: c, kind: k, typ: someType(g)}
	for op.Check(t.o, t.typ) != nil { // there is no operation, but args have one
		t.o = op.Op(1 + g.IntN(op.Ops))
	}
	equal := someCount(g, most)
	t.counts = [][]int{{equal}}
	if g.IntN(3) == 0 {
		t.grid(g)
	} else {
		t.graph(g)
	}
	bySender := make([]int, c.Size())
	for r := range bySender {
		bySender[r] = someCount(g, most)
	}
	for i := range t.edges {
		switch e := &t.edges[i]; k {
		case coll.NeighborAllgather, coll.NeighborAlltoall:
			e.count = equal
		case coll.NeighborAllgatherv:
			e.count = bySender[e.from]
		default:
			e.count = someCount(g, most/2)
		}
	}
	// From here on each member has its own g.
	g = rand.New(rand.NewPCG(g.Uint64(), uint64(c.Rank)))
	if k == coll.NeighborAlltoallw {
		t.in, t.out = t.neighborBlocks(g, t.inEdges), t.neighborBlocks(g, t.outEdges)
		return t
	}
	t.layOutNeighbors(g, bySender[c.Rank])
	t.layOutTypes(g)
	return t
}

// graph makes random edges, also several between two members and from a member to itself. At the
// destination those of one sender are in the order in which the sender has them, among those of
// others at random.
func (t *task) graph(g *rand.Rand) {
	n, me := t.c.Size(), t.c.Rank
	for range g.IntN(3*n + 1) {
		t.edges = append(t.edges, edge{from: g.IntN(n), to: g.IntN(n)})
	}
	t.around = &comm.Neighbors{}
	var from []int // the senders to this member
	for i, e := range t.edges {
		if e.from == me {
			t.outEdges, t.around.Dests = append(t.outEdges, i), append(t.around.Dests, e.to)
		}
		if e.to == me {
			from = append(from, e.from)
		}
	}
	own := rand.New(rand.NewPCG(uint64(me), uint64(len(t.edges))))
	own.Shuffle(len(from), func(i, k int) { from[i], from[k] = from[k], from[i] })
	next := make([]int, n) // by sender: where to look for its next edge
	for _, r := range from {
		for t.edges[next[r]].from != r || t.edges[next[r]].to != me {
			next[r]++
		}
		t.inEdges = append(t.inEdges, next[r])
		next[r]++
	}
	t.around.Sources = from
}

// grid makes a grid of random dimensions, of which some are periodic. What a member sends in a
// direction arrives as what comes from the opposite one.
func (t *task) grid(g *rand.Rand) {
	n, me := t.c.Size(), t.c.Rank
	var dims []int
	for left := n; left > 1 || g.IntN(3) == 0; {
		d := 1 + g.IntN(left)
		for left%d != 0 {
			d--
		}
		dims, left = append(dims, d), left/d
	}
	arrives := map[[2]int]int{} // the edge to a member that arrives as a block there
	t.around = &comm.Neighbors{Grid: true}
	stride := n
	for i, d := range dims {
		stride /= d
		periodic := g.IntN(2) == 0
		for dir, step := range []int{-1, 1} {
			for r := range n {
				at := r/stride%d + step
				to := -1
				if periodic || at >= 0 && at < d {
					to = r + ((at+d)%d-r/stride%d)*stride
				}
				if r == me {
					t.around.Dests, t.outEdges = append(t.around.Dests, to), append(t.outEdges, -1)
				}
				if to < 0 {
					continue
				}
				if r == me {
					t.outEdges[2*i+dir] = len(t.edges)
				}
				arrives[[2]int{to, 2*i + 1 - dir}] = len(t.edges)
				t.edges = append(t.edges, edge{from: r, to: to})
			}
		}
	}
	t.around.Sources = t.around.Dests
	for i := range t.around.Sources {
		e, ok := arrives[[2]int{me, i}]
		if !ok {
			e = -1
		}
		t.inEdges = append(t.inEdges, e)
	}
}

// along returns what goes along an edge, nil if there is none.
func (t *task) along(e int, k uint64) []byte {
	if e < 0 {
		return nil
	}
	x, giver := t.edges[e], 1000+e
	if t.kind == coll.NeighborAllgather || t.kind == coll.NeighborAllgatherv {
		giver = x.from
	}
	return contribution(t.typ, x.count, giver, k)
}

// countsOf returns the numbers of elements of blocks; those that go nowhere have any.
func (t *task) countsOf(g *rand.Rand, list []int) []int {
	counts := make([]int, len(list))
	for i, e := range list {
		counts[i] = g.IntN(5)
		if e >= 0 {
			counts[i] = t.edges[e].count
		}
	}
	return counts
}

func (t *task) neighborBlocks(g *rand.Rand, list []int) (blocks []*laid) {
	w := t.typ.Size()
	for _, count := range t.countsOf(g, list) {
		size := w
		if count%4 == 0 && g.IntN(2) == 0 {
			size *= 4
		}
		blocks = append(blocks, layOut(g, make([]byte, count*w), size))
	}
	return blocks
}

// layOutNeighbors makes the arguments and the memory; mine is what the member gives to an
// Allgatherv.
func (t *task) layOutNeighbors(g *rand.Rand, mine int) {
	w, a := t.typ.Size(), &t.args
	a.Width, a.Op, a.Type = w, t.o, t.typ
	one := t.counts[0][0] * w
	guard := func(bytes int) []byte { return make([]byte, bytes+3*w) }
	send, recv := one, len(t.inEdges)*one
	switch t.kind {
	case coll.NeighborAllgatherv:
		send = mine * w
	case coll.NeighborAlltoall:
		send = len(t.outEdges) * one
	case coll.NeighborAlltoallv:
		a.SendCounts = t.countsOf(g, t.outEdges)
		a.SendDispls, send = spread(g, a.SendCounts)
		send *= w
	}
	if t.kind == coll.NeighborAllgatherv || t.kind == coll.NeighborAlltoallv {
		a.RecvCounts = t.countsOf(g, t.inEdges)
		a.RecvDispls, recv = spread(g, a.RecvCounts)
		recv *= w
	}
	t.send, t.recv = guard(send), guard(recv)
	a.Send, a.Recv = t.send[:send], t.recv[:recv]
}

// loadNeighbors stores what the member sends.
func (t *task) loadNeighbors(k uint64) {
	w, a := t.typ.Size(), &t.args
	for i, e := range t.outEdges {
		at := 0
		switch t.kind {
		case coll.NeighborAlltoall:
			at = i * t.counts[0][0]
		case coll.NeighborAlltoallv:
			at = place(a.SendCounts, a.SendDispls, i)
		}
		copy(t.send[at*w:], t.along(e, k))
	}
}

// expectNeighbors stores what the member receives in an image of its memory.
func (t *task) expectNeighbors(want []byte, k uint64) {
	w, a := t.typ.Size(), &t.args
	for i, e := range t.inEdges {
		at := i * t.counts[0][0]
		if a.RecvCounts != nil {
			at = place(a.RecvCounts, a.RecvDispls, i)
		}
		copy(want[at*w:], t.along(e, k))
	}
}
