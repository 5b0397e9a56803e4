package op

import (
	"bytes"
	"math"
	"math/big"
	"runtime"
	"slices"
)

// The oracle computes what Check's table means from the definitions, bit by bit and
// with exact numbers, and knows nothing of how Apply does it.

// ieee is a binary floating-point format.
type ieee struct {
	bytes    int
	exponent uint // bits
	fraction uint // bits, without the integer bit
	explicit bool // the integer bit is stored
}

// ieeeOf is the format of a type's real parts.
func ieeeOf(t Type) ieee {
	switch t {
	case Float16, Complex32:
		return ieee{2, 5, 10, false}
	case Float32, Complex64:
		return ieee{4, 8, 23, false}
	case Float64, Complex128:
		return ieee{8, 11, 52, false}
	case Float80, Complex160:
		return ieee{16, 15, 63, true}
	}
	return ieee{16, 15, 112, false}
}

// decoded is a number: exact, infinite or none.
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

// stored is the number of bits below the exponent.
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
	case f.explicit && e != 0 && !integer: // means nothing
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
	d.x = new(big.Float).SetPrec(exactly).SetInt(frac)
	d.x.SetMantExp(d.x, max(e, 1)-f.bias()-int(f.fraction))
	if d.neg {
		d.x.Neg(d.x)
	}
	return d
}

// encode is the bytes of a number, rounded; none for a NaN without operand that is one.
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
		if f.explicit { // what means nothing becomes a NaN, too
			u.SetBit(&u, int(f.fraction), 1)
			u.Or(&u, new(big.Int).Lsh(big.NewInt(top), f.stored()))
		}
		return bytesOf(&u, f.bytes)
	case d.inf:
		put(top, integer)
	default:
		x := f.round(new(big.Float).Abs(d.x))
		e := x.MantExp(nil) - 1 + f.bias()
		switch {
		case x.Sign() == 0:
			put(0, new(big.Int))
		case int64(e) >= top:
			put(top, integer)
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

// round is x >= 0 as a multiple of the unit of the format at its size, to even.
func (f ieee) round(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return x
	}
	e := max(x.MantExp(nil)-1, 1-f.bias())
	unit := e - int(f.fraction)
	scaled := new(big.Float).SetPrec(exactly).SetMantExp(x, -unit)
	whole, _ := scaled.Int(nil)
	rest := new(big.Float).SetPrec(exactly).Sub(scaled, new(big.Float).SetPrec(exactly).SetInt(whole))
	if c := rest.Cmp(big.NewFloat(0.5)); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	r := new(big.Float).SetPrec(exactly).SetInt(whole)
	return r.SetMantExp(r, unit)
}

// rounded is d as a number of the format.
func (f ieee) rounded(d decoded) decoded {
	if b := f.encode(d); b != nil {
		return f.decode(b)
	}
	return d
}

// winner is which NaN comes out of an operation; all is false where the left one
// does whatever it is.
func winner(x, y decoded, hardware bool) decoded {
	if hardware && runtime.GOARCH == "arm64" && y.nan && !y.quiet && !(x.nan && !x.quiet) || !x.nan {
		return y
	}
	return x
}

// sum, product and least are exact: rounded by who encodes them.
func sum(x, y decoded, hardware bool) decoded {
	switch {
	case x.nan || y.nan:
		return winner(x, y, hardware)
	case x.inf && y.inf && x.neg != y.neg:
		return decoded{nan: true}
	case x.inf:
		return x
	case y.inf:
		return y
	}
	s := new(big.Float).SetPrec(exactly).Add(x.x, y.x)
	if s.Sign() == 0 {
		return decoded{neg: x.neg && y.neg, x: s}
	}
	return decoded{neg: s.Sign() < 0, x: s}
}

func product(x, y decoded, hardware bool) decoded {
	neg := x.neg != y.neg
	switch {
	case x.nan || y.nan:
		return winner(x, y, hardware)
	case x.inf || y.inf:
		if !x.inf && x.x.Sign() == 0 || !y.inf && y.x.Sign() == 0 {
			return decoded{nan: true}
		}
		return decoded{neg: neg, inf: true}
	}
	return decoded{neg: neg, x: new(big.Float).SetPrec(exactly).Mul(x.x, y.x)}
}

// compare is -1, 0 or 1; with -0 < +0 if zeros.
func compare(x, y decoded, zeros bool) int {
	rank := func(d decoded) *big.Float {
		switch {
		case d.inf && d.neg:
			return big.NewFloat(math.Inf(-1))
		case d.inf:
			return big.NewFloat(math.Inf(1))
		}
		return d.x
	}
	c := rank(x).Cmp(rank(y))
	if c == 0 && zeros && x.neg != y.neg {
		c = 1
		if x.neg {
			c = -1
		}
	}
	return c
}

func leastOrGreatest(o Op, x, y decoded, hardware bool) decoded {
	if x.nan || y.nan {
		return winner(x, y, hardware)
	}
	if c := compare(x, y, true); o == Min && c > 0 || o == Max && c < 0 {
		return y
	}
	return x
}

// oracle is a o b for one element; nil parts of it are any NaN.
func oracle(o Op, t Type, a, b []byte) [][]byte {
	switch g := t.group(); {
	case o == Replace:
		return [][]byte{b}
	case o == NoOp:
		return [][]byte{a}
	case g == pairs:
		return [][]byte{oraclePair(o, t, a, b)}
	case g == reals, g == complexes && o == Sum:
		f := ieeeOf(t)
		hardware := t == Float16 || t == Complex32 || f.bytes < 16
		var parts [][]byte
		for k := 0; k < len(a); k += f.bytes {
			x, y := f.decode(a[k:k+f.bytes]), f.decode(b[k:k+f.bytes])
			var r decoded
			switch o {
			case Sum:
				r = sum(x, y, hardware)
			case Prod:
				r = product(x, y, hardware)
			default:
				r = leastOrGreatest(o, x, y, hardware)
			}
			parts = append(parts, f.encode(r))
		}
		return parts
	case g == complexes:
		return oracleProduct(t, a, b)
	}
	return [][]byte{oracleInteger(o, t, a, b)}
}

// oracleProduct rounds as package op says: products, then sums, by a wider format
// where there is one.
func oracleProduct(t Type, a, b []byte) [][]byte {
	f := ieeeOf(t)
	wide := []ieee{f}
	switch t {
	case Complex32:
		wide = []ieee{ieeeOf(Float64), ieeeOf(Float32), f}
	case Complex64:
		wide = []ieee{ieeeOf(Float64), f}
	}
	part := func(b []byte, i int) decoded { return f.decode(b[i*f.bytes : (i+1)*f.bytes]) }
	times := func(x, y decoded) decoded {
		p := product(x, y, false)
		if p.nan {
			return decoded{nan: true} // which one is not said
		}
		return wide[0].rounded(p)
	}
	plus := func(x, y decoded) []byte {
		s := sum(x, y, false)
		for _, f := range wide[:len(wide)-1] {
			s = f.rounded(s)
		}
		return f.encode(s)
	}
	minus := func(d decoded) decoded {
		if d.neg = !d.neg; d.x != nil {
			d.x = new(big.Float).Neg(d.x)
		}
		return d
	}
	return [][]byte{
		plus(times(part(a, 0), part(b, 0)), minus(times(part(a, 1), part(b, 1)))),
		plus(times(part(a, 0), part(b, 1)), times(part(a, 1), part(b, 0))),
	}
}

func oraclePair(o Op, t Type, a, b []byte) []byte {
	value, index := t.Parts()
	at := t.IndexOffset()
	first := func(i Type, x, y []byte) int { // of two values
		if i.group() == integers {
			return signed(i, x[:i.Size()]).Cmp(signed(i, y[:i.Size()]))
		}
		f := ieeeOf(i)
		p, q := f.decode(x[:f.bytes]), f.decode(y[:f.bytes])
		switch {
		case p.nan && q.nan:
			return 0
		case p.nan || q.nan: // a NaN comes first
			if p.nan == (o == Minloc) {
				return -1
			}
			return 1
		}
		return compare(p, q, false)
	}
	c := first(value, a, b)
	if o == Maxloc {
		c = -c
	}
	if c > 0 || c == 0 && lower(index, b[at:], a[at:]) {
		return b
	}
	return a
}

// lower compares indexes, of which a NaN is lower than nothing.
func lower(t Type, x, y []byte) bool {
	if t.group() == integers {
		return signed(t, x[:t.Size()]).Cmp(signed(t, y[:t.Size()])) < 0
	}
	f := ieeeOf(t)
	p, q := f.decode(x[:f.bytes]), f.decode(y[:f.bytes])
	return !p.nan && !q.nan && compare(p, q, false) < 0
}

// signed is an integer by its type.
func signed(t Type, b []byte) *big.Int {
	u := bigInt(b)
	switch t {
	case Int8, Int16, Int32, Int64, Int128:
		if u.Bit(8*len(b)-1) == 1 {
			u.Sub(u, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	return u
}

func oracleInteger(o Op, t Type, a, b []byte) []byte {
	x, y, r := signed(t, a), signed(t, b), new(big.Int)
	p, q := x.Sign() != 0, y.Sign() != 0
	truth := func(yes bool) {
		if yes {
			r.SetInt64(1)
		}
	}
	switch o {
	case Sum:
		r.Add(x, y)
	case Prod:
		r.Mul(x, y)
	case Min, Max:
		if r = x; (x.Cmp(y) > 0) == (o == Min) {
			r = y
		}
	case Land:
		truth(p && q)
	case Lor:
		truth(p || q)
	case Lxor:
		truth(p != q)
	case Band:
		r.And(x, y)
	case Bor:
		r.Or(x, y)
	case Bxor:
		r.Xor(x, y)
	}
	return bytesOf(low(r, uint(8*len(a))), len(a)) // low of a negative one is its two's complement
}

// agrees reports whether an element is what the oracle says.
func agrees(t Type, got []byte, want [][]byte) bool {
	k := len(got) / len(want)
	for i, w := range want {
		part := got[i*k : (i+1)*k]
		if w == nil {
			if !ieeeOf(t).decode(part).nan {
				return false
			}
		} else if !bytes.Equal(part, w) {
			return false
		}
	}
	return true
}
