package dtype

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/class"
)

// checked is arithmetic that records whether any operation has overflowed, so that
// a formula is computed as a whole and checked once.
type checked struct{ overflow bool }

func (c *checked) add(a, b int64) int64 {
	s := a + b
	if (a^s)&(b^s) < 0 {
		c.overflow = true
	}
	return s
}

func (c *checked) sub(a, b int64) int64 {
	s := a - b
	if (a^b)&(a^s) < 0 {
		c.overflow = true
	}
	return s
}

func (c *checked) mul(a, b int64) int64 {
	hi, lo := bits.Mul64(Magnitude(a), Magnitude(b))
	p := int64(lo)
	if (a < 0) != (b < 0) {
		p = -p
	}
	// A magnitude of 1<<63 would fit as a negative number. It is refused as well: no
	// object is that long.
	if hi != 0 || lo >= 1<<63 {
		c.overflow = true
	}
	return p
}

// Magnitude is the absolute value; it is right for the lowest int64, too.
func Magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// err is nil unless something has overflowed.
func (c *checked) err(what string) error {
	if c.overflow {
		return class.Errorf(class.ValueTooLarge, "%s: size or bounds exceed 64 bits", what)
	}
	return nil
}
