package dtype

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// quad is a number in IEEE binary128: sign, 15 bits of exponent with bias 16383,
// 112 bits of fraction. The bias of 10383 in the seed is an error (E2-12).
type quad struct{ hi, lo uint64 }

const (
	quadExponent = 0x7fff    // all ones: infinity or NaN
	quadTop      = 1<<48 - 1 // the fraction's bits in hi
	quadBias     = 16383     // also the bias of the x87 format
	doubleBias   = 1023      //
	doubleTop    = 1<<52 - 1 // the fraction of binary64
	intBit       = 1 << 63   // the leading one, which the x87 format stores
	quietNaN     = 1 << 47   // in hi
)

func makeQuad(sign, exponent uint64, hi, lo uint64) quad {
	return quad{sign<<63 | exponent<<48 | hi&quadTop, lo}
}

func (q quad) sign() uint64     { return q.hi >> 63 }
func (q quad) exponent() uint64 { return q.hi >> 48 & quadExponent }

func putQuad(dst []byte, q quad) {
	binary.BigEndian.PutUint64(dst, q.hi)
	binary.BigEndian.PutUint64(dst[8:], q.lo)
}

func getQuad(src []byte) quad {
	return quad{binary.BigEndian.Uint64(src), binary.BigEndian.Uint64(src[8:])}
}

// quadOfExtended widens a number of the x87 format: 64 bits of significand with
// the leading one, then 16 bits of sign and exponent. The result is exact. Encodings
// that are invalid for the processor become NaN.
func quadOfExtended(mem []byte) quad {
	m, se := binary.LittleEndian.Uint64(mem), uint64(binary.LittleEndian.Uint16(mem[8:]))
	sign, exponent := se>>15, se&quadExponent
	switch {
	case exponent == 0 && m&intBit != 0: // a pseudo-denormal is a normal number
		exponent = 1
	case exponent != 0 && m&intBit == 0:
		return makeQuad(sign, quadExponent, quietNaN, 0)
	}
	f := m &^ intBit // 63 bits, at the top of 112
	return makeQuad(sign, exponent, f>>15, f<<49)
}

// extendedOfQuad rounds to the x87 format, to nearest and even; bytes beyond the
// tenth become zero.
func extendedOfQuad(mem []byte, q quad) {
	f := q.hi&quadTop<<15 | q.lo>>49 // 63 bits
	rest := q.lo << 15               // the bits that are cut off, the first one at the top
	exponent := q.exponent()
	m := f
	switch {
	case exponent == quadExponent:
		m |= intBit
		if f == 0 && rest != 0 {
			m |= 1 << 62 // a NaN must stay one
		}
	default:
		if exponent != 0 {
			m |= intBit
		}
		if rest > 1<<63 || rest == 1<<63 && m&1 != 0 {
			m++
			switch {
			case m == 0: // a carry out of the significand
				m = intBit
				exponent++
			case exponent == 0 && m&intBit != 0: // the largest denormal became normal
				exponent = 1
			}
		}
	}
	clear(mem)
	binary.LittleEndian.PutUint64(mem, m)
	binary.LittleEndian.PutUint16(mem[8:], uint16(q.sign()<<15|exponent))
}

// quadOfDouble widens binary64. It is exact.
func quadOfDouble(v uint64) quad {
	sign, exponent, f := v>>63, v>>52&0x7ff, v&doubleTop
	switch {
	case exponent == 0x7ff:
		exponent = quadExponent
	case exponent != 0:
		exponent += quadBias - doubleBias
	case f != 0: // denormal: shifted until the leading one is the implicit bit
		shift := uint64(bits.LeadingZeros64(f) - 11)
		f = f << shift & doubleTop
		exponent = quadBias - doubleBias + 1 - shift
	}
	return makeQuad(sign, exponent, f>>4, f<<60)
}

// doubleOfQuad rounds to binary64, to nearest and even.
func doubleOfQuad(q quad) uint64 {
	sign, exponent := q.sign()<<63, int(q.exponent())
	f := q.hi&quadTop<<4 | q.lo>>60 // 52 bits
	rest := q.lo << 4
	if exponent == quadExponent {
		if f == 0 && rest != 0 {
			f = 1 << 51
		}
		return sign | 0x7ff<<52 | f
	}
	exponent -= quadBias - doubleBias
	switch {
	case exponent >= 0x7ff:
		return sign | math.Float64bits(math.Inf(1))
	case exponent <= 0: // denormal or zero
		shift := uint(1 - exponent)
		if shift > 53 {
			return sign
		}
		f |= 1 << 52
		sticky := rest
		rest = f << (64 - shift)
		if sticky != 0 {
			rest |= 1
		}
		f >>= shift
		exponent = 0
	}
	v := uint64(exponent)<<52 + f
	if rest > 1<<63 || rest == 1<<63 && f&1 != 0 {
		v++ // a carry into the exponent gives the correct result
	}
	return sign | v
}
