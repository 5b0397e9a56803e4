//go:build amd64 || arm64

package op

// lanesIn computes a sum or product of n bytes, a multiple of inLane, with another control word.
// Assembly is not preempted, so that no other goroutine runs with this word.
func lanesIn(o Op, t Type, dst, a, b *byte, n int, word uint32) {
	switch {
	case o == Sum && (t == Float32 || t == Complex64):
		addFloat32In(dst, a, b, n, word)
	case o == Sum:
		addFloat64In(dst, a, b, n, word)
	case t == Float32:
		mulFloat32In(dst, a, b, n, word)
	case t == Float64:
		mulFloat64In(dst, a, b, n, word)
	case t == Complex64:
		mulComplex64In(dst, a, b, n, word)
	default:
		mulComplex128In(dst, a, b, n, word)
	}
}

//go:noescape
func addFloat32In(dst, a, b *byte, n int, word uint32)

//go:noescape
func addFloat64In(dst, a, b *byte, n int, word uint32)

//go:noescape
func mulFloat32In(dst, a, b *byte, n int, word uint32)

//go:noescape
func mulFloat64In(dst, a, b *byte, n int, word uint32)

//go:noescape
func mulComplex64In(dst, a, b *byte, n int, word uint32)

//go:noescape
func mulComplex128In(dst, a, b *byte, n int, word uint32)
