package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// grid is the arguments of a call that describe a grid: its dimensions, and which are periodic.
func (l *Lib) grid(c *mpi.Comm, by call.Number, n int, dims, periods array) ([]int, []bool, error) {
	switch {
	case n < 0:
		return nil, nil, l.failOn(c, mpi.ErrDims, by, "%d dimensions", n)
	case n > 0 && (dims.null() || periods.null()):
		return nil, nil, l.failOn(c, mpi.ErrArg, by, "arrays of %d dimensions and periods at %#x and %#x, of which one is no address", n, dims.given, periods.given)
	}
	return dims.ints(n), periods.bools(n), nil
}

// cartCreate is MPI_Cart_create.
func (l *Lib) cartCreate(c *mpi.Comm, n int, dims, periods array, reorder int) (*mpi.Comm, error) {
	d, p, err := l.grid(c, call.CartCreate, n, dims, periods)
	if err != nil {
		return nil, err
	}
	return c.CartCreate(d, p, reorder != 0)
}

// cartMap is MPI_Cart_map.
func (l *Lib) cartMap(c *mpi.Comm, n int, dims, periods array) (int, error) {
	d, p, err := l.grid(c, call.CartMap, n, dims, periods)
	if err != nil {
		return mpi.Undefined, err
	}
	return c.CartMap(d, p)
}

// cart is the Cartesian topology of a communicator that call needs.
func (l *Lib) cart(c *mpi.Comm, by call.Number) (*mpi.Cart, error) {
	if t := c.Cart(); t != nil {
		return t, nil
	}
	return nil, l.failOn(c, mpi.ErrTopology, by, "the communicator has no topology of kind MPI_CART")
}

// cartDims is MPI_Cartdim_get.
func (l *Lib) cartDims(c *mpi.Comm) (int, error) {
	t, err := l.cart(c, call.CartdimGet)
	if err != nil {
		return 0, err
	}
	return len(t.Dims()), nil
}

// room checks that an array has room for what a call returns, n numbers of which at most max are
// wanted.
func (l *Lib) room(c *mpi.Comm, by call.Number, what string, n, max int, a array) (int, error) {
	switch {
	case max < 0:
		return 0, l.failOn(c, mpi.ErrArg, by, "room for %d %s", max, what)
	case min(n, max) > 0 && a.null():
		return 0, l.failOn(c, mpi.ErrArg, by, "room for %d %s at %#x, which is no address", max, what, a.given)
	}
	return min(n, max), nil
}

// fill stores the first n numbers of a list.
func (a array) fill(list []int, n int) {
	for i, v := range list[:n] {
		a.set(i, v)
	}
}

// cartGet is MPI_Cart_get.
func (l *Lib) cartGet(c *mpi.Comm, max int, dims, periods, coords array) error {
	t, err := l.cart(c, call.CartGet)
	if err != nil {
		return err
	}
	mine, err := t.Coords(c.Rank())
	if err != nil {
		return err
	}
	period := make([]int, len(mine))
	for i, p := range t.Periods() {
		if p {
			period[i] = 1
		}
	}
	for _, x := range []struct {
		what string
		list []int
		to   array
	}{{"dimensions", t.Dims(), dims}, {"periods", period, periods}, {"coordinates", mine, coords}} {
		n, err := l.room(c, call.CartGet, x.what, len(x.list), max, x.to)
		if err != nil {
			return err
		}
		x.to.fill(x.list, n)
	}
	return nil
}

// cartRank is MPI_Cart_rank. It reads as many coordinates as there are dimensions.
func (l *Lib) cartRank(c *mpi.Comm, coords array) (int, error) {
	t, err := l.cart(c, call.CartRank)
	if err != nil {
		return mpi.ProcNull, err
	}
	n := len(t.Dims())
	if n > 0 && coords.null() {
		return mpi.ProcNull, l.failOn(c, mpi.ErrArg, call.CartRank, "%d coordinates at %#x, which is no address", n, coords.given)
	}
	return t.Rank(coords.ints(n)...)
}

// cartCoords is MPI_Cart_coords.
func (l *Lib) cartCoords(c *mpi.Comm, rank, max int, coords array) error {
	t, err := l.cart(c, call.CartCoords)
	if err != nil {
		return err
	}
	list, err := t.Coords(rank)
	if err != nil {
		return err
	}
	n, err := l.room(c, call.CartCoords, "coordinates", len(list), max, coords)
	if err == nil {
		coords.fill(list, n)
	}
	return err
}

// cartShift is MPI_Cart_shift.
func (l *Lib) cartShift(c *mpi.Comm, dim, disp int) (source, dest int, err error) {
	t, err := l.cart(c, call.CartShift)
	if err != nil {
		return mpi.ProcNull, mpi.ProcNull, err
	}
	return t.Shift(dim, disp)
}

// cartSub is MPI_Cart_sub, which reads as many values as there are dimensions.
func (l *Lib) cartSub(c *mpi.Comm, remain array) (*mpi.Comm, error) {
	t, err := l.cart(c, call.CartSub)
	if err != nil {
		return nil, err
	}
	n := len(t.Dims())
	if n > 0 && remain.null() {
		return nil, l.failOn(c, mpi.ErrArg, call.CartSub, "%d values at %#x, which is no address", n, remain.given)
	}
	return t.Sub(remain.bools(n)...)
}

// graphArgs is the arguments of a call that describe a graph. There are as many edges as the last
// index says.
func (l *Lib) graphArgs(c *mpi.Comm, by call.Number, n int, index, edges array) (i, e []int, err error) {
	switch {
	case n < 0:
		return nil, nil, l.failOn(c, mpi.ErrArg, by, "%d nodes", n)
	case n > 0 && index.null():
		return nil, nil, l.failOn(c, mpi.ErrArg, by, "the indexes of %d nodes at %#x, which is no address", n, index.given)
	}
	i = index.ints(n)
	count := 0
	if n > 0 {
		count = i[n-1]
	}
	switch {
	case count < 0:
		return nil, nil, l.failOn(c, mpi.ErrArg, by, "the neighbours of all nodes are %d", count)
	case count > 0 && edges.null():
		return nil, nil, l.failOn(c, mpi.ErrArg, by, "%d edges at %#x, which is no address", count, edges.given)
	}
	return i, edges.ints(count), nil
}

// graphCreate is MPI_Graph_create.
func (l *Lib) graphCreate(c *mpi.Comm, n int, index, edges array, reorder int) (*mpi.Comm, error) {
	i, e, err := l.graphArgs(c, call.GraphCreate, n, index, edges)
	if err != nil {
		return nil, err
	}
	return c.GraphCreate(i, e, reorder != 0)
}

// graphMap is MPI_Graph_map.
func (l *Lib) graphMap(c *mpi.Comm, n int, index, edges array) (int, error) {
	i, e, err := l.graphArgs(c, call.GraphMap, n, index, edges)
	if err != nil {
		return mpi.Undefined, err
	}
	return c.GraphMap(i, e)
}

// graph is the graph topology of a communicator that call needs.
func (l *Lib) graph(c *mpi.Comm, by call.Number) (*mpi.Graph, error) {
	if t := c.Graph(); t != nil {
		return t, nil
	}
	return nil, l.failOn(c, mpi.ErrTopology, by, "the communicator has no topology of kind MPI_GRAPH")
}

// graphDims is MPI_Graphdims_get.
func (l *Lib) graphDims(c *mpi.Comm) (nodes, edges int, err error) {
	t, err := l.graph(c, call.GraphdimsGet)
	if err != nil {
		return 0, 0, err
	}
	return len(t.Index()), len(t.Edges()), nil
}

// graphGet is MPI_Graph_get.
func (l *Lib) graphGet(c *mpi.Comm, maxIndex, maxEdges int, index, edges array) error {
	const by = call.GraphGet
	t, err := l.graph(c, by)
	if err != nil {
		return err
	}
	i, e := t.Index(), t.Edges()
	ni, err := l.room(c, by, "indexes", len(i), maxIndex, index)
	if err != nil {
		return err
	}
	ne, err := l.room(c, by, "edges", len(e), maxEdges, edges)
	if err != nil {
		return err
	}
	index.fill(i, ni)
	edges.fill(e, ne)
	return nil
}

// graphDegree is MPI_Graph_neighbors_count.
func (l *Lib) graphDegree(c *mpi.Comm, rank int) (int, error) {
	t, err := l.graph(c, call.GraphNeighborsCount)
	if err != nil {
		return 0, err
	}
	list, err := t.Neighbors(rank)
	return len(list), err
}

// graphNeighbors is MPI_Graph_neighbors.
func (l *Lib) graphNeighbors(c *mpi.Comm, rank, max int, neighbors array) error {
	t, err := l.graph(c, call.GraphNeighbors)
	if err != nil {
		return err
	}
	list, err := t.Neighbors(rank)
	if err != nil {
		return err
	}
	n, err := l.room(c, call.GraphNeighbors, "neighbours", len(list), max, neighbors)
	if err == nil {
		neighbors.fill(list, n)
	}
	return err
}

// Addresses that stand for weights.
const (
	unweighted   = 10 // MPI_UNWEIGHTED
	weightsEmpty = 11 // MPI_WEIGHTS_EMPTY
)

// weights is an array of n weights: nil for MPI_UNWEIGHTED.
func (l *Lib) weights(c *mpi.Comm, by call.Number, n int, a array) ([]int, error) {
	switch {
	case a.given == unweighted:
		return nil, nil
	case n == 0:
		return []int{}, nil
	case a.given == weightsEmpty || a.null():
		return nil, l.failOn(c, mpi.ErrArg, by, "%d weights at %#x, which is no address", n, a.given)
	}
	return a.ints(n), nil
}

// neighbors is an array of n ranks.
func (l *Lib) neighbors(c *mpi.Comm, by call.Number, what string, n int, a array) ([]int, error) {
	switch {
	case n < 0:
		return nil, l.failOn(c, mpi.ErrArg, by, "%d %s", n, what)
	case n > 0 && a.null():
		return nil, l.failOn(c, mpi.ErrArg, by, "%d %s at %#x, which is no address", n, what, a.given)
	}
	return a.ints(n), nil
}

// distGraphCreateAdjacent is MPI_Dist_graph_create_adjacent.
func (l *Lib) distGraphCreateAdjacent(c *mpi.Comm, in int, sources, sourceWeights array, out int, dests, destWeights array, reorder int) (*mpi.Comm, error) {
	const by = call.DistGraphCreateAdjacent
	s, err := l.neighbors(c, by, "sources", in, sources)
	if err != nil {
		return nil, err
	}
	d, err := l.neighbors(c, by, "destinations", out, dests)
	if err != nil {
		return nil, err
	}
	sw, err := l.weights(c, by, in, sourceWeights)
	if err != nil {
		return nil, err
	}
	dw, err := l.weights(c, by, out, destWeights)
	if err != nil {
		return nil, err
	}
	return c.DistGraphCreateAdjacent(s, sw, d, dw, reorder != 0)
}

// distGraphCreate is MPI_Dist_graph_create.
func (l *Lib) distGraphCreate(c *mpi.Comm, n int, sources, degrees, dests, weights array, reorder int) (*mpi.Comm, error) {
	const by = call.DistGraphCreate
	s, err := l.neighbors(c, by, "sources", n, sources)
	if err != nil {
		return nil, err
	}
	g, err := l.neighbors(c, by, "degrees", n, degrees)
	if err != nil {
		return nil, err
	}
	edges := 0
	for i, d := range g {
		if d < 0 {
			return nil, l.failOn(c, mpi.ErrArg, by, "source %d, rank %d, has degree %d", i, s[i], d)
		}
		edges += d
	}
	d, err := l.neighbors(c, by, "destinations", edges, dests)
	if err != nil {
		return nil, err
	}
	w, err := l.weights(c, by, edges, weights)
	if err != nil {
		return nil, err
	}
	return c.DistGraphCreate(s, g, d, w, reorder != 0)
}

// distGraph is the distributed graph topology of a communicator that call needs.
func (l *Lib) distGraph(c *mpi.Comm, by call.Number) (*mpi.DistGraph, error) {
	if t := c.DistGraph(); t != nil {
		return t, nil
	}
	return nil, l.failOn(c, mpi.ErrTopology, by, "the communicator has no topology of kind MPI_DIST_GRAPH")
}

// distGraphDegrees is MPI_Dist_graph_neighbors_count. weighted is 1 if the graph has weights.
func (l *Lib) distGraphDegrees(c *mpi.Comm) (in, out, weighted int, err error) {
	t, err := l.distGraph(c, call.DistGraphNeighborsCount)
	if err != nil {
		return 0, 0, 0, err
	}
	s, _ := t.Sources()
	d, _ := t.Dests()
	if t.Weighted() {
		weighted = 1
	}
	return len(s), len(d), weighted, nil
}

// distGraphNeighbors is MPI_Dist_graph_neighbors. Weights are not stored where the graph has none.
func (l *Lib) distGraphNeighbors(c *mpi.Comm, maxIn int, sources, sourceWeights array, maxOut int, dests, destWeights array) error {
	t, err := l.distGraph(c, call.DistGraphNeighbors)
	if err != nil {
		return err
	}
	s, sw := t.Sources()
	d, dw := t.Dests()
	for _, x := range []struct {
		what string
		list []int
		max  int
		to   array
	}{{"sources", s, maxIn, sources}, {"weights", sw, maxIn, sourceWeights}, {"destinations", d, maxOut, dests}, {"weights", dw, maxOut, destWeights}} {
		if x.what == "weights" && x.to.given == unweighted {
			continue
		}
		n, err := l.room(c, call.DistGraphNeighbors, x.what, len(x.list), x.max, x.to)
		if err != nil {
			return err
		}
		x.to.fill(x.list, n)
	}
	return nil
}
