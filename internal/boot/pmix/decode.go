package pmix

import (
	"fmt"
	"strconv"
)

// proc is the name of a process.
type proc struct {
	nspace string
	rank   uint32
}

// kval is a key and its value.
type kval struct {
	key   string
	value value
}

// value is a value of one of the types; the fields that its type does not use are zero.
type value struct {
	kind   uint16
	number int64  // integers of all kinds, bools, ranks, status
	text   string // strings, and floating-point numbers, which are sent as text
	bytes  []byte // byte objects, and arrays of bytes
	proc   proc
	array  []value // data arrays
	infos  []kval  // data arrays of infos and of kvals
}

// maxDepth is the depth to which arrays may contain arrays; servers use 2.
const maxDepth = 8

// reader takes items from a message: see buffer. After the first error all results are zero, and err is
// set. Results share the bytes of the message.
type reader struct {
	left    []byte
	compact bool
	err     error
	depth   int
}

// newReader returns a reader of a message, whose serializer its first item shows: each has one element,
// and the first byte of a fixed 1 is 0.
func newReader(b []byte) *reader { return &reader{left: b, compact: len(b) > 0 && b[0] != 0} }

// within returns a reader of a buffer that is an element of the message.
func (r *reader) within(b []byte) *reader { return &reader{left: b, compact: r.compact, err: r.err} }

// fail keeps the first error.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.left = nil
}

// take takes n bytes.
func (r *reader) take(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.left)) {
		r.fail("an item of %d bytes where %d are left", n, len(r.left))
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// unsigned takes an integer of a number of bytes.
func (r *reader) unsigned(bytes uint64) (n uint64) {
	if !r.compact {
		for _, b := range r.take(bytes) {
			n = n<<8 | uint64(b)
		}
		return n
	}
	for shift := 0; shift < 56; shift += 7 {
		b := r.u8()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	return n | uint64(r.u8())<<56
}

// signed takes an integer of a number of bytes.
func (r *reader) signed(bytes uint64) int64 {
	n := r.unsigned(bytes)
	if r.compact {
		return int64(n>>1) ^ -int64(n&1)
	}
	unused := 64 - 8*bytes
	return int64(n<<unused) >> unused
}

// kind takes the type of a value.
func (r *reader) kind() uint16 {
	n := r.unsigned(2)
	if n > 0xffff {
		r.fail("a type of the number %d", n)
	}
	return uint16(n)
}

// u32 takes an integer that is a rank or a number of flags.
func (r *reader) u32() uint32 { return uint32(r.unsigned(4)) }

// text takes a string. A length of 0 is that of a null pointer.
func (r *reader) text() string { return trimNUL(r.take(r.length(r.signed(4)))) }

// length returns a length that is not negative.
func (r *reader) length(n int64) uint64 {
	if n < 0 {
		r.fail("an item of %d bytes", n)
		return 0
	}
	return uint64(n)
}

// trimNUL returns a string without the NUL at its end.
func trimNUL(b []byte) string {
	if len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return string(b)
}

// number takes a size_t.
func (r *reader) number() int64 {
	if r.compact {
		return int64(r.unsigned(8))
	}
	return r.described()
}

// described takes an integer with its type before it.
func (r *reader) described() int64 { return r.integer(r.kind()) }

// integer takes an integer of a type.
func (r *reader) integer(kind uint16) int64 {
	switch kind {
	case typeInt8:
		return int64(int8(r.u8()))
	case typeUint8, typeByte:
		return int64(r.u8())
	case typeInt16:
		return r.signed(2)
	case typeUint16:
		return int64(r.unsigned(2))
	case typeInt32:
		return r.signed(4)
	case typeUint32:
		return int64(r.unsigned(4))
	case typeInt64:
		return r.signed(8)
	case typeUint64:
		return int64(r.unsigned(8))
	}
	r.fail("an integer of type %d", kind)
	return 0
}

// count begins an item and takes the number of its elements.
func (r *reader) count() int64 { return r.signed(4) }

// one begins an item of one element.
func (r *reader) one() {
	if n := r.count(); r.err == nil && n != 1 {
		r.fail("an item of %d elements where one is due", n)
	}
}

// more reports whether another item follows.
func (r *reader) more() bool { return r.err == nil && len(r.left) > 0 }

// status takes an item: the result of a request.
func (r *reader) status() status {
	r.one()
	return status(r.signed(4))
}

// size takes an item: a size_t.
func (r *reader) size() int64 {
	r.one()
	return r.number()
}

// string takes an item: a string.
func (r *reader) string() string {
	r.one()
	return r.text()
}

// proc takes an element: the name of a process.
func (r *reader) proc() proc { return proc{r.text(), r.u32()} }

// bytes takes an element: a byte object.
func (r *reader) bytes() []byte { return r.take(r.length(r.number())) }

// kval takes an item: a key and its value.
func (r *reader) kval() kval {
	r.one()
	return kval{r.text(), r.value()}
}

// info takes an element: a key and its value, with flags.
func (r *reader) info() kval {
	key := r.text()
	r.u32() // flags
	return kval{key, r.value()}
}

// value takes an element: a value with its type before it.
func (r *reader) value() value { return r.content(r.kind()) }

// content takes a value of a type. The type of a value does not say how long it is, so that nothing
// behind a value of an unknown type can be read.
func (r *reader) content(kind uint16) value {
	v := value{kind: kind}
	switch kind {
	case typeUndef:
	case typeBool, typeByte, typeUint8, typeInt8, typePersist, typePointer, typeScope, typeRange, typeCommand,
		typeProcState, typeAllocDirective, typeJobState, typeLinkState:
		v.number = int64(r.u8())
	case typeString, typeFloat, typeDouble, typeNspace:
		v.text = r.text()
	case typeSize:
		v.number = r.number()
	case typePid:
		v.number = r.described()
	case typeInt, typeUint:
		if r.compact {
			v.number = r.signed(4)
		} else {
			v.number = r.described()
		}
	case typeInt16, typeInt32, typeInt64, typeUint16, typeUint32, typeUint64:
		v.number = r.integer(kind)
	case typeTime:
		v.number = r.integer(typeUint64)
	case typeTimeval:
		v.number = r.signed(8) // seconds
		r.signed(8)            // microseconds
	case typeStatus:
		v.number = r.integer(typeInt32)
	case typeRank, typeInfoDirectives:
		v.number = r.integer(typeUint32)
	case typeDeviceType:
		v.number = r.integer(typeUint64)
	case typeDataType, typeIOFChannel, typeLocality:
		v.number = r.integer(typeUint16)
	case typeProc:
		v.proc = r.proc()
	case typeProcInfo:
		v.proc = r.proc()
		v.text = r.text()        // host
		r.text()                 // executable
		r.described()            // process id
		v.number = int64(r.u8()) // state
	case typeByteObject, typeCompressedString, typeCompressedBytes:
		v.bytes = r.bytes()
	case typeDeviceDistance:
		v.text = r.text() // name that is unique
		r.text()          // name in the system
		r.unsigned(8)     // kind
		r.unsigned(2)     // least distance
		r.unsigned(2)     // greatest distance
	case typeEnvar:
		v.text = r.text() + "=" + r.text()
		r.u8() // separator
	case typeDataArray:
		r.array(&v)
	default:
		r.fail("a value of the unknown type %d", kind)
	}
	return v
}

// leastSize is the number of bytes that the shortest element of a type has. It bounds the memory of
// an array by the length of the message.
func leastSize(kind uint16) uint64 {
	switch kind {
	case typeInfo, typeKval:
		return 3
	case typeProc:
		return 2
	}
	return 1
}

// array takes the elements of a data array.
func (r *reader) array(v *value) {
	kind, n := r.kind(), r.number()
	if n == 0 || kind == typeUndef {
		return
	}
	if n < 0 || uint64(n)*leastSize(kind) > uint64(len(r.left)) || r.depth == maxDepth {
		r.fail("an array of %d elements of type %d at depth %d where %d bytes are left", n, kind, r.depth, len(r.left))
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	switch kind {
	case typeByte, typeUint8, typeInt8:
		v.bytes = r.take(uint64(n))
	case typeInfo, typeKval:
		for range n {
			if r.err != nil {
				return
			}
			if kind == typeInfo {
				v.infos = append(v.infos, r.info())
			} else {
				v.infos = append(v.infos, kval{r.text(), r.value()})
			}
		}
	default:
		for range n {
			if r.err != nil {
				return
			}
			element := value{}
			if kind == typeValue {
				element = r.value()
			} else {
				element = r.content(kind)
			}
			v.array = append(v.array, element)
		}
	}
}

// find returns the first value of a key in a list.
func find(list []kval, key string) (value, bool) {
	for _, k := range list {
		if k.key == key {
			return k.value, true
		}
	}
	return value{}, false
}

// integer returns the number of a value that is an integer from 0 to limit.
func (v value) integer(limit int64) (int, bool) {
	switch v.kind {
	case typeSize, typePid, typeInt, typeUint, typeInt8, typeUint8, typeInt16, typeUint16, typeInt32, typeUint32, typeInt64, typeUint64, typeRank:
		return int(v.number), v.number >= 0 && v.number <= limit
	case typeString: // some servers store numbers as text
		n, err := strconv.ParseInt(v.text, 10, 64)
		return int(n), err == nil && n >= 0 && n <= limit
	}
	return 0, false
}
