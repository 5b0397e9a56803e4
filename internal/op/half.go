package op

import "math"

// half computes in float32. Its precision is more than twice that of binary16, so that rounding
// twice gives the same as rounding once. In a product of complex numbers only the result is
// rounded to binary16, not each of the products.
func half(o Op, t Type, dst, a, b []uint16) {
	if o == Prod && t == Complex32 {
		for i := 0; i < len(dst); i += 2 {
			ar, ai, br, bi := widen(a[i]), widen(a[i+1]), widen(b[i]), widen(b[i+1])
			dst[i] = narrow(float32(float64(ar)*float64(br) - float64(ai)*float64(bi)))
			dst[i+1] = narrow(float32(float64(ar)*float64(bi) + float64(ai)*float64(br)))
		}
		return
	}
	var x, y [1]float32
	for i := range dst {
		x[0], y[0] = widen(a[i]), widen(b[i])
		numbers(o, x[:], x[:], y[:])
		dst[i] = narrow(x[0])
	}
}

// widen returns the binary16 h, exactly.
func widen(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0: // zero or subnormal, a multiple of 2^-24
		x := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(x) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}

// narrow returns the binary16 nearest to x, the even one of two that are equally near.
func narrow(x float32) uint16 {
	u := math.Float32bits(x)
	sign, u := uint16(u>>31)<<15, u&^(1<<31)
	switch {
	case u > 0xff<<23: // NaN
		return sign | 0x7e00 | uint16(u>>13)&0x3ff
	case u >= (127+16)<<23: // too large: every rounding gives infinity
		return sign | 0x7c00
	case u < (127-14)<<23: // subnormal: the addition rounds to a multiple of 2^-24
		return sign | uint16(math.Float32bits(math.Float32frombits(u)+0.5)-math.Float32bits(0.5))
	}
	u += 1<<12 - 1 + u>>13&1 // to the nearest; a carry goes into the exponent
	return sign | uint16((u-(127-15)<<23)>>13)
}
