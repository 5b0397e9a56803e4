package mpi

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/topology"
)

// Graph is the graph topology of a communicator: every process knows the edges of all (section
// 8.4).
//
// C: none; calls on the communicator, which are methods here.
type Graph struct {
	c *Comm
	g *topology.Graph
}

func (t *Graph) kind() Topology       { return GraphTopology }
func (t *Graph) on(c *Comm) structure { return &Graph{c, t.g} }

func (t *Graph) neighbors(rank int) *comm.Neighbors {
	list := ranks(t.g.To[t.g.First[rank]:t.g.First[rank+1]])
	n := &comm.Neighbors{Sources: list, Dests: list}
	if a, b, there, back, ok := t.g.Unpaired(); ok {
		n.Wrong = fmt.Sprintf("the graph is not symmetric: rank %d has %d edges to rank %d, which has %d to it", a, there, b, back)
	}
	return n
}

// Graph returns the graph topology of the communicator, nil if it has none.
//
// C: none; MPI_Graph_get and other calls take the communicator.
func (c *Comm) Graph() *Graph {
	t, _ := c.topology.(*Graph)
	return t
}

// GraphCreate makes a communicator with the topology of a graph of len(index) nodes. The
// neighbours of node i are edges[index[i-1]:index[i]], with 0 for index[-1]; a node may be its own
// neighbour, and several times that of another one. Members of c beyond the nodes get nil.
//
// With reorder ranks may differ from those in c, so that fewer neighbours are on different hosts;
// without, or if nothing is gained, they are the same.
//
// ErrArg if there are more nodes than members of c, index decreases or does not end at len(edges),
// or a neighbour is no node. Collective over c, and all pass the same arguments.
//
// C: MPI_Graph_create, section 8.5.3.
func (c *Comm) GraphCreate(index, edges []int, reorder bool) (*Comm, error) {
	const k = call.GraphCreate
	g, err := c.graph(k, index, edges)
	if err != nil {
		return nil, err
	}
	var place []int32
	if reorder {
		var before, after int64
		place, before, after = topology.ArrangeGraph(g, c.hosts(g.Size()))
		c.logGain(k, before, after)
	}
	d, err := c.arranged(k, g.Size(), place)
	if d != nil {
		d.setTopology(&Graph{d, g})
	}
	return d, err
}

// GraphMap returns the rank that GraphCreate with reorder would give this process, Undefined if it
// is beyond the nodes. It is local.
//
// C: MPI_Graph_map, section 8.5.8.
func (c *Comm) GraphMap(index, edges []int) (int, error) {
	g, err := c.graph(call.GraphMap, index, edges)
	if err != nil {
		return Undefined, err
	}
	place, _, _ := topology.ArrangeGraph(g, c.hosts(g.Size()))
	return c.rankOf(g.Size(), place), nil
}

// graph checks the arguments that describe a graph on c, and returns it.
func (c *Comm) graph(k call.Number, index, edges []int) (*topology.Graph, error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	if err := c.intra(k); err != nil {
		return nil, err
	}
	if len(index) > c.Size() {
		return nil, fail(ErrArg, k, c, "a graph of %d nodes on a communicator of %d members", len(index), c.Size())
	}
	g := &topology.Graph{First: make([]int, 1, len(index)+1), To: make([]int32, len(edges))}
	for i, end := range index {
		if end < g.First[i] || end > len(edges) {
			return nil, fail(ErrArg, k, c, "the neighbours of node %d end at %d, and begin at %d of %d edges", i, end, g.First[i], len(edges))
		}
		g.First = append(g.First, end)
	}
	if end := g.First[len(index)]; end != len(edges) {
		return nil, fail(ErrArg, k, c, "the neighbours of all nodes are %d, and there are %d edges", end, len(edges))
	}
	for i, to := range edges {
		if to < 0 || to >= len(index) {
			return nil, fail(ErrArg, k, c, "edge %d goes to node %d, which is not in 0..%d", i, to, len(index)-1)
		}
		g.To[i] = int32(to)
	}
	return g, nil
}

// Index returns, for each node, where its neighbours end in Edges.
//
// C: MPI_Graphdims_get, MPI_Graph_get, section 8.5.5.
func (t *Graph) Index() []int { return slices.Clone(t.g.First[1:]) }

// Edges returns the neighbours of all nodes, those of one node after those of the one before.
//
// C: MPI_Graphdims_get, MPI_Graph_get, section 8.5.5.
func (t *Graph) Edges() []int { return ranks(t.g.To) }

// Neighbors returns the neighbours of a rank, in the order in which they were given; ErrRank if it
// is none of the communicator.
//
// C: MPI_Graph_neighbors_count, MPI_Graph_neighbors, section 8.5.5.
func (t *Graph) Neighbors(rank int) ([]int, error) {
	const k = call.GraphNeighbors
	if err := t.c.usable(k); err != nil {
		return nil, err
	}
	if rank < 0 || rank >= t.g.Size() {
		return nil, fail(ErrRank, k, t.c, "rank %d is not in 0..%d", rank, t.g.Size()-1)
	}
	return ranks(t.g.To[t.g.First[rank]:t.g.First[rank+1]]), nil
}

// ranks is a list of nodes as ranks.
func ranks(list []int32) []int {
	all := make([]int, len(list))
	for i, r := range list {
		all[i] = int(r)
	}
	return all
}
