package main

import "github.com/halo-mpi/halo/mpi"

// Blocks differ in size, so each travels as a message of its own.
const (
	dealTag    = 10
	collectTag = 11
)

// deal gives every rank its block of the picture on rank 0.
func deal(plate *mpi.Comm, l layout, pic picture, b *block) error {
	if plate.Rank() == 0 {
		for rank := 1; rank < plate.Size(); rank++ {
			if err := mpi.Send(plate, pic.part(l.bounds(rank)), rank, dealTag); err != nil {
				return err
			}
		}
		b.unpack(pic.part(l.bounds(0)))
		return nil
	}
	part := make([]float64, b.w*b.h)
	_, err := mpi.Recv(plate, part, 0, dealTag)
	b.unpack(part)
	return err
}

// collect puts the picture together again, on rank 0.
func collect(plate *mpi.Comm, l layout, b *block) (picture, error) {
	pic := picture{w: l.w, h: l.h}
	if plate.Rank() != 0 {
		return pic, mpi.Send(plate, b.pack(), 0, collectTag)
	}
	pic.cells = make([]float64, l.w*l.h)
	pic.setPart(b.pack(), 0, 0, b.w)
	for rank := 1; rank < plate.Size(); rank++ {
		part, _, err := mpi.RecvSlice[float64](plate, rank, collectTag)
		if err != nil {
			return pic, err
		}
		x0, y0, x1, _ := l.bounds(rank)
		pic.setPart(part, x0, y0, x1-x0)
	}
	return pic, nil
}

// pack returns the cells of the block without the halo, row by row.
func (b *block) pack() []float64 {
	part := make([]float64, 0, b.w*b.h)
	for y := range b.h {
		part = append(part, b.row(y+1)...)
	}
	return part
}

func (b *block) unpack(part []float64) {
	for y := range b.h {
		copy(b.row(y+1), part[y*b.w:])
	}
}
