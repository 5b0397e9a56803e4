package topology

// A Grid is a Cartesian grid of processes. A process is called by its position, in row-major order:
// the coordinate in the last dimension varies fastest. A grid without dimensions has one position.
type Grid struct {
	Dims    []int  // at least 1 each
	Periods []bool // by dimension: the last coordinate is next to the first
}

// None is the position of no process, as beyond the end of a dimension that is not periodic.
const None = -1

// Size is the number of positions.
func (g *Grid) Size() int {
	n := 1
	for _, d := range g.Dims {
		n *= d
	}
	return n
}

// Position returns the position with the given coordinates. A coordinate beyond the end counts
// modulo the dimension where that is periodic; elsewhere the result is None.
func (g *Grid) Position(coords []int) int {
	at := 0
	for i, d := range g.Dims {
		c := coords[i]
		if c < 0 || c >= d {
			if !g.Periods[i] {
				return None
			}
			c %= d
			if c < 0 {
				c += d
			}
		}
		at = at*d + c
	}
	return at
}

// Coords writes the coordinates of a position to coords, which has a place for each dimension.
func (g *Grid) Coords(at int, coords []int) {
	for i := len(g.Dims) - 1; i >= 0; i-- {
		coords[i] = at % g.Dims[i]
		at /= g.Dims[i]
	}
}

// Shift returns the positions from which and to which a position shifts by disp in a dimension;
// None where there is none.
func (g *Grid) Shift(at, dim, disp int) (source, dest int) {
	stride := 1
	for _, d := range g.Dims[dim+1:] {
		stride *= d
	}
	d := g.Dims[dim]
	c := at / stride % d
	base := at - c*stride
	place := func(c int) int {
		switch {
		case c >= 0 && c < d:
		case !g.Periods[dim]:
			return None
		default:
			c %= d
			if c < 0 {
				c += d
			}
		}
		return base + c*stride
	}
	// A displacement is reduced first where it would overflow.
	if g.Periods[dim] {
		disp %= d
	} else {
		disp = max(min(disp, d), -d)
	}
	return place(c - disp), place(c + disp)
}

// Neighbors writes the neighbours of a position to list, which has two places for each dimension:
// first the one before in the dimension, then the one behind (section 8.6).
func (g *Grid) Neighbors(at int, list []int) {
	for dim := range g.Dims {
		list[2*dim], list[2*dim+1] = g.Shift(at, dim, 1)
	}
}

// Sub returns the grid of the dimensions that remain, the number of the part that a position is
// in, parts in row-major order of the dropped dimensions, and the position in the part.
func (g *Grid) Sub(remain []bool, at int) (sub Grid, part, place int) {
	coords := make([]int, len(g.Dims))
	g.Coords(at, coords)
	for i, d := range g.Dims {
		if remain[i] {
			sub.Dims, sub.Periods = append(sub.Dims, d), append(sub.Periods, g.Periods[i])
			place = place*d + coords[i]
		} else {
			part = part*d + coords[i]
		}
	}
	return sub, part, place
}
