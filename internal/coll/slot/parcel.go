package slot

import (
	"encoding/binary"
	"unsafe"

	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// place is where a block is: in a parcel, or in the memory of its sender.
type place struct {
	at, size int
	direct   bool
}

// last is the last step with a part of the block.
func (p place) last() int { return stepOf(p.at + p.size - 1) }

// stepOf returns the step of a byte of a parcel. A parcel begins with a line in the cell of the member, and
// goes on in its stages.
func stepOf(at int) int { return max(0, at-shmfmt.Line) / shmfmt.StageSize }

// parcel is what a member sends.
type parcel struct {
	length  int
	outside bool // blocks stay out of it
}

// last is the last step of the parcel.
func (p parcel) last() int { return stepOf(p.length - 1) }

const (
	// entrySize is the size of an entry in bytes: 56 bits for the place of the block and 8 for the
	// code of its elements, and 64 for its length, of which the highest are the flags.
	entrySize = 16
	// entriesInLine is the number of entries in the line. Others are at the beginning of the stage.
	entriesInLine = shmfmt.Line / entrySize

	direct = 1 << 63 // the place is an address
	equal  = 1 << 62 // there are no other entries: the blocks of this length follow each other
	common = 1 << 61 // there are no other entries: the same block is for all destinations

	lengthBits = common - 1
	placeBits  = 56
)

// portion is the part of a parcel that is filled in a step: the bytes from lo on are in stage. The first step has
// the line, too.
type portion struct {
	line  *[shmfmt.Line]byte // nil in other steps than the first
	stage []byte             // nil until it is needed
	lo    int
}

// portion returns the portion for a step of the own parcel.
func (s *Slot) portion(step int) portion {
	w := portion{lo: shmfmt.Line + step*shmfmt.StageSize}
	if step == 0 {
		w.line = &s.own.Parcels[s.Number&1]
	}
	return w
}

// stageOf returns the own stage for a portion.
func (s *Slot) stageOf(w *portion) []byte {
	if w.stage == nil {
		w.stage = s.stage(s.me, s.Number+uint64(stepOf(w.lo)))[:]
	}
	return w.stage
}

// put copies what is within a portion of a block: bytes [lo, hi) of m, whose first byte is at byte at of the parcel.
func (s *Slot) put(w *portion, m mem.Mem, at, lo, hi int) {
	if at+lo < shmfmt.Line { // all of the block is in the line
		if w.line != nil {
			m.Pack(w.line[at+lo:at+hi], lo)
		}
		return
	}
	if from, to := max(w.lo, at+lo), min(w.lo+shmfmt.StageSize, at+hi); from < to {
		m.Pack(s.stageOf(w)[from-w.lo:to-w.lo], from-at)
	}
}

// fill fills the portion of a step with the own parcel.
func (s *Slot) fill(x *Edges, step int) parcel {
	w := s.portion(step)
	t, all, one, form := s.neighborhood, x.To.All, x.To.Each, uint64(equal)
	switch x.kind {
	case kind.NeighborAlltoallv, kind.NeighborAlltoallw:
		return s.fillEach(x, &w)
	case kind.NeighborAllgather, kind.NeighborAllgatherv:
		if len(x.neighbors.Dests) == 0 {
			all = all.First(0)
		}
		one, form = all.Len(), common
	}
	at, n := entrySize, all.Len()
	if at+n > shmfmt.Line {
		at = shmfmt.Line
	}
	address := t.stayOut(all, one)
	if address != 0 {
		n = 0
	}
	if w.line != nil {
		putEntry(w.line[:], at, address, one, x.To.Code, form)
	}
	if t.alone || form == common {
		s.put(&w, all, at, 0, n)
	} else if n > 0 {
		for i, r := range x.neighbors.Dests {
			if r >= 0 && r != s.me {
				s.put(&w, all, at, i*one, (i+1)*one)
			}
		}
	}
	return parcel{at + n, address != 0}
}

// fillEach is fill for blocks of different lengths.
func (s *Slot) fillEach(x *Edges, w *portion) parcel {
	t, dests := s.neighborhood, x.neighbors.Dests
	at, outside := max(entrySize, aligned(len(dests)*entrySize)), false
	for i, r := range dests {
		var b mem.Mem
		if r >= 0 && r != s.me {
			b = x.To.at(i)
		}
		n := b.Len()
		if at < shmfmt.Line && at+n > shmfmt.Line {
			at = shmfmt.Line
		}
		address := t.stayOut(b, n)
		outside = outside || address != 0
		if w.line != nil {
			to := w.line[:]
			if i >= entriesInLine {
				to = s.stageOf(w)[(i-entriesInLine)*entrySize:]
			} else {
				to = to[i*entrySize:]
			}
			putEntry(to, at, address, n, x.To.codeAt(i), 0)
		}
		if address == 0 {
			s.put(w, b, at, 0, n)
			at += aligned(n)
		}
	}
	return parcel{at, outside}
}

// stayOut returns the address of the memory b of blocks of n bytes, if they stay out of the parcel.
func (t *neighborhood) stayOut(b mem.Mem, n int) (address uintptr) {
	if n < CopiesMin || !t.reads {
		return 0
	}
	bytes, row := b.Bytes()
	if !row || n < directMin && !t.way.begin() {
		return 0
	}
	return uintptr(unsafe.Pointer(&bytes[0]))
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

// blockIn returns where block i is, in the parcel of the member of rank r.
func (s *Slot) blockIn(r, i int) (p place, code dtype.Code) {
	line := &s.cells[r].Parcels[s.Number&1]
	e := line[:entrySize]
	length := binary.LittleEndian.Uint64(e[8:])
	if length&(equal|common) == 0 {
		if i < entriesInLine {
			e = line[i*entrySize:]
		} else {
			e = s.stage(r, s.Number)[(i-entriesInLine)*entrySize:]
		}
		length = binary.LittleEndian.Uint64(e[8:])
	}
	first := binary.LittleEndian.Uint64(e)
	p = place{int(first & (1<<placeBits - 1)), int(length & lengthBits), length&direct != 0}
	if length&equal != 0 {
		p.at += i * p.size
	}
	return p, dtype.Code(first >> placeBits)
}
