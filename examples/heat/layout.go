package main

import "github.com/halo-mpi/halo/mpi"

// layout cuts a picture of w x h cells into columns x rows blocks, whose sizes
// differ by at most one cell either way. Rank r has the block in column
// r % columns and row r / columns.
type layout struct {
	w, h          int
	columns, rows int
}

// cut finds the layout for as many of the ranks as can each have a cell, with
// the shortest edges between blocks: those are what the ranks exchange.
func cut(w, h, ranks int) layout {
	for ; ; ranks-- {
		best, shortest := layout{}, 0
		for columns := 1; columns <= ranks; columns++ {
			rows := ranks / columns
			if rows*columns != ranks || columns > w || rows > h {
				continue
			}
			edges := (columns-1)*h + (rows-1)*w
			if best.w == 0 || edges < shortest {
				best, shortest = layout{w, h, columns, rows}, edges
			}
		}
		if best.w > 0 {
			return best // at the latest for one rank
		}
	}
}

func (l layout) ranks() int { return l.columns * l.rows }

// bounds returns the cells of a rank's block: x0 <= x < x1 and y0 <= y < y1.
func (l layout) bounds(rank int) (x0, y0, x1, y1 int) {
	c, r := rank%l.columns, rank/l.columns
	return c * l.w / l.columns, r * l.h / l.rows, (c + 1) * l.w / l.columns, (r + 1) * l.h / l.rows
}

// plate makes the grid of the ranks that have a block, in rows and columns. A picture of few pixels
// has no work for many ranks: those without a block get nil.
func (l layout) plate(world *mpi.Comm) (*mpi.Comm, error) {
	return world.CartCreate([]int{l.rows, l.columns}, []bool{false, false}, false)
}
