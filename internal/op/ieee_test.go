package op

import (
	"math/big"
	"runtime"
	"slices"
)

// ieee is a binary floating-point format.
type ieee struct {
	bytes    int
	exponent uint // bits
	fraction uint // bits, without the integer bit
	explicit bool // the integer bit is stored

	env  Env  // the direction of rounding, and which numbers are flushed
	most uint // the number of bits to which results are rounded, 0 for all
}

// ieeeOf returns the format of a type's real parts.
func ieeeOf(t Type) ieee {
	switch t {
	case Float16, Complex32:
		return ieee{bytes: 2, exponent: 5, fraction: 10}
	case Float32, Complex64:
		return ieee{bytes: 4, exponent: 8, fraction: 23}
	case Float64, Complex128:
		return ieee{bytes: 8, exponent: 11, fraction: 52}
	case Float80, Complex160:
		return ieee{bytes: 16, exponent: 15, fraction: 63, explicit: true}
	}
	return ieee{bytes: 16, exponent: 15, fraction: 112}
}

// in returns the format in an environment.
func (f ieee) in(e Env) ieee {
	switch {
	case f.explicit:
		f.env = e >> x87Round & roundMask
		f.most = [...]uint{0, 53, 0, 24}[e>>x87Precision]
	case f.bytes == 2 || f.bytes == 16:
		f.env = e & roundMask
	default:
		f.env = e & (roundMask | flushMask)
	}
	if runtime.GOARCH == "arm64" && f.env&flushMask != 0 { // one bit flushes operands and results
		f.env |= flushMask
	}
	return f
}

// decoded is a number: exact, infinite or NaN.
type decoded struct {
	neg, inf, nan, quiet bool
	x                    *big.Float // with the sign; nil unless finite
	bits                 *big.Int
}

const exactly = 70_000 // bits that hold sums and products of any two numbers

func bigInt(b []byte) *big.Int {
	r := slices.Clone(b)
	slices.Reverse(r)
	return new(big.Int).SetBytes(r)
}

func bytesOf(u *big.Int, size int) []byte {
	b := u.FillBytes(make([]byte, size))
	slices.Reverse(b)
	return b
}

func low(u *big.Int, bits uint) *big.Int {
	return new(big.Int).And(u, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1)))
}

// stored returns the number of bits below the exponent.
func (f ieee) stored() uint {
	if f.explicit {
		return f.fraction + 1
	}
	return f.fraction
}

func (f ieee) bias() int { return 1<<(f.exponent-1) - 1 }

func (f ieee) decode(b []byte) decoded {
	u := low(bigInt(b), 1+f.exponent+f.stored())
	e := int(low(new(big.Int).Rsh(u, f.stored()), f.exponent).Int64())
	frac := low(u, f.fraction)
	d := decoded{neg: u.Bit(int(f.exponent+f.stored())) == 1, bits: u}
	integer := e != 0
	if f.explicit {
		integer = u.Bit(int(f.fraction)) == 1
	}
	switch {
	case f.explicit && e != 0 && !integer: // not the encoding of a number
		d.nan, d.quiet = true, frac.Bit(int(f.fraction)-1) == 1
		return d
	case e == 1<<f.exponent-1:
		d.inf = frac.Sign() == 0
		d.nan = !d.inf
		d.quiet = frac.Bit(int(f.fraction)-1) == 1
		return d
	}
	if integer {
		frac.SetBit(frac, int(f.fraction), 1)
	}
	if e == 0 && f.env&FlushOperands != 0 {
		frac = new(big.Int)
	}
	d.x = new(big.Float).SetPrec(exactly).SetInt(frac)
	d.x.SetMantExp(d.x, max(e, 1)-f.bias()-int(f.fraction))
	if d.neg {
		d.x.Neg(d.x)
	}
	return d
}

// encode returns the bytes of a number, rounded. For a NaN without a NaN operand it returns
// none.
func (f ieee) encode(d decoded) []byte {
	var u big.Int
	top := int64(1<<f.exponent - 1)
	put := func(e int64, frac *big.Int) {
		u.Or(new(big.Int).Lsh(big.NewInt(e), f.stored()), frac)
	}
	integer := new(big.Int)
	if f.explicit {
		integer.SetBit(integer, int(f.fraction), 1)
	}
	switch {
	case d.nan && d.bits == nil:
		return nil
	case d.nan:
		u.SetBit(d.bits, int(f.fraction)-1, 1)
		if f.explicit { // an invalid encoding becomes a NaN, too
			u.SetBit(&u, int(f.fraction), 1)
			u.Or(&u, new(big.Int).Lsh(big.NewInt(top), f.stored()))
		}
		return bytesOf(&u, f.bytes)
	case d.inf:
		put(top, integer)
	default:
		x := f.round(new(big.Float).Abs(d.x), d.neg, false)
		e := x.MantExp(nil) - 1 + f.bias()
		switch {
		case x.Sign() == 0, f.flushes(d):
			put(0, new(big.Int))
		case int64(e) >= top && f.away(d.neg):
			put(top, integer)
		case int64(e) >= top: // the greatest number
			frac := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), f.fraction), big.NewInt(1))
			if f.most != 0 {
				frac.Rsh(frac, f.fraction+1-f.most)
				frac.Lsh(frac, f.fraction+1-f.most)
			}
			put(top-1, frac.Or(frac, integer))
		default:
			unit := max(e, 1) - f.bias() - int(f.fraction)
			frac, _ := new(big.Float).SetMantExp(x, -unit).Int(nil)
			if e > 0 && !f.explicit {
				frac.SetBit(frac, int(f.fraction), 0)
			}
			put(int64(max(e, 0)), frac)
		}
	}
	if d.neg {
		u.SetBit(&u, int(f.exponent+f.stored()), 1)
	}
	return bytesOf(&u, f.bytes)
}

// away reports whether a number that is too large, or between two numbers, is rounded away from
// zero. When rounding to the nearest, a number that is too large is.
func (f ieee) away(negative bool) bool {
	d := f.env & roundMask
	return d == 0 || d == RoundDown && negative || d == RoundUp && !negative
}

// flushes reports whether a result is subnormal, and therefore flushed to zero. On arm64 this is
// decided before rounding.
func (f ieee) flushes(d decoded) bool {
	if f.env&FlushResults == 0 {
		return false
	}
	x := new(big.Float).Abs(d.x)
	if runtime.GOARCH != "arm64" {
		x = f.round(x, d.neg, true)
	}
	return x.MantExp(nil)-1 < 1-f.bias()
}

// round returns x >= 0, the magnitude of a number, as a multiple of the unit of the format at
// the size of x; or as if exponents had no lower bound.
func (f ieee) round(x *big.Float, negative, unbounded bool) *big.Float {
	if x.Sign() == 0 {
		return x
	}
	e := max(x.MantExp(nil)-1, 1-f.bias())
	if unbounded {
		e = x.MantExp(nil) - 1
	}
	unit := e - int(f.fraction)
	if f.most != 0 {
		unit = e - int(f.most) + 1
	}
	scaled := new(big.Float).SetPrec(exactly).SetMantExp(x, -unit)
	whole, _ := scaled.Int(nil)
	rest := new(big.Float).SetPrec(exactly).Sub(scaled, new(big.Float).SetPrec(exactly).SetInt(whole))
	up := rest.Sign() != 0 && f.away(negative)
	if f.env&roundMask == 0 {
		c := rest.Cmp(big.NewFloat(0.5))
		up = c > 0 || c == 0 && whole.Bit(0) == 1
	}
	if up {
		whole.Add(whole, big.NewInt(1))
	}
	r := new(big.Float).SetPrec(exactly).SetInt(whole)
	return r.SetMantExp(r, unit)
}

// rounded returns d as a number of the format.
func (f ieee) rounded(d decoded) decoded {
	if b := f.encode(d); b != nil {
		return f.decode(b)
	}
	return d
}
