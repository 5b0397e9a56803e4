package op

import "math/bits"

// int128 is an integer of 128 bits in the order of little-endian memory.
type int128 struct{ lo, hi uint64 }

func (x int128) less(y int128) bool {
	if x.hi != y.hi {
		return int64(x.hi) < int64(y.hi)
	}
	return x.lo < y.lo
}

func (x int128) plus(y int128) int128 {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return int128{lo, hi}
}

func (x int128) times(y int128) int128 {
	hi, lo := bits.Mul64(x.lo, y.lo)
	return int128{lo, hi + x.hi*y.lo + x.lo*y.hi}
}

func (x int128) isTrue() bool { return x.lo|x.hi != 0 }

func wide(o Op, dst, a, b []int128) {
	for i := range dst {
		dst[i] = wider(o, a[i], b[i])
	}
}

func wider(o Op, x, y int128) int128 {
	switch o {
	case Sum:
		return x.plus(y)
	case Prod:
		return x.times(y)
	case Min:
		if y.less(x) {
			return y
		}
		return x
	case Max:
		if x.less(y) {
			return y
		}
		return x
	case Land:
		return int128{lo: truth[uint64](x.isTrue() && y.isTrue())}
	case Lor:
		return int128{lo: truth[uint64](x.isTrue() || y.isTrue())}
	case Lxor:
		return int128{lo: truth[uint64](x.isTrue() != y.isTrue())}
	case Band:
		return int128{x.lo & y.lo, x.hi & y.hi}
	case Bor:
		return int128{x.lo | y.lo, x.hi | y.hi}
	}
	return int128{x.lo ^ y.lo, x.hi ^ y.hi}
}
