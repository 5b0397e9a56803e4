package pmix

import (
	"encoding/binary"
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

// reader takes items from a message. After the first error all results are zero, and err is set.
// Results share the bytes of the message.
type reader struct {
	left  []byte
	err   error
	depth int
}

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

func (r *reader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// text takes a string. A length of 0 is that of a null pointer.
func (r *reader) text() string {
	return trimNUL(r.take(uint64(r.u32())))
}

// trimNUL returns a string without the NUL at its end.
func trimNUL(b []byte) string {
	if len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return string(b)
}

// number takes an integer of any width with its type before it.
func (r *reader) number() int64 { return r.integer(r.u16()) }

// integer takes an integer of a type.
func (r *reader) integer(kind uint16) int64 {
	switch kind {
	case typeInt8:
		return int64(int8(r.u8()))
	case typeUint8, typeByte:
		return int64(r.u8())
	case typeInt16:
		return int64(int16(r.u16()))
	case typeUint16:
		return int64(r.u16())
	case typeInt32:
		return int64(int32(r.u32()))
	case typeUint32:
		return int64(r.u32())
	case typeInt64, typeUint64:
		return int64(r.u64())
	}
	r.fail("an integer of type %d", kind)
	return 0
}

// one begins an item of one element.
func (r *reader) one() {
	if n := r.u32(); r.err == nil && n != 1 {
		r.fail("an item of %d elements where one is due", int32(n))
	}
}

// more reports whether another item follows.
func (r *reader) more() bool { return r.err == nil && len(r.left) > 0 }

// status takes an item: the result of a request.
func (r *reader) status() status {
	r.one()
	return status(r.u32())
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
func (r *reader) bytes() []byte {
	n := r.number()
	if n < 0 {
		r.fail("a byte object of %d bytes", n)
	}
	return r.take(uint64(n))
}

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
func (r *reader) value() value { return r.content(r.u16()) }

// content takes a value of a type. The type of a value does not say how long it is, so that nothing
// behind a value of an unknown type can be read.
func (r *reader) content(kind uint16) value {
	v := value{kind: kind}
	switch kind {
	case typeUndef:
	case typeBool, typeByte, typeUint8, typeInt8, typePersist, typePointer, typeScope, typeRange, typeCommand,
		typeProcState, typeAllocDirective, typeJobState, typeLinkState:
		v.number = int64(r.u8())
	case typeString, typeFloat, typeDouble:
		v.text = r.text()
	case typeSize, typePid, typeInt, typeUint:
		v.number = r.number()
	case typeInt16, typeInt32, typeInt64, typeUint16, typeUint32, typeUint64:
		v.number = r.integer(kind)
	case typeTime:
		v.number = r.integer(typeUint64)
	case typeTimeval:
		v.number = r.integer(typeInt64) // seconds
		r.u64()                         // microseconds
	case typeStatus:
		v.number = r.integer(typeInt32)
	case typeRank, typeInfoDirectives:
		v.number = r.integer(typeUint32)
	case typeDataType, typeIOFChannel:
		v.number = r.integer(typeUint16)
	case typeProc:
		v.proc = r.proc()
	case typeProcInfo:
		v.proc = r.proc()
		v.text = r.text()        // host
		r.text()                 // executable
		r.number()               // process id
		v.number = int64(r.u8()) // state
	case typeByteObject, typeCompressedString, typeCompressedBytes:
		v.bytes = r.bytes()
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
		return 6
	case typeProc:
		return 8
	}
	return 1
}

// array takes the elements of a data array.
func (r *reader) array(v *value) {
	kind, n := r.u16(), r.number()
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
