package benchmark

import (
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// array is a global array of doubles in C order, distributed in blocks over a grid of ranks. Rank r has
// the slab with a share of the planes along the first dimension, too: the one that it accesses by
// hand, after an exchange with those that have parts of it.
type array struct {
	x           *files
	name        string
	dims, grid  []int
	part, start []int // the block of this rank
	mem         []byte
	slab        []byte // planes [lo, hi)
	lo, hi      int
	staged      []byte // what goes from blocks to the slab or back, by rank of the block

	give, giveAt, take, takeAt []int // bytes of the block for each slab, and of the slab for each block
}

// arrays are the loops of file-array. In three dimensions the first ones are divided first, so that the runs in
// the file are long; in four dimensions the last ones.
func (x *files) arrays() ([]fileLoop, error) {
	n, ranks := x.size, x.world.Size()
	var list []fileLoop
	for _, dims := range [][]int{{n, n, n}, {n / 2, n / 2, n / 4, 16}} {
		a := &array{x: x, name: map[int]string{3: "3-D", 4: "4-D"}[len(dims)], dims: dims, grid: make([]int, len(dims))}
		if err := mpi.DimsCreate(ranks, a.grid); err != nil {
			return nil, err
		}
		if len(dims) == 4 {
			slices.Reverse(a.grid)
		}
		a.part, a.start = a.block(x.world.Rank())
		a.mem = written[byte](bytesOf(a.part))
		a.plan()
		more, err := a.loops()
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// bytesOf is the number of bytes of doubles.
func bytesOf(dims []int) int {
	n := 8
	for _, v := range dims {
		n *= v
	}
	return n
}

// block returns the sizes and the first indexes of a rank's block. The blocks at the end of a dimension
// have what does not divide.
func (a *array) block(rank int) (part, start []int) {
	part, start = make([]int, len(a.dims)), make([]int, len(a.dims))
	for d := len(a.dims) - 1; d >= 0; d-- {
		at := rank % a.grid[d]
		rank /= a.grid[d]
		start[d] = a.dims[d] * at / a.grid[d]
		part[d] = a.dims[d]*(at+1)/a.grid[d] - start[d]
	}
	return part, start
}

// plan computes what goes between blocks and slabs. The planes that a block and a slab have in
// common are contiguous in the memory of the block.
func (a *array) plan() {
	ranks, rank := a.x.world.Size(), a.x.world.Rank()
	slab := func(r int) (lo, hi int) { return a.dims[0] * r / ranks, a.dims[0] * (r + 1) / ranks }
	a.lo, a.hi = slab(rank)
	a.slab = written[byte]((a.hi - a.lo) * bytesOf(a.dims[1:]))
	a.staged = written[byte](len(a.slab))
	a.give, a.giveAt, a.take, a.takeAt = make([]int, ranks), make([]int, ranks), make([]int, ranks), make([]int, ranks)
	at := 0
	for r := range ranks {
		lo, hi := slab(r)
		lo, hi = max(lo, a.start[0]), min(hi, a.start[0]+a.part[0])
		if hi > lo {
			plane := bytesOf(a.part[1:])
			a.give[r], a.giveAt[r] = (hi-lo)*plane, (lo-a.start[0])*plane
		}
		part, start := a.block(r)
		a.takeAt[r] = at
		if lo, hi := max(a.lo, start[0]), min(a.hi, start[0]+part[0]); hi > lo {
			a.take[r] = (hi - lo) * bytesOf(part[1:])
			at += a.take[r]
		}
	}
}

func (a *array) loops() ([]fileLoop, error) {
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		return nil, err
	}
	t, err := mpi.TypeSubarray(a.dims, a.part, a.start, mpi.OrderC, double)
	if err == nil {
		err = t.Commit()
	}
	if err != nil {
		return nil, err
	}
	// Each loop sets its view: those of both arrays are measured in turn.
	loop := func(access func() error) func(n int) error {
		return func(n int) error {
			if err := a.x.f.SetView(0, double, t, "native"); err != nil {
				return err
			}
			for range n {
				if err := access(); err != nil {
					return err
				}
			}
			return a.x.world.Barrier() // the slowest rank counts
		}
	}
	// Members that access the file alone wait for each other, as those that exchange by hand do. Else the ranks
	// that share a core repeat the access in each of its time slices, with the memory of one rank in the cache.
	alone := func(_ mpi.Status, err error) error {
		if err != nil {
			return err
		}
		return a.x.world.Barrier()
	}
	return []fileLoop{
		{a.name + " write", loop(func() error { _, err := mpi.WriteAtAll(a.x.f, 0, a.mem); return err }), a},
		{a.name + " write alone", loop(func() error { return alone(mpi.WriteAt(a.x.f, 0, a.mem)) }), a},
		{a.name + " write by hand", loop(a.write), a},
		{a.name + " read", loop(func() error { _, err := mpi.ReadAtAll(a.x.f, 0, a.mem); return err }), a},
		{a.name + " read alone", loop(func() error { return alone(mpi.ReadAt(a.x.f, 0, a.mem)) }), a},
		{a.name + " read by hand", loop(a.read), a},
	}, nil
}

// offset is that of the slab in the file.
func (a *array) offset() int64 { return int64(a.lo * bytesOf(a.dims[1:])) }

// write writes the array by hand.
func (a *array) write() error {
	if err := mpi.Alltoallv(a.x.world, a.mem, a.give, a.giveAt, a.staged, a.take, a.takeAt); err != nil {
		return err
	}
	a.each(func(slab, staged []byte) { copy(slab, staged) })
	_, err := a.x.hand.WriteAt(a.slab, a.offset())
	return err
}

// read reads it by hand.
func (a *array) read() error {
	if _, err := a.x.hand.ReadAt(a.slab, a.offset()); err != nil {
		return err
	}
	a.each(func(slab, staged []byte) { copy(staged, slab) })
	return mpi.Alltoallv(a.x.world, a.staged, a.take, a.takeAt, a.mem, a.give, a.giveAt)
}

// each calls do for the rows of all blocks in the slab.
func (a *array) each(do func(slab, staged []byte)) {
	last := len(a.dims) - 1
	index := make([]int, last)
	for r := range a.take {
		if a.take[r] == 0 {
			continue
		}
		part, start := a.block(r)
		lo, hi := max(a.lo, start[0])-a.lo, min(a.hi, start[0]+part[0])-a.lo
		start[0], part[0] = lo, hi-lo
		clear(index)
		row := 8 * part[last]
		staged := a.staged[a.takeAt[r]:]
		for {
			at := 0
			for d := range last {
				at = (at + start[d] + index[d]) * a.dims[d+1]
			}
			at = 8 * (at + start[last])
			do(a.slab[at:at+row], staged[:row])
			staged = staged[row:]
			d := last - 1
			for ; d >= 0; d-- {
				index[d]++
				if index[d] < part[d] {
					break
				}
				index[d] = 0
			}
			if d < 0 {
				break
			}
		}
	}
}
