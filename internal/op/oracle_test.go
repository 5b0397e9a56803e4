package op

import (
	"bytes"
	"math"
	"math/big"
	"runtime"
)

// The oracle computes the operations of Check's table from their definitions, bit by bit and
// with exact numbers, independently of Apply.

// winner determines which of two NaNs is the result of an operation. If hardware is false the
// left one is the result in any case.
func winner(x, y decoded, hardware bool) decoded {
	if hardware && runtime.GOARCH == "arm64" && y.nan && !y.quiet && !(x.nan && !x.quiet) || !x.nan {
		return y
	}
	return x
}

// sum, product and least are exact; the caller rounds when it encodes the result. The direction
// affects only the sign of a sum that is zero.
func sum(x, y decoded, hardware bool, e Env) decoded {
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
		return decoded{neg: x.neg && y.neg || e&roundMask == RoundDown && (x.neg || y.neg), x: s}
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

// compare returns -1, 0 or 1; with zeros, -0 < +0.
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

// oracle returns a o b for one element; a part that is nil stands for any NaN.
func oracle(o Op, t Type, a, b []byte) [][]byte {
	env := o.Env()
	o = o.Bare()
	if o != Sum && o != Prod {
		env = 0
	}
	switch g := t.group(); {
	case o == Replace:
		return [][]byte{b}
	case o == NoOp:
		return [][]byte{a}
	case g == pairs:
		return [][]byte{oraclePair(o, t, a, b)}
	case g == reals, g == complexes && o == Sum:
		f := ieeeOf(t).in(env)
		hardware := t == Float16 || t == Complex32 || f.bytes < 16
		var parts [][]byte
		for k := 0; k < len(a); k += f.bytes {
			x, y := f.decode(a[k:k+f.bytes]), f.decode(b[k:k+f.bytes])
			var r decoded
			switch o {
			case Sum:
				r = sum(x, y, hardware, f.env)
			case Prod:
				r = product(x, y, hardware)
			default:
				r = leastOrGreatest(o, x, y, hardware)
			}
			parts = append(parts, f.encode(r))
		}
		return parts
	case g == complexes:
		return oracleProduct(t, env, a, b)
	}
	return [][]byte{oracleInteger(o, t, a, b)}
}

// oracleProduct rounds as package op says: first the products, then the sums, or through a wider
// format if there is one.
func oracleProduct(t Type, env Env, a, b []byte) [][]byte {
	f := ieeeOf(t).in(env)
	wide := []ieee{f}
	switch t {
	case Complex32:
		wide = []ieee{ieeeOf(Float64).in(env & roundMask), ieeeOf(Float32).in(env & roundMask), f}
	case Complex64:
		wide = []ieee{ieeeOf(Float64).in(env), f}
	}
	part := func(b []byte, i int) decoded { return f.decode(b[i*f.bytes : (i+1)*f.bytes]) }
	times := func(x, y decoded) decoded {
		p := product(x, y, false)
		if p.nan {
			return decoded{nan: true} // the result may be any NaN
		}
		return wide[0].rounded(p)
	}
	plus := func(x, y decoded) []byte {
		s := sum(x, y, false, f.env)
		for _, f := range wide[:len(wide)-1] {
			s = f.rounded(s)
		}
		return f.encode(s)
	}
	minus := func(d decoded) decoded {
		d.neg = !d.neg
		if d.x != nil {
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
	first := func(i Type, x, y []byte) int { // the order of two values
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

// lower compares indexes. A NaN is not lower than any index.
func lower(t Type, x, y []byte) bool {
	if t.group() == integers {
		return signed(t, x[:t.Size()]).Cmp(signed(t, y[:t.Size()])) < 0
	}
	f := ieeeOf(t)
	p, q := f.decode(x[:f.bytes]), f.decode(y[:f.bytes])
	return !p.nan && !q.nan && compare(p, q, false) < 0
}

// signed returns an integer by its type.
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
		r = x
		if (x.Cmp(y) > 0) == (o == Min) {
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
	return bytesOf(low(r, uint(8*len(a))), len(a)) // low of a negative number is its two's complement
}

// agrees reports whether an element is equal to the result of the oracle.
func agrees(t Type, got []byte, want [][]byte) bool {
	k := len(got) / len(want)
	for i, w := range want {
		part := got[i*k : (i+1)*k]
		if w == nil {
			if !ieeeOf(t).decode(part).nan {
				return false
			}
		} else if !bytes.Equal(dataOf(t, part, i*k), dataOf(t, w, i*k)) {
			return false
		}
	}
	return true
}
