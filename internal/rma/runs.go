package rma

import (
	"encoding/binary"
	"math/bits"

	"github.com/halo-mpi/halo/internal/dtype"
)

// runs describe data that are not contiguous at a target: count blocks of length bytes, stride
// apart:
//
//	off int64 | length int64 | stride int64 | count int64
//
// in little-endian words. off counts from the displacement of the frame. The bytes of the packed
// form belong to the blocks one after the other. So a target needs no datatypes, and a vector takes
// one run in each frame.
type runs struct{ off, length, stride, count int64 }

const (
	// runSize is the size of a run on the wire in bytes.
	runSize = 32
	// runsMax is how many runs a frame has at most: runs take room from the data.
	runsMax = 512
)

// encode writes r to b.
func (r *runs) encode(b []byte) {
	le := binary.LittleEndian
	_ = b[runSize-1]
	le.PutUint64(b, uint64(r.off))
	le.PutUint64(b[8:], uint64(r.length))
	le.PutUint64(b[16:], uint64(r.stride))
	le.PutUint64(b[24:], uint64(r.count))
}

// decodeRuns reads run i of b.
func decodeRuns(b []byte, i int) (r runs) {
	le := binary.LittleEndian
	b = b[i*runSize:][:runSize]
	r.off, r.length = int64(le.Uint64(b)), int64(le.Uint64(b[8:]))
	r.stride, r.count = int64(le.Uint64(b[16:])), int64(le.Uint64(b[24:]))
	return r
}

// bytes returns the number of bytes of all blocks. It reports false if there are none or more than
// limit, or if a block is not a whole number of elements of element bytes.
func (r *runs) bytes(limit, element int64) (int64, bool) {
	if r.length <= 0 || r.count <= 0 || r.length%element != 0 {
		return 0, false
	}
	hi, n := bits.Mul64(uint64(r.length), uint64(r.count))
	return int64(n), hi == 0 && n <= uint64(limit)
}

// reach returns the memory of the blocks if displacement 0 is at base: n bytes from lo on, with the
// gaps between blocks. It reports false if that does not fit into 64 bits. r has blocks: the caller
// has called bytes.
func (r *runs) reach(base uint64) (lo, n uint64, ok bool) {
	step := uint64(r.stride)
	if r.stride < 0 {
		step = -step
	}
	hi, far := bits.Mul64(step, uint64(r.count-1))
	n, carry := bits.Add64(far, uint64(r.length), 0)
	if hi != 0 || carry != 0 {
		return 0, 0, false
	}
	lo, ok = displaced(base, r.off)
	if ok && r.stride < 0 {
		lo, carry = bits.Sub64(lo, far, 0)
		ok = carry == 0
	}
	_, carry = bits.Add64(lo, n, 0)
	return lo, n, ok && carry == 0
}

// displaced is base + off. It reports false if that is below 0 or beyond 64 bits.
func displaced(base uint64, off int64) (uint64, bool) {
	if off < 0 {
		v, borrow := bits.Sub64(base, uint64(-off), 0)
		return v, borrow == 0
	}
	v, carry := bits.Add64(base, uint64(off), 0)
	return v, carry == 0
}

// cut describes the packed form of b from byte at on by runs in dst: at most most bytes, in whole
// elements of element bytes. The runs must fit into room bytes, if data is set together with the
// bytes that they describe. It returns the number of runs and of bytes that they describe.
func cut(dst []runs, b *dtype.Buffer, at, most, room, element int64, data bool) (n int, covered int64) {
	var blocks [64]dtype.Run
	for covered < most && at < b.Size() {
		k, next := b.Runs(blocks[:], at, most-covered)
		at = next
		for _, block := range blocks[:k] {
			fits := func(cost int64) bool { return room >= cost && (!data || room-cost >= block.Len) }
			switch {
			case block.Len%element == 0 && n > 0 && dst[n-1].takes(block) && fits(0):
				dst[n-1].add(block)
			case n == len(dst) || room < runSize:
				return n, covered
			case block.Len%element == 0 && fits(runSize):
				dst[n] = runs{off: block.Off, length: block.Len, count: 1}
				n++
				room -= runSize
			default: // the beginning of the block
				part := block.Len
				if data {
					part = min(part, room-runSize)
				}
				part -= part % element
				if part == 0 {
					return n, covered
				}
				dst[n] = runs{off: block.Off, length: part, count: 1}
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
func (r *runs) takes(block dtype.Run) bool {
	return block.Len == r.length && (r.count == 1 || block.Off == r.off+r.count*r.stride)
}

// add appends a block that r takes.
func (r *runs) add(block dtype.Run) {
	if r.count == 1 {
		r.stride = block.Off - r.off
	}
	r.count++
}
