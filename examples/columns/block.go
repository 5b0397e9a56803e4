package main

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// A block is the columns of one rank, with a ghost column on either side: a copy of
// the neighbour's nearest.
//
//	      ghost  own columns  ghost
//	row 0   *  | *  *  *  *  |  *
//	row 1   *  | *  *  *  *  |  *
//	...
type block struct {
	world       *mpi.Comm
	rows, cols  int // of the whole matrix
	first       int // own column, counted in the whole matrix
	width       int // own columns
	cells       []float64
	left, right int // ranks

	leftGhost, leftEdge, rightEdge, rightGhost mpi.Buffer
}

func newBlock(world *mpi.Comm, rows, cols int) (*block, error) {
	rank, size := world.Rank(), world.Size()
	b := &block{world: world, rows: rows, cols: cols, first: rank * cols / size}
	b.width = (rank+1)*cols/size - b.first
	b.left, b.right = (rank+size-1)%size, (rank+1)%size // the matrix is a ring

	line := b.width + 2
	b.cells = make([]float64, rows*line)
	for i := range rows {
		for j := range b.width {
			b.cells[i*line+1+j] = number(i, b.first+j)
		}
	}

	// A column: one number from each row, a line apart.
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		return nil, err
	}
	column, err := mpi.TypeVector(rows, 1, line, double)
	if err != nil {
		return nil, err
	}
	if err := column.Commit(); err != nil {
		return nil, err
	}
	// Buffers outlive the type that they were made with.
	b.leftGhost = mpi.BufOf(b.cells, 1, column)
	b.leftEdge = mpi.BufOf(b.cells[1:], 1, column)
	b.rightEdge = mpi.BufOf(b.cells[b.width:], 1, column)
	b.rightGhost = mpi.BufOf(b.cells[b.width+1:], 1, column)
	return b, column.Free()
}

// number is the initial value of an element of the matrix.
func number(row, col int) float64 { return float64(row) + float64(col)/(1<<20) }

const tag = 0

// swap fetches the ghost columns. Each call shifts all edges by one rank.
func (b *block) swap() error {
	if _, err := b.world.Sendrecv(b.leftEdge, b.left, tag, b.rightGhost, b.right, tag); err != nil {
		return err
	}
	_, err := b.world.Sendrecv(b.rightEdge, b.right, tag, b.leftGhost, b.left, tag)
	return err
}

// move moves even rows to the right and odd ones to the left. The numbers that enter the
// block come from a ghost column.
func (b *block) move() {
	for i := range b.rows {
		row := b.cells[i*(b.width+2):][:b.width+2]
		if i%2 == 0 {
			copy(row[1:b.width+1], row)
		} else {
			copy(row[1:b.width+1], row[2:])
		}
	}
}

// verify checks whether the numbers are where they must be after so many steps. All ranks
// get the result.
func (b *block) verify(steps int) error {
	wrong := 0
	for i := range b.rows {
		for j := range b.width {
			from := b.first + j + steps // where the number was at first
			if i%2 == 0 {
				from = b.first + j - steps + b.cols
			}
			if b.cells[i*(b.width+2)+1+j] != number(i, from%b.cols) {
				wrong++
			}
		}
	}
	wrong, err := mpi.AllreduceOne(b.world, wrong, mpi.Sum)
	if err == nil && wrong > 0 {
		err = fmt.Errorf("columns: after %d steps %d numbers are not where they belong", steps, wrong)
	}
	return err
}
