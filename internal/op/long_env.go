package op

import "math/bits"

// formatIn returns the format of a type in an environment. The x87's direction and precision
// apply to its format; the other direction applies to binary128, which software computes.
func formatIn(t Type, e Env) format {
	f := formatOf(t)
	if !f.isExtended() {
		return f | format(e&roundMask)<<formatRound
	}
	f |= format(e>>x87Round&roundMask) << formatRound
	switch e >> x87Precision {
	case x87Double:
		f |= 53 << formatPrecision
	case x87Single:
		f |= 24 << formatPrecision
	}
	return f
}

// directed returns the significand of x, rounded to the bits and in the direction of f, and the
// carry out of its top. The lowest bit of x is set if any lower bit was.
func (f format) directed(x unpacked) (unpacked, uint64) {
	var ulpHi, ulpLo uint64 // the lowest bit of the result
	if drop := 128 - f.bits(); drop >= 64 {
		ulpHi = 1 << (drop - 64)
	} else {
		ulpLo = 1 << drop
	}
	maskLo, borrow := bits.Sub64(ulpLo, 1, 0) // the bits below ulp
	maskHi := ulpHi - borrow
	restHi, restLo := x.hi&maskHi, x.lo&maskLo
	odd := x.hi&ulpHi|x.lo&ulpLo != 0
	x.hi, x.lo = x.hi-restHi, x.lo-restLo
	up := restHi|restLo != 0
	switch f.direction() {
	case RoundDown:
		up = up && x.negative
	case RoundUp:
		up = up && !x.negative
	case RoundToZero:
		up = false
	default:
		halfHi, halfLo := ulpHi>>1, ulpLo>>1|ulpHi<<63
		up = restHi > halfHi || restHi == halfHi && (restLo > halfLo || restLo == halfLo && odd)
	}
	if !up {
		return x, 0
	}
	var carry uint64
	x.lo, carry = bits.Add64(x.lo, ulpLo, 0)
	x.hi, carry = bits.Add64(x.hi, ulpHi, carry)
	return x, carry
}

// overflowed returns the result for a number that is too large: infinity, or the greatest finite
// number if rounding leads away from infinity.
func (f format) overflowed(negative bool) unpacked {
	switch d := f.direction(); {
	case d == RoundToZero, d == RoundDown && !negative, d == RoundUp && negative:
		n := f.bits()
		x := unpacked{negative: negative, exp: 1 - emin, hi: ^uint64(0)}
		if n < 64 {
			x.hi <<= 64 - n
		} else {
			x.lo = ^uint64(0) << (128 - n)
		}
		return x
	}
	return unpacked{kind: infinite, negative: negative}
}
