package coll

import (
	"encoding/binary"
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// place is where a block is: in a parcel, or in the memory of its sender.
type place struct {
	at, size int
	direct   bool
}

const (
	// entrySize is the size of an entry in bytes: 56 bits for the place of the block and 8 for the
	// code of its elements, and 64 for its length, of which the highest are the flags.
	entrySize = 16

	direct = 1 << 63 // the place is an address
	equal  = 1 << 62 // there are no other entries: the blocks of this length follow each other
	common = 1 << 61 // there are no other entries: the same block is for all destinations

	lengthBits = common - 1
	placeBits  = 56
)

// fill copies the bytes of the own parcel from lo on to own, as many as it has room for.
func (s *slot) fill(x *schedule, own []byte, lo int) tally {
	t, all, one, form := s.neighborhood, x.Send.Mem, x.each[0], uint64(equal)
	switch x.kind {
	case NeighborAlltoallv, NeighborAlltoallw:
		return s.fillEach(x, own, lo)
	case NeighborAllgather, NeighborAllgatherv:
		if len(x.neighbors.Dests) == 0 {
			all = all.First(0)
		}
		one, form = all.Len(), common
	}
	at, n := entrySize, all.Len()
	if at+n > shmfmt.Line {
		at = shmfmt.Line // long blocks begin with a cache line
	}
	address, flags := t.stayOut(all, one)
	if address != 0 {
		n = 0
	}
	if lo == 0 {
		putEntry(own, at, address, one, x.edgeCode(0, 0), form)
	}
	if t.alone || form == common {
		if from, to := max(lo, at), min(lo+len(own), at+n); from < to {
			all.Pack(own[from-lo:to-lo], from-at)
		}
	} else if n > 0 {
		for i, r := range x.neighbors.Dests {
			if first := at + i*one; r >= 0 && r != s.c.Rank {
				if from, to := max(lo, first), min(lo+len(own), first+one); from < to {
					all.Pack(own[from-lo:to-lo], from-at)
				}
			}
		}
	}
	return tally{uint64(at + n), flags, t.way.took}
}

// fillEach is fill for blocks of different lengths.
func (s *slot) fillEach(x *schedule, own []byte, lo int) tally {
	t, dests := s.neighborhood, x.neighbors.Dests
	at, flags := aligned(len(dests)*entrySize), uint64(0)
	for i, r := range dests {
		var b mem.Mem
		if r >= 0 && r != s.c.Rank {
			b = x.blockTo(i)
		}
		n := b.Len()
		address, out := t.stayOut(b, n)
		if flags |= out; lo == 0 {
			putEntry(own[i*entrySize:], at, address, n, x.edgeCode(0, i), 0)
		}
		if address != 0 {
			continue
		}
		if from, to := max(lo, at), min(lo+len(own), at+n); from < to {
			b.Pack(own[from-lo:to-lo], from-at)
		}
		at += aligned(n)
	}
	return tally{uint64(at), flags, t.way.took}
}

// stayOut returns the address of the memory b of blocks of n bytes, if they stay out of the parcel.
func (t *neighborhood) stayOut(b mem.Mem, n int) (address uintptr, flags uint64) {
	if n < copiesMin || !t.reads {
		return 0, 0
	}
	bytes, row := b.Bytes()
	if !row {
		return 0, 0
	}
	if n < directMin {
		if flags = between; !t.way.begin() {
			return 0, flags
		}
	}
	return uintptr(unsafe.Pointer(&bytes[0])), flags | outside
}

// aligned rounds the length of a block up: long blocks begin with a cache line.
func aligned(n int) int {
	if n < shmfmt.Line {
		return (n + 7) &^ 7
	}
	return (n + shmfmt.Line - 1) &^ (shmfmt.Line - 1)
}

// putEntry stores an entry: of blocks of n bytes that are from byte at of the parcel on, or from address on.
func putEntry(to []byte, at int, address uintptr, n int, code dtype.Code, form uint64) {
	place, length := uint64(at), uint64(n)|form
	if address != 0 {
		place, length = uint64(address), length|direct
	}
	binary.LittleEndian.PutUint64(to, place|uint64(code)<<placeBits)
	binary.LittleEndian.PutUint64(to[8:], length)
}

// blockIn returns where block i is, in the parcel that begins with stage.
func blockIn(stage *[shmfmt.StageSize]byte, i int) (p place, code dtype.Code) {
	e := stage[:entrySize]
	length := binary.LittleEndian.Uint64(e[8:])
	if length&(equal|common) == 0 {
		e = stage[i*entrySize:]
		length = binary.LittleEndian.Uint64(e[8:])
	}
	first := binary.LittleEndian.Uint64(e)
	p = place{int(first & (1<<placeBits - 1)), int(length & lengthBits), length&direct != 0}
	if length&equal != 0 {
		p.at += i * p.size
	}
	return p, dtype.Code(first >> placeBits)
}
