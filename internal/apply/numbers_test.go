package apply

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/halo-mpi/halo/internal/op"
)

// one returns the number 1 of a simple type; of complex types, 1 + 0i.
func one(t op.Type) []byte {
	b := make([]byte, t.Size())
	switch t {
	case op.Float16, op.Complex32:
		binary.LittleEndian.PutUint16(b, 0x3c00)
	case op.Float32, op.Complex64:
		binary.LittleEndian.PutUint32(b, 0x3f800000)
	case op.Float64, op.Complex128:
		binary.LittleEndian.PutUint64(b, 0x3ff0000000000000)
	case op.Float80, op.Complex160:
		binary.LittleEndian.PutUint64(b, 1<<63)
		binary.LittleEndian.PutUint16(b[8:], 0x3fff)
	case op.Float128, op.Complex256:
		binary.LittleEndian.PutUint16(b[14:], 0x3fff)
	default:
		b[0] = 1
	}
	return b
}

// signByte returns the byte of a real type whose highest bit is the sign; 0 for other types.
func signByte(t op.Type) int {
	switch t {
	case op.Float16, op.Complex32:
		return 1
	case op.Float32, op.Complex64:
		return 3
	case op.Float64, op.Complex128:
		return 7
	case op.Float80, op.Complex160:
		return 9
	case op.Float128, op.Complex256:
		return 15
	}
	return 0
}

func isComplex(t op.Type) bool {
	switch t {
	case op.Complex32, op.Complex64, op.Complex128, op.Complex160, op.Complex256:
		return true
	}
	return false
}

// unsigned removes the sign of zeros in complex numbers, and returns e: the sign of a zero in a
// product depends on the order.
func unsigned(t op.Type, e []byte) []byte {
	if isComplex(t) {
		for half := range slices.Chunk(e, len(e)/2) {
			if at := signByte(t); half[at] == 0x80 {
				half[at] = 0
				for _, b := range half {
					if b != 0 {
						half[at] = 0x80
						break
					}
				}
			}
		}
	}
	return e
}

// number returns a small integer, as an element of t.
func number(t op.Type, n int) []byte {
	b := make([]byte, t.Size())
	for bit := bits.Len(uint(n)) - 1; bit >= 0; bit-- {
		op.Apply(op.Sum, t, b, b, b)
		if n>>bit&1 == 1 {
			op.Apply(op.Sum, t, b, b, one(t))
		}
	}
	return b
}

// operand returns an element such that the result of the operation on several of them does not
// depend on the order, even by rounding: random bits for integers, small numbers for sums of
// reals, units for products of reals.
func operand(g *rand.Rand, o op.Op, t op.Type) []byte {
	b := make([]byte, t.Size())
	if value, index := t.Parts(); index != 0 {
		copy(b, operand(g, op.Max, value))
		copy(b[t.IndexOffset():], operand(g, op.Max, index))
		return b
	}
	at := signByte(t)
	switch {
	case o == op.NoOp:
	case at == 0:
		fill(g, b, len(b))
	case o == op.Prod:
		copy(b, one(t))
		if isComplex(t) && g.IntN(2) == 0 { // the imaginary unit
			copy(b[len(b)/2:], b[:len(b)/2])
			clear(b[:len(b)/2])
			at += len(b) / 2
		}
		b[at] |= byte(g.IntN(2)) << 7
	default:
		copy(b, number(t, 1+g.IntN(4)))
		if o != op.Sum {
			b[at] |= byte(g.IntN(2)) << 7
		}
	}
	return b
}
