package main

import "github.com/halo-mpi/halo/mpi"

// A part is what a rank has of a matrix. Blocks of it are dealt to the rows and columns of a grid of
// ranks in turn: with 2 x 2 ranks and blocks of one number,
//
//	0 1 0 1
//	2 3 2 3
//	0 1 0 1
type part struct {
	rows, cols int // of the whole matrix
	block      int
	grid       []int
	rank       int

	down, across []int     // which rows, and columns, of the matrix the part has
	cells        []float64 // the part, row by row
}

func newPart(rows, cols, block int, grid []int, rank int) *part {
	p := &part{rows: rows, cols: cols, block: block, grid: grid, rank: rank}
	p.down = dealt(rows, block, grid[0], rank/grid[1])
	p.across = dealt(cols, block, grid[1], rank%grid[1])
	p.cells = make([]float64, len(p.down)*len(p.across))
	return p
}

// dealt returns which of n indices one of so many ranks has.
func dealt(n, block, ranks, rank int) (list []int) {
	for i := range n {
		if i/block%ranks == rank {
			list = append(list, i)
		}
	}
	return list
}

// number is the element of the matrix in a row and column.
func number(row, col int) float64 { return float64(row) + float64(col)/(1<<20) }

func (p *part) fill() {
	for i, row := range p.down {
		for j, col := range p.across {
			p.cells[i*len(p.across)+j] = number(row, col)
		}
	}
}

// wrong is how many elements are not those of the transposed matrix.
func (p *part) wrong() (n int) {
	for i, row := range p.down {
		for j, col := range p.across {
			if p.cells[i*len(p.across)+j] != number(col, row) {
				n++
			}
		}
	}
	return n
}

// view has f show this rank its elements of the file, and nothing else. With OrderFortran the file
// has the matrix column by column.
func (p *part) view(f *mpi.File, ranks int, order mpi.Order) error {
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		return err
	}
	mine, err := mpi.TypeDarray(ranks, p.rank, []mpi.Distribute{
		{Size: p.rows, Kind: mpi.DistributeCyclic, Arg: p.block, Procs: p.grid[0]},
		{Size: p.cols, Kind: mpi.DistributeCyclic, Arg: p.block, Procs: p.grid[1]},
	}, order, double)
	if err != nil {
		return err
	}
	defer mine.Free() // the file keeps what it needs
	if err := mine.Commit(); err != nil {
		return err
	}
	return f.SetView(0, double, mine, "native")
}

// write writes the parts of all ranks.
func (p *part) write(f *mpi.File) error {
	if err := p.view(f, p.grid[0]*p.grid[1], mpi.OrderC); err != nil {
		return err
	}
	_, err := mpi.WriteAll(f, p.cells)
	return err
}

// readTransposed reads the parts of all ranks from a file with the transposed matrix: what is a row of the
// file is a column of this matrix. The view shows the elements column by column. They
// go to memory that has them row by row: a datatype is one column there.
func (p *part) readTransposed(f *mpi.File) error {
	if err := p.view(f, p.grid[0]*p.grid[1], mpi.OrderFortran); err != nil {
		return err
	}
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		return err
	}
	strided, err := mpi.TypeVector(len(p.down), 1, len(p.across), double)
	if err != nil {
		return err
	}
	defer strided.Free()
	column, err := mpi.TypeResized(strided, 0, 8) // the next column begins 8 bytes farther
	if err != nil {
		return err
	}
	defer column.Free()
	if err := column.Commit(); err != nil {
		return err
	}
	_, err = f.ReadAll(mpi.BufOf(p.cells, len(p.across), column))
	return err
}
