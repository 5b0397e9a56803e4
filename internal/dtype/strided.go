package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

// strides is n blocks of size bytes, copied from one place to another: the inner
// loop of everything. Pack and unpack are the same with the places swapped.
//
// Addresses are always a base, which points into the object, and an offset: a
// pointer that steps beyond the object, even if never used, is one that the
// garbage collector may trip over. base nil means absolute addresses.
type strides struct {
	dst, src         unsafe.Pointer
	dstOff, srcOff   int
	dstStep, srcStep int
	n                int
	by               mover
}

// copy moves the blocks. In loops, sizes that are not a power of two go as two
// overlapping halves, the second of which ends where the block ends: it stores some
// bytes twice, and needs no loop and no call.
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

// vectors is copy by vector instructions, some hundred KiB at a time.
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

// The blocks are structs around arrays: the compiler calls memmove to assign an
// array to one that may overlap it, and takes structs for apart.
type (
	block16 struct{ _ [16]byte }
	block24 struct{ _ [24]byte }
	block32 struct{ _ [32]byte }
	block64 struct{ _ [64]byte }
)

// words copies blocks of the most frequent size.
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

// manyWords is from how many words on vectors gain more than their call takes.
const manyWords = 24

// beyondCaches is from how many words in a line each on these lines are more than
// what a core's part of the caches holds: 8 MiB.
const beyondCaches = 1 << 17

// everyOther packs all but the last words, behind which nothing is ours to be read.
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

// farWords copies words by one of the functions that ask for them ahead.
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

// copyWords is copyEach for words, eight at a time.
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

// crowds tells strides that put everything into a few sets of the caches: such
// blocks miss, and prefetchers follow one instruction that takes all of them better
// than several that take turns. For others unrolled loops are faster.
func crowds(step int) bool { return step%256 == 0 }

// sparse tells strides that put everything into so few sets of the first cache that
// it holds fewer lines than stores can wait: lines that were fetched for stores are
// lost again before their turn comes.
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
		// These stores are for nothing but to wait, too: so that fewer others do.
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

// copyLong copies blocks of more than 64 bytes in steps of 64, the last of which
// ends with the block: up to 1024 bytes that is faster than a call.
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
