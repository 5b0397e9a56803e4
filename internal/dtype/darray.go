package dtype

import "github.com/halo-mpi/halo/internal/class"

// Distribute says how a dimension of an array is distributed over a dimension of a
// grid of processes.
type Distribute struct {
	Size  int64 // of the array
	Kind  Distribution
	Arg   int64 // length of blocks, or DistributeDefault
	Procs int64 // in this dimension of the grid
}

// Darray makes the part of a distributed array of old that process rank of size processes
// holds. The grid of processes is in C order, whatever the order of the array.
func Darray(size, rank int64, dims []Distribute, order Order, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkDims(len(dims)), checkOrder(order)); err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, class.Errorf(class.Arg, "size %d is not positive", size)
	}
	if rank < 0 || rank >= size {
		return nil, class.Errorf(class.Rank, "rank %d is not in 0 to %d", rank, size-1)
	}
	made := call{CombinerDarray, []int64{size, rank, int64(len(dims))}, nil, []*Type{old}}
	var procs checked
	grid := int64(1)
	for i, d := range dims {
		if err := d.check(i); err != nil {
			return nil, err
		}
		grid = procs.mul(grid, d.Procs)
	}
	if procs.overflow || grid != size {
		return nil, class.Errorf(class.Arg, "the grid has %d processes, size is %d", grid, size)
	}
	for _, field := range []func(d Distribute) int64{
		func(d Distribute) int64 { return d.Size },
		func(d Distribute) int64 { return int64(d.Kind) },
		func(d Distribute) int64 { return d.Arg },
		func(d Distribute) int64 { return d.Procs },
	} {
		for _, d := range dims {
			made.ints = append(made.ints, field(d))
		}
	}
	made.ints = append(made.ints, int64(order))

	var b bounds
	lay, n, ex := old.lay, int64(1), old.lay.extent()
	shares := sharesOf(&made)
	for i := range dims {
		d := dimension(i, len(dims), order)
		s := shares[d]
		b.layout, b.marked = layout{}, false
		lay.marked = false
		b.grid(&lay, b.mul(s.start, ex), s.blocks, b.mul(s.stride, ex), s.block, ex)
		b.grid(&lay, b.mul(s.start+s.blocks*s.stride, ex), 1, 0, s.rest, ex)
		lay = b.layout
		n = b.mul(n, s.blocks*s.block+s.rest)
		ex = b.mul(ex, dims[d].Size)
	}
	b.mark(0, ex)
	return single(&b, n, old, CombinerDarray, nil, made.ints)
}

func (d *Distribute) check(i int) error {
	switch {
	case d.Size < 1:
		return class.Errorf(class.Arg, "size %d of dimension %d is not positive", d.Size, i)
	case d.Procs < 1:
		return class.Errorf(class.Arg, "%d processes in dimension %d", d.Procs, i)
	case d.Kind != DistributeNone && d.Kind != DistributeBlock && d.Kind != DistributeCyclic:
		return class.Errorf(class.Arg, "distribution %d of dimension %d is unknown", int(d.Kind), i)
	case d.Kind == DistributeNone && d.Procs != 1:
		return class.Errorf(class.Arg, "dimension %d is not distributed, but has %d processes", i, d.Procs)
	case d.Kind == DistributeNone || d.Arg == DistributeDefault:
	case d.Arg < 1:
		return class.Errorf(class.Arg, "distribution argument %d of dimension %d is not positive", d.Arg, i)
	case d.Kind == DistributeBlock && d.Arg < (d.Size-1)/d.Procs+1:
		return class.Errorf(class.Arg, "blocks of %d for %d processes do not cover the size %d of dimension %d",
			d.Arg, d.Procs, d.Size, i)
	}
	return nil
}

// share is the part of one dimension that a process holds: blocks of length block, stride
// apart, and a shorter last block of length rest at the place of the next one. Lengths are
// in elements of the dimension.
type share struct {
	start, blocks, stride, block, rest int64
}

// sharesOf returns the share in each dimension for a type that Darray made.
func sharesOf(c *call) []share {
	nd := int(c.ints[2])
	field := func(k, i int) int64 { return c.ints[3+k*nd+i] }
	out := make([]share, nd)
	size, rank := c.ints[0], c.ints[1]
	for i := range out {
		procs := field(3, i)
		size /= procs
		coord := rank / size
		rank %= size
		out[i] = deal(Distribute{field(0, i), Distribution(field(1, i)), field(2, i), procs}, coord)
	}
	return out
}

// deal is the share of the process at coordinate r.
func deal(d Distribute, r int64) share {
	block := d.Arg
	switch {
	case d.Kind == DistributeNone:
		block = d.Size
	case block != DistributeDefault:
	case d.Kind == DistributeBlock:
		block = (d.Size-1)/d.Procs + 1
	default:
		block = 1
	}
	block = min(block, d.Size) // a longer block holds no more, and its products could overflow
	all := (d.Size-1)/block + 1
	if r >= all { // nothing left for this process
		return share{}
	}
	s := share{start: r * block, stride: d.Procs * block, block: block}
	s.blocks = (all-r-1)/d.Procs + 1
	if last := d.Size - (all-1)*block; (all-1)%d.Procs == r && last < block {
		s.blocks--
		s.rest = last
	}
	if s.blocks <= 1 && s.rest == 0 {
		s.stride = 0
	}
	return s
}

// darrayNode is the loop program of a type that Darray made.
func darrayNode(c *call, sub *node) *node {
	nd := int(c.ints[2])
	ex := c.types[0].lay.extent()
	shares := sharesOf(c)
	for i := range nd {
		d := dimension(i, nd, Order(c.ints[len(c.ints)-1]))
		s := shares[d]
		var q sequence
		q.repeat(s.blocks, s.stride*ex, repeat(s.block, ex, sub), 0)
		q.repeat(s.rest, ex, sub, s.blocks*s.stride*ex)
		sub = q.node().at(s.start * ex)
		ex *= c.ints[3+d]
	}
	return sub
}
