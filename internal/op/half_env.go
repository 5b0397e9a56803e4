package op

import "math"

// halfIn is half in an environment that rounds in a direction. Sums and products are exact in
// float64, except the sum of two products, whose error is computed. So each result is rounded
// once. Rounding to a wider format first, in the same direction, would give the same.
func halfIn(o Op, t Type, e Env, dst, a, b []uint16) {
	e &= roundMask
	if o == Prod && t == Complex32 {
		for i := 0; i < len(dst); i += 2 {
			ar, ai, br, bi := float64(widen(a[i])), float64(widen(a[i+1])), float64(widen(b[i])), float64(widen(b[i+1]))
			re, im := narrowSum(float64(ar*br), -float64(ai*bi), e), narrowSum(float64(ar*bi), float64(ai*br), e)
			dst[i], dst[i+1] = re, im
		}
		return
	}
	for i := range dst {
		x, y := widen(a[i]), widen(b[i])
		switch {
		case x != x || y != y:
			half(o, t, dst[i:i+1], a[i:i+1], b[i:i+1]) // half selects the NaN
		case o == Sum:
			dst[i] = narrowSum(float64(x), float64(y), e)
		default:
			dst[i] = narrowIn(float64(x)*float64(y), 0, e)
		}
	}
}

// narrowSum returns the binary16 of x + y, rounded in the direction of e.
func narrowSum(x, y float64, e Env) uint16 {
	s := x + y
	if s == 0 && e == RoundDown && (math.Signbit(x) || math.Signbit(y)) {
		return 1 << 15
	}
	z := s - x
	return narrowIn(s, (x-(s-z))+(y-z), e)
}

// narrowIn returns the binary16 of a number, rounded in the direction of e. The number is x plus
// an error of less than half of the last place of x, which has the sign of rest.
func narrowIn(x, rest float64, e Env) uint16 {
	if x != x || math.IsInf(x, 0) {
		return narrow(float32(x))
	}
	magnitude := math.Abs(x)
	h := truncated(magnitude)
	exact := float64(widen(h)) == magnitude
	negative := math.Signbit(x)
	switch {
	case exact && rest != 0 && (rest < 0) != negative: // the exact magnitude is just below h
		h, exact = h-1, false
	case rest != 0:
		exact = false
	}
	if !exact && (e == RoundDown && negative || e == RoundUp && !negative) {
		h++ // after the greatest number comes infinity
	}
	if negative {
		h |= 1 << 15
	}
	return h
}

// truncated returns the greatest finite binary16 that is not above x; x is at least 0.
func truncated(x float64) uint16 {
	const greatest, least = 65504, 1.0 / (1 << 14) // least is the least normal number
	switch {
	case x >= greatest:
		return 0x7bff
	case x < least:
		return uint16(x * (1 << 24))
	}
	u := math.Float64bits(x)
	return uint16(u>>52-1023+15)<<10 | uint16(u>>42)&0x3ff
}
