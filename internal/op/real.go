package op

import (
	"math"
	"unsafe"
)

type float interface{ float32 | float64 }

func real32(o Op, dst, a, b []float32) { numbers(o, dst, a, b) }

func real64(o Op, dst, a, b []float64) { numbers(o, dst, a, b) }

func numbers[T float](o Op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch o {
	case Sum:
		for i := range dst {
			s := a[i] + b[i]
			if s != s {
				s = nan(a[i], b[i], s)
			}
			dst[i] = s
		}
	case Prod:
		for i := range dst {
			s := a[i] * b[i]
			if s != s {
				s = nan(a[i], b[i], s)
			}
			dst[i] = s
		}
	case Min:
		for i := range dst {
			s := min(a[i], b[i])
			if s != s {
				s = nan(a[i], b[i], s)
			}
			dst[i] = s
		}
	case Max:
		for i := range dst {
			s := max(a[i], b[i])
			if s != s {
				s = nan(a[i], b[i], s)
			}
			dst[i] = s
		}
	}
}

// nan returns the result of an operation on a and b that gives a NaN: the left NaN, or else the
// right one, as a quiet one, and s if neither is a NaN. Where the processor prefers signaling
// NaNs, nan does too. The compiler may exchange the operands of a sum, so that Go code cannot
// rely on which NaN the instruction gives.
func nan[T float](a, b, s T) T {
	switch {
	case signalingFirst && signaling(b) && !signaling(a):
		return quiet(b)
	case a != a:
		return quiet(a)
	case b != b:
		return quiet(b)
	}
	return s
}

// quietBit32 and quietBit64 are set in quiet NaNs and not in signaling ones.
const (
	quietBit32 = 1 << 22
	quietBit64 = 1 << 51
)

func quiet[T float](x T) T {
	if unsafe.Sizeof(x) == 4 {
		return T(math.Float32frombits(math.Float32bits(float32(x)) | quietBit32))
	}
	return T(math.Float64frombits(math.Float64bits(float64(x)) | quietBit64))
}

func signaling[T float](x T) bool {
	if unsafe.Sizeof(x) == 4 {
		return x != x && math.Float32bits(float32(x))&quietBit32 == 0
	}
	return x != x && math.Float64bits(float64(x))&quietBit64 == 0
}

// product64 computes in float64, in which the products are exact.
func product64(dst, a, b []complex64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		ar, ai := float64(real(a[i])), float64(imag(a[i]))
		br, bi := float64(real(b[i])), float64(imag(b[i]))
		dst[i] = complex(float32(ar*br-ai*bi), float32(ar*bi+ai*br))
	}
}

// product128 rounds each product. The conversions keep the compiler from fusing the product with
// the sum, so that all machines give the same.
func product128(dst, a, b []complex128) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		ar, ai := real(a[i]), imag(a[i])
		br, bi := real(b[i]), imag(b[i])
		dst[i] = complex(float64(ar*br)-float64(ai*bi), float64(ar*bi)+float64(ai*br))
	}
}
