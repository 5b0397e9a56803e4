package shmfmt

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// A Pair is the segment of two processes of different jobs on one node, its ends 0 and 1:
//
//	0        header: magic, mark
//	256      door of end 0
//	512      door of end 1
//	4096     ring that end 1 fills and end 0 empties (RingStride bytes)
//	...      ring that end 0 fills and end 1 empties
//
// The two processes have no other memory in common.
type Pair struct{ mem []byte }

// PairSize is the size of a Pair in bytes.
const PairSize = page + 2*RingStride

// pairMagic marks a Pair: "HALOPR" and the version.
const pairMagic = uint64(0x48414c4f50520000) | Version

// A Mark tells the Pair of two processes from all others.
type Mark [16]byte

type pairHeader struct {
	magic atomic.Uint64
	mark  Mark
}

// FormatPair formats zeroed memory as a Pair.
func FormatPair(mem []byte, mark Mark) *Pair {
	p := &Pair{mem[:PairSize:PairSize]}
	p.header().mark = mark
	p.header().magic.Store(pairMagic) // pairs with the load in OpenPair
	return p
}

// OpenPair returns the Pair in memory that the other process has formatted.
func OpenPair(mem []byte, mark Mark) (*Pair, error) {
	if len(mem) < PairSize {
		return nil, fmt.Errorf("shmfmt: a segment of %d bytes for two processes, want %d", len(mem), PairSize)
	}
	p := &Pair{mem[:PairSize:PairSize]}
	if m := p.header().magic.Load(); m != pairMagic || p.header().mark != mark { // pairs with the store in FormatPair
		return nil, fmt.Errorf("shmfmt: a segment for two processes has mark %#x, want %#x: it is that of other processes, or of another version", m, pairMagic)
	}
	return p, nil
}

func (p *Pair) header() *pairHeader { return (*pairHeader)(unsafe.Pointer(&p.mem[0])) }

// Door returns the door of an end.
func (p *Pair) Door(end int) *Door { return (*Door)(unsafe.Pointer(&p.mem[(1+end)*DoorSize])) }

// Ring returns the memory of the ring that an end empties.
func (p *Pair) Ring(end int) []byte {
	return p.mem[page+end*RingStride : page+(end+1)*RingStride]
}
