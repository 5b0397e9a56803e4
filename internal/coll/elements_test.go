package coll_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/op"
)

// someType returns an element type, mostly one that Go has.
func someType(g *rand.Rand) op.Type {
	list := []op.Type{op.Byte, op.Bool32, op.Int128, op.Pair(op.Float64, op.Int32), op.Pair(op.Int16, op.Int32), op.Pair(op.Float32, op.Int64)}
	if i := g.IntN(3 * int(op.Complex128)); i < len(list) {
		return list[i]
	}
	return op.Bool + op.Type(g.IntN(int(op.Complex128)))
}

// someCount returns a number of elements, often 0.
func someCount(g *rand.Rand, most int) int {
	return g.IntN(1 + []int{0, 1, 8, 64, 1500, 9000}[g.IntN(6)]*most/9000)
}

// smallNumbers replaces random bytes by small whole numbers if the type rounds, so that sums and
// products are exact in every order.
func smallNumbers(typ op.Type, b []byte, g *rand.Rand) {
	le := binary.LittleEndian
	small := func() float64 { return float64(g.IntN(3) - 1) }
	switch typ {
	case op.Float32, op.Complex64:
		for i := 0; i < len(b); i += 4 {
			le.PutUint32(b[i:], math.Float32bits(float32(small())))
		}
	case op.Float64, op.Complex128:
		for i := 0; i < len(b); i += 8 {
			le.PutUint64(b[i:], math.Float64bits(small()))
		}
	}
}

// plainZeros makes the negative zeros of complex numbers positive, since the sign of a zero in a
// product depends on the order.
func plainZeros(typ op.Type, b []byte) {
	le := binary.LittleEndian
	switch typ {
	case op.Complex64:
		for i := 0; i < len(b); i += 4 {
			if le.Uint32(b[i:]) == 1<<31 {
				le.PutUint32(b[i:], 0)
			}
		}
	case op.Complex128:
		for i := 0; i < len(b); i += 8 {
			if le.Uint64(b[i:]) == 1<<63 {
				le.PutUint64(b[i:], 0)
			}
		}
	}
}

// fill makes b random.
func fill(b []byte, g *rand.Rand) {
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, g.Uint64())
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(g.Uint32())
	}
}

// wild returns count elements whose reduction depends on the order, with NaNs of many payloads,
// infinities and zeros of both signs.
func wild(typ op.Type, count, r, k int) []byte {
	g := rand.New(rand.NewPCG(uint64(r), uint64(k)))
	b := make([]byte, count*typ.Size())
	fill(b, g)
	le := binary.LittleEndian
	switch typ {
	case op.Float32, op.Complex64:
		for i := 0; i < len(b); i += 4 {
			switch g.IntN(8) {
			case 0:
				le.PutUint32(b[i:], 0x7f800000|uint32(g.IntN(3)))
			case 1:
				le.PutUint32(b[i:], uint32(g.IntN(2))<<31)
			default:
				le.PutUint32(b[i:], math.Float32bits(float32(g.NormFloat64())))
			}
		}
	default:
		for i := 0; i < len(b); i += 8 {
			switch g.IntN(8) {
			case 0:
				le.PutUint64(b[i:], 0x7ff0000000000000|uint64(g.IntN(3)))
			case 1:
				le.PutUint64(b[i:], uint64(g.IntN(2))<<63)
			default:
				le.PutUint64(b[i:], math.Float64bits(g.NormFloat64()))
			}
		}
	}
	return b
}
