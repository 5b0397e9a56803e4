package agree

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/halo-mpi/halo/internal/callsite"
)

// Record is what a member tells another one.
type Record struct {
	Kind, Raw       uint8
	_               [2]uint8
	Root            int32
	Class           uint32 // of the error in the arguments, else 0
	_               uint32
	Elements, Bytes int64 // of what the member sends to the receiver of the record
	Hash            uint64
	Counts          uint64             // a hash of the counts that divide the result
	Call            [32]byte           // a text ends with a zero byte unless it fills the array
	At              [callsite.Max]byte // place of the call
	Op              [64]byte           // of a reduction
	Detail          [256]byte          // the error in the arguments; else the counts that divide the result
	Text            [256]byte          // describes what is sent
}

// Finding is what a member tells all others about the errors that it has found.
type Finding struct {
	Class uint32 // 0 if it has found nothing
	Text  [1020]byte
}

// Neither type has padding, so these are also the lengths of their encodings: the fields one after the
// other, in little-endian words.
const (
	RecordSize  = int(unsafe.Sizeof(Record{}))
	FindingSize = int(unsafe.Sizeof(Finding{}))
)

// Encode writes x to b. Package encoding/binary, which looks at each byte of a text by reflection, takes
// most of the time of a short collective in checking mode.
func (x *Record) Encode(b []byte) {
	b[0], b[1] = x.Kind, x.Raw
	w := binary.LittleEndian
	w.PutUint32(b[4:], uint32(x.Root))
	w.PutUint32(b[8:], x.Class)
	w.PutUint64(b[16:], uint64(x.Elements))
	w.PutUint64(b[24:], uint64(x.Bytes))
	w.PutUint64(b[32:], x.Hash)
	w.PutUint64(b[40:], x.Counts)
	b = b[48:RecordSize]
	for _, t := range x.texts() {
		b = b[copy(b, t):]
	}
}

// Decode reads what Encode wrote.
func (x *Record) Decode(b []byte) {
	x.Kind, x.Raw = b[0], b[1]
	w := binary.LittleEndian
	x.Root = int32(w.Uint32(b[4:]))
	x.Class = w.Uint32(b[8:])
	x.Elements = int64(w.Uint64(b[16:]))
	x.Bytes = int64(w.Uint64(b[24:]))
	x.Hash = w.Uint64(b[32:])
	x.Counts = w.Uint64(b[40:])
	b = b[48:RecordSize]
	for _, t := range x.texts() {
		b = b[copy(t, b):]
	}
}

// texts are the texts of x in their order.
func (x *Record) texts() [5][]byte {
	return [5][]byte{x.Call[:], x.At[:], x.Op[:], x.Detail[:], x.Text[:]}
}

// Encode writes f to b.
func (f *Finding) Encode(b []byte) {
	binary.LittleEndian.PutUint32(b, f.Class)
	copy(b[4:FindingSize], f.Text[:])
}

// Decode reads what Encode wrote.
func (f *Finding) Decode(b []byte) {
	f.Class = binary.LittleEndian.Uint32(b)
	copy(f.Text[:], b[4:FindingSize])
}

// Text returns a text of a record up to its zero byte.
func Text(b []byte) []byte {
	b, _, _ = bytes.Cut(b, []byte{0})
	return b
}
