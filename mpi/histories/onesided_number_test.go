package histories_test

import (
	"encoding/binary"
	"math"

	"github.com/halo-mpi/halo/internal/dtype"
)

// smallNumber is the number n, from 0 to 3, as an element of a type.
func smallNumber(e *dtype.Elem, n int) []byte {
	if e.Kind != dtype.Floating && e.Kind != dtype.Complex {
		out := make([]byte, e.Size)
		out[0] = byte(n)
		if e.Kind == dtype.Boolean {
			out[0] = byte(n % 2)
		}
		return out
	}
	out := make([]byte, 0, e.Size)
	for int64(len(out)) < e.Size {
		switch e.Format {
		case dtype.Single:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(n)))
		case dtype.Double64:
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(float64(n)))
		case dtype.Extended: // 64 bits with the leading 1, and an exponent
			high := []uint64{0, 0x3fff, 0x4000, 0x4000}[n]
			low := []uint64{0, 1 << 63, 1 << 63, 3 << 62}[n]
			out = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(out, low), high)
		default: // 112 bits without the leading 1, and an exponent
			high := []uint64{0, 0x3fff << 48, 0x4000 << 48, 0x40008 << 44}[n]
			out = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(out, 0), high)
		}
	}
	return out
}
