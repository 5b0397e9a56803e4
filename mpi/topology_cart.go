package mpi

import (
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/topology"
)

// Cart is the Cartesian topology of a communicator: its ranks are the positions of a grid, in
// row-major order, so that the coordinate in the last dimension varies fastest (section 8.4).
//
// C: none; calls on the communicator, which are methods here.
type Cart struct {
	c *Comm
	g *topology.Grid
}

func (t *Cart) kind() Topology       { return CartTopology }
func (t *Cart) on(c *Comm) structure { return &Cart{c, t.g} }

func (t *Cart) neighbors(rank int) *comm.Neighbors {
	list := make([]int, 2*len(t.g.Dims))
	t.g.Neighbors(rank, list)
	return &comm.Neighbors{Sources: list, Dests: list, Grid: true}
}

// Cart returns the Cartesian topology of the communicator, nil if it has none.
//
// C: none; MPI_Cart_get and other calls take the communicator.
func (c *Comm) Cart() *Cart {
	t, _ := c.topology.(*Cart)
	return t
}

// CartCreate makes a communicator with a Cartesian topology of the given lengths of dimensions;
// periods says which of them are periodic. Members of c beyond the grid get nil. A grid without
// dimensions has one position.
//
// With reorder ranks may differ from those in c, so that fewer neighbours are on different hosts.
// Without, or if no arrangement is better, they are the same.
//
// ErrDims if a dimension is shorter than 1, or the grid has more positions than c has members.
// Collective over c, and all pass the same arguments.
//
// C: MPI_Cart_create, section 8.5.1.
func (c *Comm) CartCreate(dims []int, periods []bool, reorder bool) (*Comm, error) {
	const k = call.CartCreate
	g, err := c.shape(k, dims, periods)
	if err != nil {
		return nil, err
	}
	var place []int32
	if reorder {
		var before, after int
		place, before, after = topology.Arrange(g, c.hosts(g.Size()))
		c.logGain(k, int64(before), int64(after))
	}
	d, err := c.arranged(k, g.Size(), place)
	if d != nil {
		d.setTopology(&Cart{d, g})
	}
	return d, err
}

// CartMap returns the rank that CartCreate with reorder would give this process, Undefined if it
// is beyond the grid. It is local.
//
// C: MPI_Cart_map, section 8.5.8.
func (c *Comm) CartMap(dims []int, periods []bool) (int, error) {
	g, err := c.shape(call.CartMap, dims, periods)
	if err != nil {
		return Undefined, err
	}
	place, _, _ := topology.Arrange(g, c.hosts(g.Size()))
	return c.rankOf(g.Size(), place), nil
}

// Dims returns the lengths of the dimensions.
//
// C: MPI_Cartdim_get, MPI_Cart_get, section 8.5.5.
func (t *Cart) Dims() []int { return slices.Clone(t.g.Dims) }

// Periods tells which dimensions are periodic.
//
// C: MPI_Cart_get, section 8.5.5.
func (t *Cart) Periods() []bool { return slices.Clone(t.g.Periods) }

// Coords returns the coordinates of a rank; ErrRank if it is none of the communicator.
//
// C: MPI_Cart_coords, section 8.5.5.
func (t *Cart) Coords(rank int) ([]int, error) {
	if err := t.c.usable(call.CartCoords); err != nil {
		return nil, err
	}
	if rank < 0 || rank >= t.c.Size() {
		return nil, fail(ErrRank, call.CartCoords, t.c, "rank %d is not in 0..%d", rank, t.c.Size()-1)
	}
	coords := make([]int, len(t.g.Dims))
	t.g.Coords(rank, coords)
	return coords, nil
}

// Rank returns the rank with the given coordinates. In a periodic dimension they count modulo its
// length; elsewhere a coordinate that is out of range is ErrArg, and so is any other number of
// coordinates than there are dimensions.
//
// C: MPI_Cart_rank, section 8.5.5.
func (t *Cart) Rank(coords ...int) (int, error) {
	if err := t.c.usable(call.CartRank); err != nil {
		return ProcNull, err
	}
	if len(coords) != len(t.g.Dims) {
		return ProcNull, fail(ErrArg, call.CartRank, t.c, "%d coordinates in a grid of %d dimensions", len(coords), len(t.g.Dims))
	}
	r := t.g.Position(coords)
	if r == topology.None {
		return ProcNull, fail(ErrArg, call.CartRank, t.c, "coordinates %d in a grid of dimensions %d, periodic %t", coords, t.g.Dims, t.g.Periods)
	}
	return r, nil
}

// Shift returns the ranks that a shift by disp steps in a dimension comes from and goes to: the
// source and dest of a Sendrecv. Beyond the end of a dimension that is not periodic that is
// ProcNull. ErrDims if there is no such dimension.
//
// C: MPI_Cart_shift, section 8.5.6.
func (t *Cart) Shift(dim, disp int) (source, dest int, err error) {
	if err := t.c.usable(call.CartShift); err != nil {
		return ProcNull, ProcNull, err
	}
	if dim < 0 || dim >= len(t.g.Dims) {
		return ProcNull, ProcNull, fail(ErrDims, call.CartShift, t.c, "dimension %d of a grid of %d dimensions", dim, len(t.g.Dims))
	}
	source, dest = t.g.Shift(t.c.Rank(), dim, disp)
	return orNobody(source), orNobody(dest), nil
}

// orNobody is a rank, ProcNull for the position of nobody.
func orNobody(at int) int {
	if at == topology.None {
		return ProcNull
	}
	return at
}

// Sub makes a communicator of those that have the same coordinates in the dimensions which do not
// remain, with a Cartesian topology of the dimensions which do. ErrDims unless remain has a value
// for each dimension. Collective over the communicator, and all pass the same.
//
// C: MPI_Cart_sub, section 8.5.7.
func (t *Cart) Sub(remain ...bool) (*Comm, error) {
	const k = call.CartSub
	if err := t.c.usable(k); err != nil {
		return nil, err
	}
	if len(remain) != len(t.g.Dims) {
		return nil, fail(ErrDims, k, t.c, "%d values for a grid of %d dimensions", len(remain), len(t.g.Dims))
	}
	sub, part, place := t.g.Sub(remain, t.c.Rank())
	defer t.c.core.Begin(k)()
	core, err := t.c.w.Coll.Split(t.c.core, part, place)
	d, err := t.c.created(k, core, err)
	if d != nil {
		d.setTopology(&Cart{d, &sub})
	}
	return d, err
}
