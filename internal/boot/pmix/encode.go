package pmix

import "encoding/binary"

// Types of values, as serializer v21 numbers them.
const (
	typeUndef            uint16 = 0
	typeBool             uint16 = 1
	typeByte             uint16 = 2
	typeString           uint16 = 3
	typeSize             uint16 = 4
	typePid              uint16 = 5
	typeInt              uint16 = 6
	typeInt8             uint16 = 7
	typeInt16            uint16 = 8
	typeInt32            uint16 = 9
	typeInt64            uint16 = 10
	typeUint             uint16 = 11
	typeUint8            uint16 = 12
	typeUint16           uint16 = 13
	typeUint32           uint16 = 14
	typeUint64           uint16 = 15
	typeFloat            uint16 = 16
	typeDouble           uint16 = 17
	typeTimeval          uint16 = 18
	typeTime             uint16 = 19
	typeStatus           uint16 = 20
	typeValue            uint16 = 21
	typeProc             uint16 = 22
	typeInfo             uint16 = 24
	typeByteObject       uint16 = 27
	typeKval             uint16 = 28
	typePersist          uint16 = 30
	typePointer          uint16 = 31
	typeScope            uint16 = 32
	typeRange            uint16 = 33
	typeCommand          uint16 = 34
	typeInfoDirectives   uint16 = 35
	typeDataType         uint16 = 36
	typeProcState        uint16 = 37
	typeProcInfo         uint16 = 38
	typeDataArray        uint16 = 39
	typeRank             uint16 = 40
	typeCompressedString uint16 = 42
	typeAllocDirective   uint16 = 43
	typeIOFChannel       uint16 = 45
	typeEnvar            uint16 = 46
	typeJobState         uint16 = 50
	typeLinkState        uint16 = 51
	typeCompressedBytes  uint16 = 59
)

// wildcard is the rank that stands for all ranks of a namespace.
const wildcard uint32 = 0xfffffffe

// undescribed is the kind of buffers in which no type stands before an item.
const undescribed byte = 1

// buffer is a message that is made of items. Each is an array of elements of one type, with the
// number of elements before them. All numbers are big-endian.
type buffer struct{ b []byte }

func (w *buffer) u8(v byte)    { w.b = append(w.b, v) }
func (w *buffer) u16(v uint16) { w.b = binary.BigEndian.AppendUint16(w.b, v) }
func (w *buffer) u32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }
func (w *buffer) u64(v uint64) { w.b = binary.BigEndian.AppendUint64(w.b, v) }

// text appends a string with its length, which counts the NUL at its end.
func (w *buffer) text(s string) {
	w.u32(uint32(len(s) + 1))
	w.b = append(w.b, s...)
	w.u8(0)
}

// number appends a size_t, whose width is written before it.
func (w *buffer) number(n int) {
	w.u16(typeUint64)
	w.u64(uint64(n))
}

// count begins an item of n elements.
func (w *buffer) count(n int) { w.u32(uint32(n)) }

// command appends an item: what a message asks for.
func (w *buffer) command(c byte) {
	w.count(1)
	w.u8(c)
}

// size appends an item: a size_t.
func (w *buffer) size(n int) {
	w.count(1)
	w.number(n)
}

// string appends an item: a string.
func (w *buffer) string(s string) {
	w.count(1)
	w.text(s)
}

// word appends an item: a number of 4 bytes.
func (w *buffer) word(v uint32) {
	w.count(1)
	w.u32(v)
}

// proc appends an item: the name of a process.
func (w *buffer) proc(p proc) {
	w.count(1)
	w.text(p.nspace)
	w.u32(p.rank)
}

// value appends the type and the content of a value: of a bool, a text or a byte of another type.
func (w *buffer) value(v value) {
	w.u16(v.kind)
	switch v.kind {
	case typeString:
		w.text(v.text)
	case typeUint32, typeInt32, typeRank:
		w.u32(uint32(v.number))
	default:
		w.u8(byte(v.number))
	}
}

// infos appends two items: the number of infos, and the infos, unless there are none.
func (w *buffer) infos(list ...kval) {
	w.size(len(list))
	if len(list) == 0 {
		return
	}
	w.count(len(list))
	for _, i := range list {
		w.text(i.key)
		w.u32(0) // flags
		w.value(i.value)
	}
}

// kval appends an item: a key and its value.
func (w *buffer) kval(k kval) {
	w.count(1)
	w.text(k.key)
	w.value(k.value)
}

// buffer appends an item: another buffer.
func (w *buffer) buffer(in buffer) {
	w.count(1)
	w.u8(undescribed)
	w.number(len(in.b))
	w.b = append(w.b, in.b...)
}
