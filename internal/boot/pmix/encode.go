package pmix

// Types of values, as all serializers number them.
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
	typeDeviceDistance   uint16 = 54
	typeDeviceType       uint16 = 57
	typeLocality         uint16 = 58
	typeCompressedBytes  uint16 = 59
	typeNspace           uint16 = 60
)

// wildcard is the rank that stands for all ranks of a namespace.
const wildcard uint32 = 0xfffffffe

// undescribed is the kind of buffers in which no type stands before an item.
const undescribed byte = 1

// buffer is a message that is made of items. Each is an array of elements of one type, with the
// number of elements before them.
//
// A serializer is fixed or compact, which differs in integers of more than a byte. Those of a fixed one
// are big-endian. Those of a compact one have 7 bits in each byte, the lowest first, and all bytes but
// the last have the highest bit set; a ninth byte has 8 bits. Signed ones are counted 0, -1, 1, -2 and
// so on.
type buffer struct {
	b       []byte
	compact bool
}

func (w *buffer) u8(v byte) { w.b = append(w.b, v) }

// unsigned appends an integer of a number of bytes.
func (w *buffer) unsigned(v uint64, bytes int) {
	if !w.compact {
		for i := bytes - 1; i >= 0; i-- {
			w.u8(byte(v >> (8 * i)))
		}
		return
	}
	for i := 0; v >= 0x80 && i < 8; i++ {
		w.u8(byte(v) | 0x80)
		v >>= 7
	}
	w.u8(byte(v))
}

// signed appends an integer of a number of bytes.
func (w *buffer) signed(v int64, bytes int) {
	if w.compact {
		v = v<<1 ^ v>>63
	}
	w.unsigned(uint64(v), bytes)
}

// kind appends the type of a value.
func (w *buffer) kind(v uint16) { w.unsigned(uint64(v), 2) }

// text appends a string with its length, which counts the NUL at its end.
func (w *buffer) text(s string) {
	w.signed(int64(len(s)+1), 4)
	w.b = append(w.b, s...)
	w.u8(0)
}

// number appends a size_t, before which its type is written in a fixed serializer.
func (w *buffer) number(n int) {
	if !w.compact {
		w.kind(typeUint64)
	}
	w.unsigned(uint64(n), 8)
}

// count begins an item of n elements.
func (w *buffer) count(n int) { w.signed(int64(n), 4) }

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

// rank appends an item: a rank.
func (w *buffer) rank(v uint32) {
	w.count(1)
	w.unsigned(uint64(v), 4)
}

// status appends an item: a status.
func (w *buffer) status(v status) {
	w.count(1)
	w.signed(int64(v), 4)
}

// proc appends an item: the name of a process.
func (w *buffer) proc(p proc) {
	w.count(1)
	w.text(p.nspace)
	w.unsigned(uint64(p.rank), 4)
}

// value appends the type and the content of a value: of a text, a number of 4 bytes, or a byte of
// another type.
func (w *buffer) value(v value) {
	w.kind(v.kind)
	switch v.kind {
	case typeString:
		w.text(v.text)
	case typeUint32, typeRank:
		w.unsigned(uint64(v.number), 4)
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
		w.info(i)
	}
}

// info appends an element: a key and its value, with flags.
func (w *buffer) info(k kval) {
	w.text(k.key)
	w.unsigned(0, 4) // flags
	w.value(k.value)
}

// kval appends an item: a key and its value.
func (w *buffer) kval(k kval) {
	w.count(1)
	w.text(k.key)
	w.value(k.value)
}

// bytes appends an element: a byte object.
func (w *buffer) bytes(b []byte) {
	w.number(len(b))
	w.b = append(w.b, b...)
}

// buffer appends an item: another buffer.
func (w *buffer) buffer(in buffer) {
	w.count(1)
	w.u8(undescribed)
	w.bytes(in.b)
}
