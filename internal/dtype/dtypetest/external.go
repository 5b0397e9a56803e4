package dtypetest

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/dtype"
)

// External converts the entries in mem, where displacement 0 is at origin, to external32
// one by one and byte by byte. It assumes a little-endian machine.
func (m *Typemap) External(mem []byte, origin int64) []byte {
	var out []byte
	for _, e := range m.Entries {
		b := mem[origin+e.Off:][:e.Elem.Size]
		switch {
		case e.Elem.ID == dtype.Long && len(b) == 8: // the low 4 bytes with the sign
			v := int64(binary.LittleEndian.Uint64(b))
			low := uint32(v & 0x7fffffff)
			if v < 0 {
				low += 0x80000000
			}
			out = binary.BigEndian.AppendUint32(out, low)
		case e.Elem.ID == dtype.Wchar:
			out = append(out, b[1], b[0])
		case e.Elem.ID == dtype.LongDouble:
			out = append(out, longDouble(e.Elem.Format, b)...)
		case e.Elem.Kind == dtype.Complex:
			h := len(b) / 2
			out = appendReversed(appendReversed(out, b[:h]), b[h:])
		default:
			out = appendReversed(out, b)
		}
	}
	return out
}

// Normalize changes the random bytes in mem to numbers that do not change when they are
// converted to external32 and back: the values fit the narrower types of external32, and long
// doubles are normal. No bytes may overlap.
func (m *Typemap) Normalize(mem []byte, origin int64) {
	for _, e := range m.Entries {
		b := mem[origin+e.Off:][:e.Elem.Size]
		switch {
		case e.Elem.ID == dtype.LongDouble && e.Elem.Format == dtype.Extended:
			clear(b[10:])
			b[7] |= 0x80
			b[8], b[9] = b[8]|1, b[9]&^1
		case e.Elem.ID == dtype.LongDouble && e.Elem.Format == dtype.Double64:
			b[6], b[7] = b[6]|0x10, b[7]&^1
		case e.Elem.ID == dtype.Long && len(b) == 8: // a value that fits 4 bytes
			for i := range b[4:] {
				b[4+i] = byte(int8(b[3]) >> 7)
			}
		case e.Elem.ID == dtype.Wchar && len(b) == 4:
			b[2], b[3] = 0, 0
		}
	}
}

func appendReversed(out, b []byte) []byte {
	for i := range b {
		out = append(out, b[len(b)-1-i])
	}
	return out
}

// longDouble widens a normal number to binary128.
func longDouble(f dtype.Format, b []byte) []byte {
	switch f {
	case dtype.Extended: // the bits after the leading one become the first of 112
		m := binary.LittleEndian.Uint64(b) << 1
		out := []byte{b[9], b[8]}
		out = binary.BigEndian.AppendUint64(out, m)
		return append(out, 0, 0, 0, 0, 0, 0)
	case dtype.Quad:
		return appendReversed(nil, b)
	}
	v := binary.LittleEndian.Uint64(b)
	exponent := v>>52&0x7ff + 16383 - 1023
	out := binary.BigEndian.AppendUint64(nil, v>>63<<63|exponent<<48|v<<12>>16)
	return binary.BigEndian.AppendUint64(out, v<<60)
}
