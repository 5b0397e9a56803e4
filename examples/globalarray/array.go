package main

import (
	"errors"

	"github.com/halo-mpi/halo/mpi"
)

// array is a matrix that is distributed in blocks over the memory of all ranks. Any rank accesses
// patches of it, as in the Global Arrays toolkit. A patch may span the blocks of several ranks. The
// part in one block is one operation, with a datatype on either side: rows of the patch, whose
// distance is the width of the patch, become rows of the block.
//
// Between two syncs patches that ranks put or get may not overlap patches that others put.
// Patches that they accumulate may overlap: accumulates are atomic for each number, and those of
// one rank on a number happen in the order of its calls.
type array struct {
	world      *mpi.Comm
	win        mpi.Win[float64]
	number     mpi.Datatype
	rows, cols int
	up, across int // blocks
}

// newArray makes one of zeros.
func newArray(world *mpi.Comm, rows, cols int) (*array, error) {
	a := &array{world: world, rows: rows, cols: cols, up: 1, across: world.Size()}
	for d := 2; d*d <= world.Size(); d++ { // blocks about as high as wide
		if world.Size()%d == 0 {
			a.up, a.across = d, world.Size()/d
		}
	}
	var err error
	a.number, err = mpi.TypeOf[float64]()
	if err != nil {
		return nil, err
	}
	mine := a.block(world.Rank())
	a.win, err = mpi.WinAllocate[float64](world, mine.rows*mine.cols)
	if err != nil {
		return nil, err
	}
	return a, a.win.LockAll(mpi.ModeNoCheck)
}

func (a *array) free() error {
	if err := a.win.UnlockAll(); err != nil {
		return err
	}
	return a.win.Free()
}

// patch is some rows of some columns.
type patch struct{ row, col, rows, cols int }

// block is the patch that is in a rank's memory.
func (a *array) block(rank int) patch {
	r, c := rank/a.across, rank%a.across
	row, col := r*a.rows/a.up, c*a.cols/a.across
	return patch{row, col, (r+1)*a.rows/a.up - row, (c+1)*a.cols/a.across - col}
}

// and is what is in both patches.
func (p patch) and(q patch) patch {
	row, col := max(p.row, q.row), max(p.col, q.col)
	return patch{row, col, min(p.row+p.rows, q.row+q.rows) - row, min(p.col+p.cols, q.col+q.cols) - col}
}

// put starts to write a patch, whose numbers are row by row. Like get and acc it does not wait:
// after sync the numbers may be reused, and other ranks see them.
func (a *array) put(p patch, numbers []float64) error {
	return a.each(p, numbers, func(b mpi.Buffer, rank, disp int, there mpi.Datatype) error {
		return a.win.Untyped().Put(b, rank, int64(disp), 1, there)
	})
}

// get reads a patch.
func (a *array) get(p patch, numbers []float64) error {
	return a.each(p, numbers, func(b mpi.Buffer, rank, disp int, there mpi.Datatype) error {
		return a.win.Untyped().Get(b, rank, int64(disp), 1, there)
	})
}

// acc combines a patch with numbers.
func (a *array) acc(p patch, numbers []float64, op mpi.Op) error {
	return a.each(p, numbers, func(b mpi.Buffer, rank, disp int, there mpi.Datatype) error {
		return a.win.Untyped().Accumulate(b, rank, int64(disp), 1, there, op)
	})
}

// each calls do for every rank that has some of a patch, with that part of the numbers, and
// where it is at the rank.
func (a *array) each(p patch, numbers []float64, do func(b mpi.Buffer, rank, disp int, there mpi.Datatype) error) error {
	for rank := range a.world.Size() {
		block := a.block(rank)
		part := p.and(block)
		if part.rows <= 0 || part.cols <= 0 {
			continue
		}
		here, err := a.layout(part, p.cols)
		if err != nil {
			return err
		}
		there, err := a.layout(part, block.cols)
		if err != nil {
			return err
		}
		first := (part.row-p.row)*p.cols + part.col - p.col
		disp := (part.row-block.row)*block.cols + part.col - block.col
		if err := do(mpi.BufOf(numbers[first:], 1, here), rank, disp, there); err != nil {
			return err
		}
		// Operations that were started keep their datatypes alive.
		if err := errors.Join(here.Free(), there.Free()); err != nil {
			return err
		}
	}
	return nil
}

// layout is the datatype of a patch in memory with the given distance of rows.
func (a *array) layout(p patch, apart int) (mpi.Datatype, error) {
	d, err := mpi.TypeVector(p.rows, p.cols, apart, a.number)
	if err != nil {
		return d, err
	}
	return d, d.Commit()
}

// flush waits for the operations of this rank.
func (a *array) flush() error { return a.win.FlushAll() }

// sync waits for the operations of all ranks.
func (a *array) sync() error {
	if err := a.flush(); err != nil {
		return err
	}
	return a.world.Barrier()
}
