package main

import "github.com/halo-mpi/halo/mpi"

// neighborhood fills the halo by a neighbourhood collective of the grid: one call exchanges all four
// edges, and the grid knows with whom. The persistent form prepares the exchange once.
type neighborhood struct {
	*block
	plate    *mpi.Comm
	counts   []int // cells for each neighbour: north, south, west, east, the order of the grid
	out, in  []float64
	prepared mpi.Request
	again    bool // prepared is used
}

func newNeighborhood(plate *mpi.Comm, b *block, again bool) *neighborhood {
	w, h := b.w, b.h
	n := &neighborhood{
		block: b, plate: plate, again: again,
		counts: []int{w, w, h, h},
		out:    make([]float64, 2*(w+h)),
		in:     make([]float64, 2*(w+h)),
	}
	b.toWest, b.toEast = n.out[2*w:2*w+h], n.out[2*w+h:]
	b.fromWest, b.fromEast = n.in[2*w:2*w+h], n.in[2*w+h:]
	if again {
		n.prepared = mpi.NeighborAlltoallvInit(plate, n.out, n.counts, nil, n.in, n.counts, nil)
	}
	return n
}

// exchange fills the halo. Where the picture ends nothing arrives, and the halo keeps the copy of
// the edge itself.
func (n *neighborhood) exchange() error {
	b := n.block
	copy(n.out, b.row(1))
	copy(n.out[b.w:], b.row(b.h))
	copy(n.in, n.out[:2*b.w])
	b.copyEdges()
	if err := n.call(); err != nil {
		return err
	}
	copy(b.row(0), n.in)
	copy(b.row(b.h+1), n.in[b.w:])
	b.pasteColumns()
	return nil
}

func (n *neighborhood) call() error {
	if !n.again {
		return mpi.NeighborAlltoallv(n.plate, n.out, n.counts, nil, n.in, n.counts, nil)
	}
	if err := n.prepared.Start(); err != nil {
		return err
	}
	_, err := n.prepared.Wait()
	return err
}

func (n *neighborhood) free() error {
	if !n.again {
		return nil
	}
	return n.prepared.Free()
}
