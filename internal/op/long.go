package op

import (
	"encoding/binary"
	"math/bits"
)

// long computes the reals of 16 bytes, Float80 and Float128, and the complex numbers made of
// them. Go has no such types, so it uses integer arithmetic, with the same results on all
// machines: it rounds as the format says, and supports subnormals. If both operands are NaN, the
// result is the left one, whatever the processor would give.
func long(o Op, f format, t Type, dst, a, b [][16]byte) {
	if o == Prod && (t == Complex160 || t == Complex256) {
		for i := 0; i < len(dst); i += 2 {
			ar, ai, br, bi := f.unpack(&a[i]), f.unpack(&a[i+1]), f.unpack(&b[i]), f.unpack(&b[i+1])
			re := f.plus(f.times(ar, br), f.times(ai, bi).negated())
			im := f.plus(f.times(ar, bi), f.times(ai, br))
			f.pack(&dst[i], re)
			f.pack(&dst[i+1], im)
		}
		return
	}
	for i := range dst {
		x, y := f.unpack(&a[i]), f.unpack(&b[i])
		switch {
		case o == Sum:
			x = f.plus(x, y)
		case o == Prod:
			x = f.times(x, y)
		case x.kind == notANumber:
		case y.kind == notANumber || (o == Min) == (y.compare(x, true) < 0):
			x = y
		}
		f.pack(&dst[i], x)
	}
}

func locateLong(o Op, t Type, dst, a, b []byte) {
	value, index := t.Parts()
	f, size, at := formatOf(value), t.Size(), t.IndexOffset()
	for k := 0; k+size <= len(dst); k += size {
		x, y := f.unpack((*[16]byte)(a[k:])), f.unpack((*[16]byte)(b[k:]))
		c := y.compare(x, false)
		right := (o == Minloc) == (c < 0)
		if xn, yn := x.kind == notANumber, y.kind == notANumber; xn != yn {
			right = yn
		} else if xn || c == 0 {
			right = load[int32](b, k+at) < load[int32](a, k+at)
			if index == Int64 {
				right = load[int64](b, k+at) < load[int64](a, k+at)
			}
		}
		if right {
			t.Copy(dst[k:k+size], b[k:k+size])
		} else {
			t.Copy(dst[k:k+size], a[k:k+size])
		}
	}
}

// format is a binary format with an exponent of 15 bits: its precision in bits, and, in higher
// bits, how results are rounded: the direction of an Env, and the number of bits if that is less
// than the precision. If the higher bits are 0, results are rounded to the nearest number.
type format uint

const (
	extended  format = 64
	quadruple format = 113

	formatRound     = 8  // the first bit of the direction
	formatPrecision = 10 // the first bit of the number of bits
)

// isExtended reports whether f is the x87's format, with any rounding.
func (f format) isExtended() bool { return f&(1<<formatRound-1) == extended }

// direction returns the direction of rounding.
func (f format) direction() Env { return Env(f>>formatRound) & roundMask }

// bits returns the number of bits to which results are rounded.
func (f format) bits() uint {
	if n := uint(f >> formatPrecision); n != 0 {
		return n
	}
	return uint(f & (1<<formatRound - 1))
}

func formatOf(t Type) format {
	if t == Float80 || t == Complex160 {
		return extended
	}
	return quadruple
}

// Both formats have exponents from emin to -emin+1. special encodes infinities and NaNs.
const (
	emin    = -16382
	special = 0x7fff
)

type kind uint8

const (
	finite kind = iota // also zero: then hi and lo are 0
	infinite
	notANumber
)

// unpacked is a number in parts. The highest bit of the significand hi, lo has the value 2^exp.
type unpacked struct {
	kind     kind
	negative bool
	exp      int
	hi, lo   uint64 // of a NaN: as in memory
}

func (x unpacked) negated() unpacked {
	if x.kind != notANumber {
		x.negative = !x.negative
	}
	return x
}

func (x unpacked) zero() bool { return x.kind == finite && x.hi|x.lo == 0 }

// compare returns -1, 0 or 1 if x is less than y, equal or greater. If zeros is set, -0 is less
// than +0.
func (x unpacked) compare(y unpacked, zeros bool) int {
	if x.zero() && y.zero() && !zeros {
		return 0
	}
	less := -1
	switch {
	case x.negative != y.negative:
		if y.negative {
			return 1
		}
		return -1
	case x.negative:
		less = 1
	}
	switch {
	case x.kind != y.kind: // the infinite one has the greater magnitude
		if y.kind == infinite {
			return less
		}
		return -less
	case x.zero() || y.zero():
		if x.zero() && y.zero() {
			return 0
		} else if x.zero() {
			return less
		}
		return -less
	case x.exp != y.exp && x.exp < y.exp, x.exp == y.exp && (x.hi < y.hi || x.hi == y.hi && x.lo < y.lo):
		return less
	case x.exp == y.exp && x.hi == y.hi && x.lo == y.lo || x.kind == infinite:
		return 0
	}
	return -less
}

func (f format) unpack(b *[16]byte) unpacked {
	lo, hi := binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	var x unpacked
	var e uint64
	invalid := false
	if f.isExtended() {
		x.negative, e = hi>>15&1 == 1, hi&special
		x.hi = lo
		invalid = e != 0 && lo>>63 == 0 // no number since the 387
	} else {
		x.negative, e = hi>>63 == 1, hi>>48&special
		hi &= 1<<48 - 1
		if e != 0 {
			hi |= 1 << 48
		}
		x.hi, x.lo = hi<<15|lo>>49, lo<<15
	}
	switch {
	case e == special && !invalid && x.hi<<1|x.lo == 0:
		x.kind = infinite
		x.hi = 0
	case e == special || invalid:
		x.kind = notANumber
	default:
		x.exp = emin + int(max(e, 1)) - 1
		x.normalize()
	}
	return x
}

// normalize shifts the highest bit that is set to the top.
func (x *unpacked) normalize() {
	if x.hi == 0 {
		x.hi, x.lo = x.lo, 0
		x.exp -= 64
	}
	n := bits.LeadingZeros64(x.hi)
	if n == 64 {
		return
	}
	x.hi, x.lo = x.hi<<n|x.lo>>(64-n), x.lo<<n
	x.exp -= n
}

// shifted returns hi, lo shifted down by n bits. The lowest bit of the result is set if any bit
// that was shifted out was set.
func shifted(hi, lo uint64, n int) (uint64, uint64) {
	switch {
	case n >= 128:
		return 0, truth[uint64](hi|lo != 0)
	case n >= 64:
		lost := truth[uint64](lo|hi<<(128-n) != 0)
		return 0, hi>>(n-64) | lost
	case n > 0:
		lost := truth[uint64](lo<<(64-n) != 0)
		return hi >> n, lo>>n | hi<<(64-n) | lost
	}
	return hi, lo
}

// nanOf returns the NaN that is the result for x and y, at least one of which is a NaN.
func nanOf(x, y unpacked) unpacked {
	if x.kind != notANumber {
		x = y
	}
	x.hi |= 3 << 62 // quiet; the top bit is the integer bit of the extended format
	return x
}

// invalid returns the result of an operation without a numerical result.
func invalid() unpacked { return unpacked{kind: notANumber, hi: 3 << 62} }

func (f format) plus(x, y unpacked) unpacked {
	switch {
	case x.kind == notANumber || y.kind == notANumber:
		return nanOf(x, y)
	case x.kind == infinite:
		if y.kind == infinite && x.negative != y.negative {
			return invalid()
		}
		return x
	case y.kind == infinite:
		return y
	case x.zero() && y.zero():
		x.negative = x.negative && y.negative || f.direction() == RoundDown && (x.negative || y.negative)
		return x
	case x.zero():
		return f.round(y)
	case y.zero():
		return f.round(x)
	}
	if x.compareMagnitude(y) < 0 {
		x, y = y, x
	}
	// One free bit at the top; below the precision there remain at least 14.
	xhi, xlo := shifted(x.hi, x.lo, 1)
	yhi, ylo := shifted(y.hi, y.lo, 1+x.exp-y.exp)
	var carry uint64
	if x.negative == y.negative {
		xlo, carry = bits.Add64(xlo, ylo, 0)
		xhi, _ = bits.Add64(xhi, yhi, carry)
	} else {
		xlo, carry = bits.Sub64(xlo, ylo, 0)
		xhi, _ = bits.Sub64(xhi, yhi, carry)
	}
	if xhi|xlo == 0 {
		return unpacked{negative: f.direction() == RoundDown}
	}
	sum := unpacked{negative: x.negative, exp: x.exp + 1, hi: xhi, lo: xlo}
	sum.normalize()
	return f.round(sum)
}

func (x unpacked) compareMagnitude(y unpacked) int {
	x.negative, y.negative = false, false
	return x.compare(y, true)
}

func (f format) times(x, y unpacked) unpacked {
	negative := x.negative != y.negative
	switch {
	case x.kind == notANumber || y.kind == notANumber:
		return nanOf(x, y)
	case x.kind == infinite || y.kind == infinite:
		if x.zero() || y.zero() {
			return invalid()
		}
		return unpacked{kind: infinite, negative: negative}
	case x.zero() || y.zero():
		return unpacked{negative: negative}
	}
	// The upper half of 256 bits; the lowest bit is set if any bit below it is.
	hh, hl := bits.Mul64(x.hi, y.hi)
	ah, al := bits.Mul64(x.hi, y.lo)
	bh, bl := bits.Mul64(x.lo, y.hi)
	ch, cl := bits.Mul64(x.lo, y.lo)
	low, c1 := bits.Add64(ch, al, 0)
	low, c2 := bits.Add64(low, bl, 0)
	hl, c3 := bits.Add64(hl, ah, c1)
	hh += c3
	hl, c3 = bits.Add64(hl, bh, c2)
	hh += c3
	product := unpacked{negative: negative, exp: x.exp + y.exp + 1, hi: hh, lo: hl | truth[uint64](low|cl != 0)}
	if hh>>63 == 0 {
		product.hi, product.lo = hh<<1|hl>>63, hl<<1|low>>63
		product.lo |= truth[uint64](low<<1|cl != 0)
		product.exp--
	}
	return f.round(product)
}

// round returns x, which is normalized, rounded to the precision of the format.
func (f format) round(x unpacked) unpacked {
	if x.exp < emin { // subnormal: fewer bits
		x.hi, x.lo = shifted(x.hi, x.lo, emin-x.exp)
		x.exp = emin
	}
	var carry uint64
	switch f {
	case extended:
		up := x.lo > 1<<63 || x.lo == 1<<63 && x.hi&1 == 1
		x.hi, carry = bits.Add64(x.hi, truth[uint64](up), 0)
		x.lo = 0
	case quadruple:
		const drop = 128 - uint(quadruple)
		rest := x.lo & (1<<drop - 1)
		up := rest > 1<<(drop-1) || rest == 1<<(drop-1) && x.lo>>drop&1 == 1
		x.lo, carry = bits.Add64(x.lo-rest, truth[uint64](up)<<drop, 0)
		x.hi, carry = bits.Add64(x.hi, 0, carry)
	default:
		x, carry = f.directed(x)
	}
	if carry == 1 {
		x.hi = 1 << 63
		x.exp++
	}
	if x.exp > 1-emin {
		return f.overflowed(x.negative)
	}
	if x.hi|x.lo != 0 {
		x.normalize()
	}
	return x
}

func (f format) pack(b *[16]byte, x unpacked) {
	e := uint64(special)
	switch {
	case x.zero():
		e = 0
	case x.kind == infinite:
		x.hi, x.lo = 1<<63, 0
	case x.kind == notANumber:
		x.hi |= 3 << 62
	case x.exp < emin:
		x.hi, x.lo = shifted(x.hi, x.lo, emin-x.exp)
		e = 0
	default:
		e = uint64(x.exp - emin + 1)
	}
	sign := truth[uint64](x.negative)
	if f.isExtended() { // the other bytes are padding
		binary.LittleEndian.PutUint64(b[:], x.hi)
		binary.LittleEndian.PutUint16(b[8:], uint16(sign<<15|e))
		return
	}
	binary.LittleEndian.PutUint64(b[:], x.hi<<49|x.lo>>15)
	binary.LittleEndian.PutUint64(b[8:], sign<<63|e<<48|x.hi<<1>>16)
}
