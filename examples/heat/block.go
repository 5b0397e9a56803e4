package main

import (
	"math"

	"github.com/halo-mpi/halo/mpi"
)

// block is one rank's part of the picture, w x h cells with a frame one cell
// wide around them, the halo: copies of the cells next to the block, which
// belong to the neighbours. A row has w+2 cells, there are h+2 rows, and the
// first cell of the block itself is at (1, 1).
//
// A step reads cells, writes next, and swaps the two.
type block struct {
	w, h        int
	cells, next []float64

	north, south, west, east int // ranks, or ProcNull

	// Columns are not contiguous: they travel in these.
	toWest, toEast, fromWest, fromEast []float64

	requests [8]mpi.Request
}

func newBlock(l layout, plate *mpi.Comm) (*block, error) {
	x0, y0, x1, y1 := l.bounds(plate.Rank())
	w, h := x1-x0, y1-y0
	north, south, err := plate.Cart().Shift(0, 1)
	if err != nil {
		return nil, err
	}
	west, east, err := plate.Cart().Shift(1, 1)
	if err != nil {
		return nil, err
	}
	return &block{
		w: w, h: h,
		cells: make([]float64, (w+2)*(h+2)),
		next:  make([]float64, (w+2)*(h+2)),
		north: north, south: south, west: west, east: east,
		toWest: make([]float64, h), toEast: make([]float64, h),
		fromWest: make([]float64, h), fromEast: make([]float64, h),
	}, nil
}

// row returns the w cells of row y without the halo at its ends; rows 0 and h+1
// are halo.
func (b *block) row(y int) []float64 {
	start := y*(b.w+2) + 1
	return b.cells[start : start+b.w]
}

// Tags say which way a message travels.
const (
	northward = iota
	southward
	westward
	eastward
	arrived // nothing travels: it did before
)

// copyEdges makes the columns at the edges contiguous. Where the picture ends nothing
// arrives, and the halo keeps what it has here, a copy of the edge itself: no heat
// flows where there is no difference.
func (b *block) copyEdges() {
	for y := range b.h {
		row := b.row(y + 1)
		b.toWest[y], b.toEast[y] = row[0], row[b.w-1]
	}
	copy(b.row(0), b.row(1))
	copy(b.row(b.h+1), b.row(b.h))
	copy(b.fromWest, b.toWest)
	copy(b.fromEast, b.toEast)
}

// pasteColumns puts the columns that have arrived into the halo.
func (b *block) pasteColumns() {
	for y := range b.h {
		start := (y + 1) * (b.w + 2)
		b.cells[start], b.cells[start+b.w+1] = b.fromWest[y], b.fromEast[y]
	}
}

// messages fills the halo by messages.
type messages struct {
	*block
	plate *mpi.Comm
}

// exchange fills the halo. All eight messages are under way at once.
func (m messages) exchange() error {
	b, plate := m.block, m.plate
	b.copyEdges()
	b.requests = [8]mpi.Request{
		mpi.Irecv(plate, b.row(0), b.north, southward),
		mpi.Irecv(plate, b.row(b.h+1), b.south, northward),
		mpi.Irecv(plate, b.fromWest, b.west, eastward),
		mpi.Irecv(plate, b.fromEast, b.east, westward),
		mpi.Isend(plate, b.row(1), b.north, northward),
		mpi.Isend(plate, b.row(b.h), b.south, southward),
		mpi.Isend(plate, b.toWest, b.west, westward),
		mpi.Isend(plate, b.toEast, b.east, eastward),
	}
	if err := mpi.Waitall(b.requests[:], nil); err != nil {
		return err
	}
	b.pasteColumns()
	return nil
}

func (messages) free() error { return nil }

// conductivity is the part of the difference that flows in one step; beyond 1/4
// the scheme is unstable.
const conductivity = 0.2

// step computes the next state of the block and returns the largest change of a
// cell. A cell is computed by the same expression for any division into blocks, so the
// bits are the same; the conversion to float64 keeps compilers from fusing
// multiplication and addition on some machines only.
func (b *block) step() float64 {
	residual := 0.0
	stride := b.w + 2
	for y := 1; y <= b.h; y++ {
		up := b.cells[(y-1)*stride:][:stride]
		mid := b.cells[y*stride:][:stride]
		down := b.cells[(y+1)*stride:][:stride]
		next := b.next[y*stride:][:stride]
		for x := 1; x <= b.w; x++ {
			flow := (up[x] + down[x]) + (mid[x-1] + mid[x+1]) - 4*mid[x]
			change := float64(conductivity * flow)
			next[x] = mid[x] + change
			residual = max(residual, math.Abs(change))
		}
	}
	b.cells, b.next = b.next, b.cells
	return residual
}
