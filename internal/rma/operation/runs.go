package operation

import (
	"encoding/binary"
	"math/bits"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Runs describe data that are not contiguous at a target: Count blocks of Length bytes, Stride
// apart:
//
//	off int64 | length int64 | stride int64 | count int64
//
// in little-endian words. Off counts from the displacement of the frame. The bytes of the packed
// form belong to the blocks one after the other. So a target needs no datatypes, and a vector takes
// one run in each frame.
type Runs struct{ Off, Length, Stride, Count int64 }

const (
	// RunSize is the size of a run on the wire in bytes.
	RunSize = 32
	// RunsMax is how many runs a frame has at most: runs take room from the data.
	RunsMax = 512
)

// Encode writes r to b.
func (r *Runs) Encode(b []byte) {
	le := binary.LittleEndian
	_ = b[RunSize-1]
	le.PutUint64(b, uint64(r.Off))
	le.PutUint64(b[8:], uint64(r.Length))
	le.PutUint64(b[16:], uint64(r.Stride))
	le.PutUint64(b[24:], uint64(r.Count))
}

// DecodeRuns reads run i of b.
func DecodeRuns(b []byte, i int) (r Runs) {
	le := binary.LittleEndian
	b = b[i*RunSize:][:RunSize]
	r.Off, r.Length = int64(le.Uint64(b)), int64(le.Uint64(b[8:]))
	r.Stride, r.Count = int64(le.Uint64(b[16:])), int64(le.Uint64(b[24:]))
	return r
}

// Bytes returns the number of bytes of all blocks. It reports false if there are none or more than
// limit, or if a block is not a whole number of elements of element bytes.
func (r *Runs) Bytes(limit, element int64) (int64, bool) {
	if r.Length <= 0 || r.Count <= 0 || r.Length%element != 0 {
		return 0, false
	}
	hi, n := bits.Mul64(uint64(r.Length), uint64(r.Count))
	return int64(n), hi == 0 && n <= uint64(limit)
}

// Reach returns the memory of the blocks if displacement 0 is at base: n bytes from lo on, with the
// gaps between blocks. It reports false if that does not fit into 64 bits. r has blocks: the caller
// has called bytes.
func (r *Runs) Reach(base uint64) (lo, n uint64, ok bool) {
	step := uint64(r.Stride)
	if r.Stride < 0 {
		step = -step
	}
	hi, far := bits.Mul64(step, uint64(r.Count-1))
	n, carry := bits.Add64(far, uint64(r.Length), 0)
	if hi != 0 || carry != 0 {
		return 0, 0, false
	}
	lo, ok = Displaced(base, r.Off)
	if ok && r.Stride < 0 {
		lo, carry = bits.Sub64(lo, far, 0)
		ok = carry == 0
	}
	_, carry = bits.Add64(lo, n, 0)
	return lo, n, ok && carry == 0
}

// Displaced is base + off. It reports false if that is below 0 or beyond 64 bits.
func Displaced(base uint64, off int64) (uint64, bool) {
	if off < 0 {
		v, borrow := bits.Sub64(base, uint64(-off), 0)
		return v, borrow == 0
	}
	v, carry := bits.Add64(base, uint64(off), 0)
	return v, carry == 0
}

// Cut describes the packed form of b from byte at on by runs in dst: at most most bytes, in whole
// elements of element bytes. The runs must fit into room bytes, if data is set together with the
// bytes that they describe. It returns the number of runs and of bytes that they describe.
func Cut(dst []Runs, b *dtype.Buffer, at, most, room, element int64, data bool) (n int, covered int64) {
	var blocks [64]dtype.Run
	for covered < most && at < b.Size() {
		k, next := b.Runs(blocks[:], at, most-covered)
		at = next
		for _, block := range blocks[:k] {
			fits := func(cost int64) bool { return room >= cost && (!data || room-cost >= block.Len) }
			switch {
			case block.Len%element == 0 && n > 0 && dst[n-1].takes(block) && fits(0):
				dst[n-1].add(block)
			case n == len(dst) || room < RunSize:
				return n, covered
			case block.Len%element == 0 && fits(RunSize):
				dst[n] = Runs{Off: block.Off, Length: block.Len, Count: 1}
				n++
				room -= RunSize
			default: // the beginning of the block
				part := block.Len
				if data {
					part = min(part, room-RunSize)
				}
				part -= part % element
				if part == 0 {
					return n, covered
				}
				dst[n] = Runs{Off: block.Off, Length: part, Count: 1}
				return n + 1, covered + part
			}
			covered += block.Len
			if data {
				room -= block.Len
			}
		}
	}
	return n, covered
}

// takes reports whether a block continues r.
func (r *Runs) takes(block dtype.Run) bool {
	return block.Len == r.Length && (r.Count == 1 || block.Off == r.Off+r.Count*r.Stride)
}

// add appends a block that r takes.
func (r *Runs) add(block dtype.Run) {
	if r.Count == 1 {
		r.Stride = block.Off - r.Off
	}
	r.Count++
}

// Overlaps reports whether a block has a byte of those from lo to hi, counted from the first byte
// of the lowest block. They are within what reach has found, less than 2^63 bytes.
func (r *Runs) Overlaps(lo, hi uint64) bool {
	step, length := dtype.Magnitude(r.Stride), uint64(r.Length)
	k := uint64(0) // the first block that does not end before lo
	if lo >= length {
		if step == 0 {
			return false
		}
		k = (lo-length)/step + 1
	}
	return k < uint64(r.Count) && k*step < hi
}
