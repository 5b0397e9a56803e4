package op

import "unsafe"

// Word is Apply on one element of at most 8 bytes, in the lowest bytes of left and right. Atomic
// operations use it for values in registers. The higher bytes of the result are those of left.
func Word(o Op, t Type, left, right uint64) uint64 {
	switch t {
	case Float64:
		word[float64](o, t, &left, &right)
	case Float32:
		word[float32](o, t, &left, &right)
	default:
		size := t.Size()
		Apply(o, t, low64(&left)[:size], low64(&left)[:size], low64(&right)[:size])
	}
	return left
}

func word[T float](o Op, t Type, left, right *uint64) {
	x, y := (*[1]T)(unsafe.Pointer(left))[:], (*[1]T)(unsafe.Pointer(right))[:]
	if o >= Replace {
		size := unsafe.Sizeof(x[0])
		applyOther(o, t, low64(left)[:size], low64(left)[:size], low64(right)[:size])
		return
	}
	numbers(o, x, x, y)
}

func low64(v *uint64) *[8]byte { return (*[8]byte)(unsafe.Pointer(v)) }
