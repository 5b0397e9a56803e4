package op

import "unsafe"

// Gaps reports whether elements of t have bytes that hold no data: the padding between and behind the
// parts of pairs, and the last six bytes of the x87's format. These bytes belong to the program: no operation
// changes them where the result is stored, and no copy of the results may.
func (t Type) Gaps() bool { return t > Byte && t.hasGaps() }

func (t Type) hasGaps() bool {
	n, _, m := t.parts()
	return n+m != t.Size()
}

// float80Bytes is the number of bytes of a Float80 that hold data.
const float80Bytes = 10

// parts returns which bytes of an element hold data: the first n, and m bytes from byte `at` on.
func (t Type) parts() (n, at, m int) {
	switch t {
	case Float80:
		return float80Bytes, 16, 0
	case Complex160:
		return float80Bytes, 16, float80Bytes
	}
	value, index := t.Parts()
	if index == 0 {
		return t.Size(), t.Size(), 0
	}
	n = value.Size()
	if value == Float80 {
		n = float80Bytes
	}
	return n, t.IndexOffset(), index.Size()
}

// Copy copies the data of elements of t, and leaves the bytes between them in dst. Both slices have
// the length of dst, a multiple of the size of t.
func (t Type) Copy(dst, src []byte) {
	if !t.Gaps() {
		copy(dst, src)
		return
	}
	size := t.Size()
	n, at, m := t.parts()
	if n == 8 && at == 8 && m == 4 { // the most frequent pairs
		for k := 0; k+16 <= len(dst); k += 16 {
			put(dst, k, load[uint64](src, k))
			put(dst, k+8, load[uint32](src, k+8))
		}
		return
	}
	for k := 0; k+size <= len(dst); k += size {
		copy(dst[k:k+n], src[k:k+n])
		copy(dst[k+at:k+at+m], src[k+at:])
	}
}

// put stores v at byte k of b.
func put[T any](b []byte, k int, v T) {
	*(*T)(unsafe.Pointer(&b[k : k+int(unsafe.Sizeof(v))][0])) = v
}
