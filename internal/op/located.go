package op

import "unsafe"

type ordered interface{ integer | float }

// located carries out Minloc and Maxloc. The result is the element with the least or greatest
// value; of equal values, and of -0 and +0, the one with the lower index. A NaN comes before all
// numbers. The padding of the result is not changed.
func located(o Op, t Type, dst, a, b []byte) {
	switch value, index := t.Parts(); {
	case value == Float80 || value == Float128:
		locateLong(o, t, dst, a, b)
	case index == Int32:
		locate32(o, t, dst, a, b)
	case index == Int64:
		locate64(o, t, dst, a, b)
	case value == Float32:
		locate[float32, float32](o, t, dst, a, b)
	default:
		locate[float64, float64](o, t, dst, a, b)
	}
}

func locate32(o Op, t Type, dst, a, b []byte) {
	switch value, _ := t.Parts(); value {
	case Int8:
		locate[int8, int32](o, t, dst, a, b)
	case Int16:
		locate[int16, int32](o, t, dst, a, b)
	case Int32:
		locate[int32, int32](o, t, dst, a, b)
	case Int64:
		locate[int64, int32](o, t, dst, a, b)
	case Uint8:
		locate[uint8, int32](o, t, dst, a, b)
	case Uint16:
		locate[uint16, int32](o, t, dst, a, b)
	case Uint32:
		locate[uint32, int32](o, t, dst, a, b)
	case Uint64:
		locate[uint64, int32](o, t, dst, a, b)
	case Float32:
		locate[float32, int32](o, t, dst, a, b)
	case Float64:
		locate[float64, int32](o, t, dst, a, b)
	}
}

func locate64(o Op, t Type, dst, a, b []byte) {
	switch value, _ := t.Parts(); value {
	case Int8:
		locate[int8, int64](o, t, dst, a, b)
	case Int16:
		locate[int16, int64](o, t, dst, a, b)
	case Int32:
		locate[int32, int64](o, t, dst, a, b)
	case Int64:
		locate[int64, int64](o, t, dst, a, b)
	case Uint8:
		locate[uint8, int64](o, t, dst, a, b)
	case Uint16:
		locate[uint16, int64](o, t, dst, a, b)
	case Uint32:
		locate[uint32, int64](o, t, dst, a, b)
	case Uint64:
		locate[uint64, int64](o, t, dst, a, b)
	case Float32:
		locate[float32, int64](o, t, dst, a, b)
	case Float64:
		locate[float64, int64](o, t, dst, a, b)
	}
}

func locate[V, I ordered](o Op, t Type, dst, a, b []byte) {
	size, at := t.Size(), t.IndexOffset()
	for k := 0; k+size <= len(dst); k += size {
		x, y := load[V](a, k), load[V](b, k)
		var right bool
		switch {
		case x == y || x != x && y != y:
			right = load[I](b, k+at) < load[I](a, k+at)
		case x != x || y != y:
			right = y != y
		default:
			right = (o == Minloc) == (y < x)
		}
		i := load[I](a, k+at)
		if right {
			x, i = y, load[I](b, k+at)
		}
		put(dst, k, x)
		put(dst, k+at, i)
	}
}

// load reads a T at byte k of b.
func load[T any](b []byte, k int) T {
	var e T
	return *(*T)(unsafe.Pointer(&b[k : k+int(unsafe.Sizeof(e))][0]))
}
