package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

// strides describes a copy of n blocks of equal size: the inner loop of all transfers.
// Pack and unpack differ only in which side is the source.
//
// An address is always a base, which points into the object, and an offset: a pointer
// beyond the object, even one that is never dereferenced, is invalid for the garbage
// collector. A nil base means absolute addresses.
type strides struct {
	dst, src         unsafe.Pointer
	dstOff, srcOff   int
	dstStep, srcStep int
	n                int
	by               mover
}

// copy copies the blocks. Go loops copy a block whose size is not a power of two as two
// overlapping halves, of which the second ends where the block ends: this stores some
// bytes twice, but needs neither an inner loop nor a call.
func (s *strides) copy(size int) {
	switch {
	case size == 8:
		s.words()
	case size > 32 && s.by != loops:
		s.vectors(size)
	case size == 4:
		copyEach[uint32](s)
	case size == 16:
		copyEach[block16](s)
	case size == 1:
		copyEach[uint8](s)
	case size == 2:
		copyEach[uint16](s)
	case size == 3:
		copyEnds[uint16](s, size)
	case size < 8:
		copyEnds[uint32](s, size)
	case size < 16:
		copyEnds[uint64](s, size)
	case size == 24:
		copyEach[block24](s)
	case size < 32:
		copyEnds[block16](s, size)
	case size == 32:
		copyEach[block32](s)
	case size < 64:
		copyEnds[block32](s, size)
	case size == 64:
		copyEach[block64](s)
	case size <= 1024:
		copyLong(s, size)
	default:
		s.blocks(size)
	}
}

// vectors copies with vector instructions, at most longCopy bytes in a call of assembly.
//
//go:nocheckptr
func (s *strides) vectors(size int) {
	d, f := s.dstOff, s.srcOff
	switch {
	case size >= stringCopy:
		s.blocks(size)
		return
	case size >= stringBlock && s.n*size >= stringCopy && sys.HasERMS():
		for range s.n {
			s.by.byString(unsafe.Add(s.dst, d), unsafe.Add(s.src, f), unsafe.Add(s.src, f+s.srcStep), size)
			d += s.dstStep
			f += s.srcStep
		}
		return
	}
	turn := longCopy / size
	for n := s.n; n > 0; n -= turn {
		s.by.blocks(unsafe.Add(s.dst, d), unsafe.Add(s.src, f), s.dstStep, s.srcStep, min(n, turn), size)
		d += turn * s.dstStep
		f += turn * s.srcStep
	}
}

// The blocks are structs around arrays: to assign an array that may overlap the source
// the compiler calls memmove, but it assumes that structs do not overlap.
type (
	block16 struct{ _ [16]byte }
	block24 struct{ _ [24]byte }
	block32 struct{ _ [32]byte }
	block64 struct{ _ [64]byte }
)

// words copies blocks of 8 bytes, the most frequent size.
func (s *strides) words() {
	switch {
	case s.by == avx512 && s.n >= manyWords && s.dstStep == 8 && s.srcStep == 16:
		s.everyOther()
	case s.by == loops:
	case s.n >= 2*manyWords && Magnitude(int64(s.srcStep)) >= line:
		s.farWords(gatherWords)
		return
	case s.n >= beyondCaches && Magnitude(int64(s.dstStep)) >= line:
		s.farWords(scatterWords)
		return
	}
	copyWords(s)
}

// manyWords is the number of words from which on vector instructions save more time than
// the call of assembly takes.
const manyWords = 24

// beyondCaches is the number of words in separate cache lines from which on these lines
// exceed a core's share of the caches: 8 MiB.
const beyondCaches = 1 << 17

// everyOther packs all but the last 1 to 8 words. It also reads the word after each word,
// and the word after the last one may not belong to the buffer.
//
//go:nocheckptr
func (s *strides) everyOther() {
	for s.n > 8 {
		k := min((s.n-1)/8*8, longCopy/8)
		everyOtherAVX512(unsafe.Add(s.dst, s.dstOff), unsafe.Add(s.src, s.srcOff), k)
		s.dstOff += k * s.dstStep
		s.srcOff += k * s.srcStep
		s.n -= k
	}
}

// farWords copies words with move, gatherWords or scatterWords, which prefetch.
//
//go:nocheckptr
func (s *strides) farWords(move func(dst, src unsafe.Pointer, dstStep, srcStep, n int)) {
	for s.n > 0 {
		k := min(s.n, longCopy/line)
		move(unsafe.Add(s.dst, s.dstOff), unsafe.Add(s.src, s.srcOff), s.dstStep, s.srcStep, k)
		s.dstOff += k * s.dstStep
		s.srcOff += k * s.srcStep
		s.n -= k
	}
}

// copyWords is copyEach for words, unrolled eight times.
//
//go:nocheckptr
func copyWords(s *strides) {
	if crowds(s.srcStep) || crowds(s.dstStep) {
		copyEach[uint64](s)
		return
	}
	dst, src := s.dst, s.src
	d, f, ds, fs := s.dstOff, s.srcOff, s.dstStep, s.srcStep
	n := s.n
	for fs3, ds3 := 3*fs, 3*ds; n >= 8; n -= 8 {
		p, q := unsafe.Add(src, f), unsafe.Add(dst, d)
		*(*uint64)(q) = *(*uint64)(p)
		*(*uint64)(unsafe.Add(q, ds)) = *(*uint64)(unsafe.Add(p, fs))
		*(*uint64)(unsafe.Add(q, 2*ds)) = *(*uint64)(unsafe.Add(p, 2*fs))
		*(*uint64)(unsafe.Add(q, ds3)) = *(*uint64)(unsafe.Add(p, fs3))
		p, q = unsafe.Add(p, 4*fs), unsafe.Add(q, 4*ds)
		*(*uint64)(q) = *(*uint64)(p)
		*(*uint64)(unsafe.Add(q, ds)) = *(*uint64)(unsafe.Add(p, fs))
		*(*uint64)(unsafe.Add(q, 2*ds)) = *(*uint64)(unsafe.Add(p, 2*fs))
		*(*uint64)(unsafe.Add(q, ds3)) = *(*uint64)(unsafe.Add(p, fs3))
		d += 8 * ds
		f += 8 * fs
	}
	for ; n > 0; n-- {
		*(*uint64)(unsafe.Add(dst, d)) = *(*uint64)(unsafe.Add(src, f))
		d += ds
		f += fs
	}
}

// crowds reports whether a stride maps the blocks to a few sets of the caches. Then accesses
// miss, and the hardware prefetchers recognise the accesses of a single instruction better
// than those of several instructions in turn. For other strides unrolled loops are faster.
func crowds(step int) bool { return step%256 == 0 }

// sparse reports whether a stride maps the blocks to so few sets of the first-level cache that
// these hold fewer lines than the processor has pending stores: then a line that was fetched
// for a store is evicted before the store executes.
func sparse(step int) bool { return step%1024 == 0 }

// copyEach copies blocks of the size of T.
//
//go:nocheckptr
func copyEach[T any](s *strides) {
	dst, src := s.dst, s.src
	d, f, ds, fs := s.dstOff, s.srcOff, s.dstStep, s.srcStep
	n := s.n
	for ; n >= 4 && !crowds(fs) && !crowds(ds); n -= 4 {
		p, q := unsafe.Add(src, f), unsafe.Add(dst, d)
		*(*T)(q) = *(*T)(p)
		*(*T)(unsafe.Add(q, ds)) = *(*T)(unsafe.Add(p, fs))
		p, q = unsafe.Add(p, 2*fs), unsafe.Add(q, 2*ds)
		*(*T)(q) = *(*T)(p)
		*(*T)(unsafe.Add(q, ds)) = *(*T)(unsafe.Add(p, fs))
		d += 4 * ds
		f += 4 * fs
	}
	if !sparse(ds) {
		for ; n > 0; n-- {
			*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, f))
			d += ds
			f += fs
		}
		return
	}
	for ; n > 0; n-- {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, f))
		d += ds
		f += fs
		// These stores have no other purpose than to occupy entries of the store buffer, so
		// that fewer stores to dst are pending.
		s.dstOff, s.srcOff, s.n = d, f, n
	}
}

// copyEnds copies blocks of one to two times the size of T.
//
//go:nocheckptr
func copyEnds[T any](s *strides, size int) {
	var t T
	end := size - int(unsafe.Sizeof(t))
	dst, src := s.dst, s.src
	d, f, ds, fs := s.dstOff, s.srcOff, s.dstStep, s.srcStep
	for n := s.n; n > 0; n-- {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, f))
		*(*T)(unsafe.Add(dst, d+end)) = *(*T)(unsafe.Add(src, f+end))
		d += ds
		f += fs
	}
}

// copyLong copies blocks of more than 64 bytes in steps of 64; the last step ends where the
// block ends. For blocks of up to 1024 bytes this is faster than a call of memmove.
//
//go:nocheckptr
func copyLong(s *strides, size int) {
	d, f := s.dstOff, s.srcOff
	for n := s.n; n > 0; n-- {
		p, q := unsafe.Add(s.src, f), unsafe.Add(s.dst, d)
		for i := 0; i < size-64; i += 64 {
			*(*block64)(unsafe.Add(q, i)) = *(*block64)(unsafe.Add(p, i))
		}
		*(*block64)(unsafe.Add(q, size-64)) = *(*block64)(unsafe.Add(p, size-64))
		d += s.dstStep
		f += s.srcStep
	}
}

// blocks copies blocks of any size.
//
//go:nocheckptr
func (s *strides) blocks(size int) {
	d, f := s.dstOff, s.srcOff
	for n := s.n; n > 0; n-- {
		s.by.run(unsafe.Add(s.dst, d), unsafe.Add(s.src, f), size)
		d += s.dstStep
		f += s.srcStep
	}
}
