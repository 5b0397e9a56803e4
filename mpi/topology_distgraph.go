package mpi

import (
	"fmt"
	"math"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/topology"
)

// DistGraph is the distributed graph topology of a communicator: every process knows the edges to
// it and from it (section 8.4).
//
// C: none; calls on the communicator, which are methods here.
type DistGraph struct {
	edges    [2]edges // to this process, and from it
	weighted bool
}

// edges are those of one direction at one process.
type edges struct {
	ranks   []int // at the other ends
	weights []int // nil if the graph has none
}

func (t *DistGraph) kind() Topology       { return DistGraphTopology }
func (t *DistGraph) on(c *Comm) structure { return t }

func (t *DistGraph) neighbors(int) *comm.Neighbors {
	return &comm.Neighbors{Sources: t.edges[0].ranks, Dests: t.edges[1].ranks}
}

// DistGraph returns the distributed graph topology of the communicator, nil if it has none.
//
// C: none; MPI_Dist_graph_neighbors and other calls take the communicator.
func (c *Comm) DistGraph() *DistGraph {
	t, _ := c.topology.(*DistGraph)
	return t
}

// Sources returns the ranks that edges come from to this process, and their weights, nil in a graph
// without weights.
//
// C: MPI_Dist_graph_neighbors_count, MPI_Dist_graph_neighbors, section 8.5.5.
func (t *DistGraph) Sources() (ranks, weights []int) { return t.edges[0].clone() }

// Dests returns the ranks that edges go to from this process, and their weights, nil in a graph
// without weights.
//
// C: MPI_Dist_graph_neighbors_count, MPI_Dist_graph_neighbors, section 8.5.5.
func (t *DistGraph) Dests() (ranks, weights []int) { return t.edges[1].clone() }

// Weighted reports whether the edges have weights.
//
// C: MPI_Dist_graph_neighbors_count, section 8.5.5.
func (t *DistGraph) Weighted() bool { return t.weighted }

func (e *edges) clone() (ranks, weights []int) { return slices.Clone(e.ranks), slices.Clone(e.weights) }

// DistGraphCreateAdjacent makes a communicator with the topology of a graph of which each process
// gives the edges to it, by their sources, and those from it, by their dests. So each edge is given
// twice, at both ends. Edges are kept in the order in which they are given; several may lead to
// the same process, or to the process itself.
//
// Weights tell how much is communicated along an edge. They are nil in a graph without weights;
// a process without edges passes empty ones that are not nil in a graph which has some.
//
// With reorder ranks may differ from those in c, so that less weight is between hosts: a process
// gets the edges of its new rank. Without, or if nothing is gained, they are the same.
//
// ErrRank if a neighbour is no rank of c; ErrArg if there are not as many weights as neighbours, one
// is negative, or only one of the lists has weights. In checking mode an edge that one end alone
// gives is ErrTopology at all, and so are weights that some processes pass, and others do not.
// Collective over c, and all pass the same reorder.
//
// C: MPI_Dist_graph_create_adjacent, section 8.5.4.
func (c *Comm) DistGraphCreateAdjacent(sources, sourceWeights, dests, destWeights []int, reorder bool) (*Comm, error) {
	const k = call.DistGraphCreateAdjacent
	if err := c.usable(k); err != nil {
		return nil, err
	}
	if err := c.intra(k); err != nil {
		return nil, err
	}
	t := &DistGraph{weighted: sourceWeights != nil || destWeights != nil}
	if t.weighted && (sourceWeights == nil || destWeights == nil) {
		return nil, fail(ErrArg, k, c, "one of sources and dests has weights, and the other has none")
	}
	for i, list := range [...]struct {
		what           string
		ranks, weights []int
	}{{"source", sources, sourceWeights}, {"dest", dests, destWeights}} {
		if err := c.neighbors(k, list.what, list.ranks, list.weights); err != nil {
			return nil, err
		}
		t.edges[i] = edges{slices.Clone(list.ranks), slices.Clone(list.weights)}
	}
	defer c.core.Begin(k)()
	if c.w.Coll.Checks(c.core) {
		if err := c.checkWeights(k, t.weighted); err != nil {
			return nil, err
		}
		if err := c.checkEdges(k, sources, dests); err != nil {
			return nil, err
		}
	}
	return c.distGraph(k, t, reorder)
}

// checkWeights returns an error at all members, in checking mode, unless all pass weights or none
// does. Collective over c.
func (c *Comm) checkWeights(k call.Number, weighted bool) error {
	mine, all := []byte{0}, make([]byte, c.Size())
	if weighted {
		mine[0] = 1
	}
	a := coll.Args{Send: coll.Bytes(mine), Recv: coll.Bytes(all), Width: 1, Call: k}
	if err := c.w.Coll.Do(c.core, coll.Allgather, &a); err != nil {
		return wrap(err, k, c, Undefined, Undefined)
	}
	if with, without := slices.Index(all, 1), slices.Index(all, 0); with >= 0 && without >= 0 {
		return fail(ErrTopology, k, c, "rank %d gives weights, and rank %d gives none", with, without)
	}
	return nil
}

// checkEdges returns an error at all members, in checking mode, unless both ends of each edge give
// it: each member tells each other how many edges lead there and how many come from there.
// Collective over c.
func (c *Comm) checkEdges(k call.Number, sources, dests []int) error {
	mine := make([][]int64, c.Size()) // by rank: edges from it, and to it
	for r := range mine {
		mine[r] = make([]int64, 2)
	}
	for _, r := range sources {
		mine[r][0]++
	}
	for _, r := range dests {
		mine[r][1]++
	}
	theirs, err := c.exchangeLists(k, mine)
	if err != nil {
		return err
	}
	text := ""
	for r := range mine {
		from, to := theirs[2*r], theirs[2*r+1] // edges from here and to here, as r gives them
		switch {
		case text != "":
		case to != mine[r][0]:
			text = fmt.Sprintf("rank %d gives %d edges from rank %d, which gives %d to it", c.Rank(), mine[r][0], r, to)
		case from != mine[r][1]:
			text = fmt.Sprintf("rank %d gives %d edges to rank %d, which gives %d from it", c.Rank(), mine[r][1], r, from)
		}
	}
	parts := make([][]int64, c.Size())
	for r := range parts {
		if text != "" {
			parts[r] = []int64{int64(c.Rank())}
		}
	}
	wrong, err := c.exchangeLists(k, parts)
	switch {
	case err != nil:
		return err
	case text != "":
		return fail(ErrTopology, k, c, "%s", text)
	case len(wrong) > 0:
		return fail(ErrTopology, k, c, "edges do not pair, as rank %d has found", wrong[0])
	}
	return nil
}

// neighbors checks one list of neighbours.
func (c *Comm) neighbors(k call.Number, what string, ranks, weights []int) error {
	if weights != nil && len(weights) != len(ranks) {
		return fail(ErrArg, k, c, "%d weights for %d %ss", len(weights), len(ranks), what)
	}
	for i, r := range ranks {
		if r < 0 || r >= c.Size() {
			return fail(ErrRank, k, c, "%s %d is rank %d, which is not in 0..%d", what, i, r, c.Size()-1)
		}
		if weights != nil && weights[i] < 0 {
			return fail(ErrArg, k, c, "%s %d, rank %d, has weight %d", what, i, r, weights[i])
		}
	}
	return nil
}

// DistGraphCreate makes a communicator with the topology of a graph of which each process gives any
// edges: the first degrees[0] dests are those of edges from sources[0], the next degrees[1] those of
// edges from sources[1], and so on. Each edge is given once, by any process. The edges of a process
// are in the order of the ranks that have given them, and of those of one rank in its order.
//
// Weights, one for each of dests, and reorder are as for DistGraphCreateAdjacent; all processes pass
// weights, or none does.
//
// ErrRank if a source or dest is no rank of c; ErrArg if there are not as many degrees as sources,
// one is negative, their sum is not the number of dests, or there are not as many weights. In checking
// mode weights that some processes pass, and others do not, are ErrTopology at all.
// Collective over c, and all pass the same reorder.
//
// C: MPI_Dist_graph_create, section 8.5.4.
func (c *Comm) DistGraphCreate(sources, degrees, dests, weights []int, reorder bool) (*Comm, error) {
	const k = call.DistGraphCreate
	if err := c.usable(k); err != nil {
		return nil, err
	}
	if err := c.intra(k); err != nil {
		return nil, err
	}
	if len(degrees) != len(sources) {
		return nil, fail(ErrArg, k, c, "%d degrees for %d sources", len(degrees), len(sources))
	}
	sum := 0
	for i, d := range degrees {
		if d < 0 || d > len(dests)-sum {
			return nil, fail(ErrArg, k, c, "source %d, rank %d, has degree %d, and %d of %d dests are left", i, sources[i], d, len(dests)-sum, len(dests))
		}
		sum += d
	}
	if sum != len(dests) {
		return nil, fail(ErrArg, k, c, "the degrees add up to %d, and there are %d dests", sum, len(dests))
	}
	if err := c.neighbors(k, "source", sources, nil); err != nil {
		return nil, err
	}
	if err := c.neighbors(k, "dest", dests, weights); err != nil {
		return nil, err
	}
	defer c.core.Begin(k)()
	if c.w.Coll.Checks(c.core) {
		if err := c.checkWeights(k, weights != nil); err != nil {
			return nil, err
		}
	}
	t, err := c.collectEdges(k, sources, degrees, dests, weights)
	if err != nil {
		return nil, err
	}
	return c.distGraph(k, t, reorder)
}

// collectEdges sends each edge to the processes at its ends. Collective over c.
func (c *Comm) collectEdges(k call.Number, sources, degrees, dests, weights []int) (*DistGraph, error) {
	// For each rank: the edges that it is an end of, as triples: direction, rank at the other end,
	// weight.
	parts := make([][]int64, c.Size())
	next := 0
	for i, source := range sources {
		for range degrees[i] {
			dest, weight := dests[next], int64(1)
			if weights != nil {
				weight = int64(weights[next])
			}
			parts[dest] = append(parts[dest], 0, int64(source), weight)
			parts[source] = append(parts[source], 1, int64(dest), weight)
			next++
		}
	}
	got, err := c.exchangeLists(k, parts)
	if err != nil {
		return nil, err
	}
	t := &DistGraph{weighted: weights != nil}
	for i := 0; i < len(got); i += 3 {
		e := &t.edges[got[i]]
		e.ranks = append(e.ranks, int(got[i+1]))
		if t.weighted {
			e.weights = append(e.weights, int(got[i+2]))
		}
	}
	for i := range t.edges {
		if t.weighted && t.edges[i].weights == nil {
			t.edges[i].weights = []int{}
		}
	}
	return t, nil
}

// distGraph makes a communicator with a distributed graph topology. Collective over c.
func (c *Comm) distGraph(k call.Number, t *DistGraph, reorder bool) (*Comm, error) {
	var place []int32
	if hosts := c.hosts(c.Size()); reorder && slices.Min(hosts) < slices.Max(hosts) {
		var err error
		t, place, err = c.arrangeEdges(k, t)
		if err != nil {
			return nil, err
		}
	}
	d, err := c.arranged(k, c.Size(), place)
	if d != nil {
		d.setTopology(t)
	}
	return d, err
}

// arrangeEdges tells all members the edges of all, arranges the graph, and returns the edges of the
// rank that this process gets. Nobody keeps the rest.
func (c *Comm) arrangeEdges(k call.Number, t *DistGraph) (*DistGraph, []int32, error) {
	mine := []int64{int64(len(t.edges[0].ranks)), int64(len(t.edges[1].ranks))}
	for i := range t.edges {
		for n, r := range t.edges[i].ranks {
			weight := 1
			if t.weighted {
				weight = t.edges[i].weights[n]
			}
			mine = append(mine, int64(r), int64(weight))
		}
	}
	parts := make([][]int64, c.Size())
	for r := range parts {
		parts[r] = mine
	}
	all, err := c.exchangeLists(k, parts)
	if err != nil {
		return nil, nil, err
	}
	g := &topology.Graph{First: make([]int, 1, c.Size()+1)}
	begins := make([]int, c.Size()) // by rank: where its lists are in all
	at := 0
	for r := range begins {
		begins[r] = at
		in, out := int(all[at]), int(all[at+1])
		at += 2 + 2*in
		for range out {
			g.To = append(g.To, int32(all[at]))
			g.Weight = append(g.Weight, min(all[at+1], math.MaxInt32))
			at += 2
		}
		g.First = append(g.First, len(g.To))
	}
	place, before, after := topology.ArrangeGraph(g, c.hosts(c.Size()))
	c.logGain(k, before, after)
	if place == nil {
		return t, nil, nil
	}
	at = begins[place[c.Rank()]]
	counts := all[at : at+2]
	at += 2
	arranged := &DistGraph{weighted: t.weighted}
	for i := range arranged.edges {
		e := &arranged.edges[i]
		if t.weighted {
			e.weights = []int{}
		}
		for range counts[i] {
			e.ranks = append(e.ranks, int(all[at]))
			if t.weighted {
				e.weights = append(e.weights, int(all[at+1]))
			}
			at += 2
		}
	}
	return arranged, place, nil
}

// exchangeLists sends a list to each rank, and returns those for this process, one behind the other
// in the order of the ranks that sent them. Collective over c.
func (c *Comm) exchangeLists(k call.Number, parts [][]int64) ([]int64, error) {
	n := c.Size()
	counts, theirs := make([]int64, n), make([]int64, n)
	for r, p := range parts {
		counts[r] = int64(len(p))
	}
	a := coll.Args{Send: coll.Bytes(memory(counts)), Recv: coll.Bytes(memory(theirs)), Width: 8, Call: k}
	if err := c.w.Coll.Do(c.core, coll.Alltoall, &a); err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	send, recv := slices.Concat(parts...), 0
	sendCounts, recvCounts := make([]int, n), make([]int, n)
	for r := range n {
		sendCounts[r], recvCounts[r] = int(counts[r]), int(theirs[r])
		recv += recvCounts[r]
	}
	got := make([]int64, recv)
	a = coll.Args{Send: coll.Bytes(memory(send)), Recv: coll.Bytes(memory(got)), Width: 8, Call: k}
	a = a.WithSendBlocks(sendCounts, nil).WithRecvBlocks(recvCounts, nil)
	if err := c.w.Coll.Do(c.core, coll.Alltoallv, &a); err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	return got, nil
}
