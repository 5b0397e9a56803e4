package mem

import "unsafe"

// Same reports whether a and b have bytes and begin at the same byte of memory.
func Same(a, b Mem) bool {
	switch {
	case a.n == 0 || b.n == 0:
		return false
	case a.typ == nil && b.typ == nil:
		return uintptr(a.base)+uintptr(a.at) == uintptr(b.base)+uintptr(b.at)
	}
	return a.Address() == b.Address()
}

// Overlap reports whether two slices share memory.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// Alike reports whether a and b, which must begin at the same byte, refer to the same bytes in
// the same order, up to the length of the shorter one.
func Alike(a, b Mem) bool {
	if a.typ != nil && a.typ == b.typ && (a.at-b.at)%int(a.typ.Size()) == 0 {
		return true
	}
	for i, n := 0, min(a.n, b.n); i < n; {
		x, y := a.run(i), b.run(i)
		if &x[0] != &y[0] {
			return false
		}
		i += min(len(x), len(y))
	}
	return true
}

// Address is the address of the first byte. The Mem must not be empty.
func (m Mem) Address() unsafe.Pointer {
	if m.typ == nil {
		return unsafe.Add(m.base, m.at)
	}
	return unsafe.Pointer(&m.run(0)[0])
}

// run returns the bytes from byte i on that are contiguous in memory.
func (m Mem) run(i int) []byte {
	var one [1][]byte
	m.Blocks(one[:], i, m.n)
	return one[0]
}
