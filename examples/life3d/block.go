package main

import "github.com/halo-mpi/halo/mpi"

// block is one rank's part of the cube, with the halo, a layer of cells around it that belong to the
// neighbours. The first cell of the block itself is at 1, 1, 1. A cell is 1 if it is alive, else 0.
type block struct {
	cube   int    // cells along an edge
	origin [3]int // of the block in the cube
	size   [3]int // without the halo
	cells  []uint8
	next   []uint8
	faces  [3]mpi.Request // exchange the faces of a dimension
}

func newBlock(grid *mpi.Comm, cube int, seed uint64) (*block, error) {
	dims := grid.Cart().Dims()
	at, err := grid.Cart().Coords(grid.Rank())
	if err != nil {
		return nil, err
	}
	b := &block{cube: cube}
	n := 1
	for d := range b.size {
		b.origin[d] = at[d] * cube / dims[d]
		b.size[d] = (at[d]+1)*cube/dims[d] - b.origin[d]
		n *= b.size[d] + 2
	}
	b.cells, b.next = make([]uint8, n), make([]uint8, n)
	b.each(func(i int, place uint64) {
		if random(seed<<40+place)%4 == 0 {
			b.cells[i] = 1
		}
	})
	for d := range b.faces {
		b.faces[d], err = b.exchangeOf(grid, d)
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// random returns well-mixed bits of x.
func random(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// exchangeOf prepares the exchange of the two faces of a dimension. A face includes what belongs to
// the halo of the dimensions before, which has arrived already: so the cells at edges and corners
// come from the neighbours of neighbours, in three exchanges with two neighbours each.
//
// The other neighbours of the grid get, and send, empty Buffers.
func (b *block) exchangeOf(grid *mpi.Comm, dim int) (mpi.Request, error) {
	var send, recv [6]mpi.Buffer
	last := b.size[dim] + 1 // the layer of the halo behind the block
	for _, x := range []struct {
		to    *mpi.Buffer
		layer int
	}{
		{&send[2*dim], 1}, {&send[2*dim+1], last - 1},
		{&recv[2*dim], 0}, {&recv[2*dim+1], last},
	} {
		face, err := b.face(dim, x.layer)
		if err != nil {
			return mpi.Request{}, err
		}
		*x.to = mpi.BufOf(b.cells, 1, face)
		if err := face.Free(); err != nil { // the Buffer keeps what it needs
			return mpi.Request{}, err
		}
	}
	return grid.NeighborAlltoallwInit(send[:], recv[:]), nil
}

// face is the datatype of a layer of cells: a part of the block's array.
func (b *block) face(dim, layer int) (mpi.Datatype, error) {
	var sizes, part, from [3]int
	for d, n := range b.size {
		sizes[d], part[d], from[d] = n+2, n, 1
		if d < dim {
			part[d], from[d] = n+2, 0
		}
	}
	part[dim], from[dim] = 1, layer
	cell, err := mpi.TypeOf[uint8]()
	if err != nil {
		return cell, err
	}
	face, err := mpi.TypeSubarray(sizes[:], part[:], from[:], mpi.OrderC, cell)
	if err != nil {
		return face, err
	}
	return face, face.Commit()
}

// exchange fills the halo.
func (b *block) exchange() error {
	for d := range b.faces {
		if err := b.faces[d].Start(); err != nil {
			return err
		}
		if _, err := b.faces[d].Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (b *block) free() error {
	for d := range b.faces {
		if err := b.faces[d].Free(); err != nil {
			return err
		}
	}
	return nil
}

// each calls do for all cells of the block, with their index and their place in the cube.
func (b *block) each(do func(i int, place uint64)) {
	for z := range b.size[0] {
		for y := range b.size[1] {
			i := b.index(z+1, y+1, 1)
			place := ((b.origin[0]+z)*b.cube+b.origin[1]+y)*b.cube + b.origin[2]
			for x := range b.size[2] {
				do(i+x, uint64(place+x))
			}
		}
	}
}

func (b *block) index(z, y, x int) int { return (z*(b.size[1]+2)+y)*(b.size[2]+2) + x }

// step computes the next state of the block.
func (b *block) step() {
	row := b.size[2] + 2
	plane := row * (b.size[1] + 2)
	b.each(func(i int, _ uint64) {
		n := -b.cells[i]
		for z := i - plane; z <= i+plane; z += plane {
			for y := z - row; y <= z+row; y += row {
				n += b.cells[y-1] + b.cells[y] + b.cells[y+1]
			}
		}
		b.next[i] = 0
		if n == 5 || n == 4 && b.cells[i] == 1 {
			b.next[i] = 1
		}
	})
	// The exchanges are prepared for b.cells.
	copy(b.cells, b.next)
}

// alive returns how many cells are alive, and a checksum of which they are.
func (b *block) alive() (n, sum uint64) {
	b.each(func(i int, place uint64) {
		if b.cells[i] == 1 {
			n++
			sum += random(place)
		}
	})
	return n, sum
}
