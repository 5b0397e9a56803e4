package dtype

import "unsafe"

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
}

// copy moves the blocks. Sizes that are not a power of two go as two overlapping
// halves, the second of which ends where the block ends: it stores some bytes
// twice, and needs no loop and no call.
func (s *strides) copy(size int) {
	switch {
	case size == 8:
		copyWords(s)
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

// The blocks are structs around arrays: the compiler calls memmove to assign an
// array to one that may overlap it, and takes structs for apart.
type (
	block16 struct{ _ [16]byte }
	block24 struct{ _ [24]byte }
	block32 struct{ _ [32]byte }
	block64 struct{ _ [64]byte }
)

// copyWords is copyEach for the most frequent size, eight blocks at a time.
//
//go:nocheckptr
func copyWords(s *strides) {
	dst, src := s.dst, s.src
	d, f, ds, fs := s.dstOff, s.srcOff, s.dstStep, s.srcStep
	n := s.n
	if crowds(fs) || crowds(ds) {
		for ; n > 0; n-- {
			*(*uint64)(unsafe.Add(dst, d)) = *(*uint64)(unsafe.Add(src, f))
			d += ds
			f += fs
		}
		return
	}
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
	for ; n > 0; n-- {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, f))
		d += ds
		f += fs
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
		copy(unsafe.Slice((*byte)(unsafe.Add(s.dst, d)), size), unsafe.Slice((*byte)(unsafe.Add(s.src, f)), size))
		d += s.dstStep
		f += s.srcStep
	}
}
