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
		copyEach[[16]byte](s)
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
		copyEach[[24]byte](s)
	case size < 32:
		copyEnds[[16]byte](s, size)
	case size == 32:
		copyEach[[32]byte](s)
	case size < 64:
		copyEnds[[32]byte](s, size)
	case size == 64:
		copyEach[[64]byte](s)
	default:
		s.blocks(size)
	}
}

// copyWords is copyEach for the most frequent size, four blocks at a time.
//
//go:nocheckptr
func copyWords(s *strides) {
	dst, src := s.dst, s.src
	d, f, ds, fs := s.dstOff, s.srcOff, s.dstStep, s.srcStep
	n := s.n
	for ; n >= 4; n -= 4 {
		a := *(*uint64)(unsafe.Add(src, f))
		b := *(*uint64)(unsafe.Add(src, f+fs))
		x := *(*uint64)(unsafe.Add(src, f+2*fs))
		y := *(*uint64)(unsafe.Add(src, f+3*fs))
		*(*uint64)(unsafe.Add(dst, d)) = a
		*(*uint64)(unsafe.Add(dst, d+ds)) = b
		*(*uint64)(unsafe.Add(dst, d+2*ds)) = x
		*(*uint64)(unsafe.Add(dst, d+3*ds)) = y
		d += 4 * ds
		f += 4 * fs
	}
	for ; n > 0; n-- {
		*(*uint64)(unsafe.Add(dst, d)) = *(*uint64)(unsafe.Add(src, f))
		d += ds
		f += fs
	}
}

// copyEach copies blocks of the size of T.
//
//go:nocheckptr
func copyEach[T any](s *strides) {
	dst, src := s.dst, s.src
	d, f, ds, fs := s.dstOff, s.srcOff, s.dstStep, s.srcStep
	n := s.n
	for ; n >= 2; n -= 2 {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, f))
		*(*T)(unsafe.Add(dst, d+ds)) = *(*T)(unsafe.Add(src, f+fs))
		d += 2 * ds
		f += 2 * fs
	}
	if n > 0 {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, f))
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
