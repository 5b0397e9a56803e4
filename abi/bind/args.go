package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// args are the arguments of a call from C: 64-bit words on the caller's stack, in the order
// of the parameters. Shorter numbers are extended to 64 bits.
type args struct {
	words unsafe.Pointer
	// large: the call is the form with large counts. Its count arrays and count results
	// have 64 bits where those of the other form have 32.
	large bool
	env   op.Env // of the caller
}

const word = unsafe.Sizeof(uintptr(0))

// word returns argument i without conversion.
func (a args) word(i int) uintptr { return *(*uintptr)(unsafe.Add(a.words, i*int(word))) }

func (a args) int(i int) int { return int(a.word(i)) }

func (a args) long(i int) int64 { return int64(a.word(i)) }

// firstPage is the lowest address that memory may have.
const firstPage = mem.FirstPage

// pointer converts an address from C, of memory outside the Go heap, to a Go pointer. It
// returns nil for addresses below firstPage: the standard ABI uses those as constants.
//
//go:nocheckptr
func pointer(address uintptr) unsafe.Pointer {
	if address < firstPage {
		return nil
	}
	return unsafe.Add(unsafe.Pointer(nil), address)
}

// result returns argument i as a pointer to an output parameter.
func (a args) result(i int) unsafe.Pointer { return pointer(a.word(i)) }

// setCount stores a count: as an MPI_Count in the large form, otherwise as an int, or as
// MPI_UNDEFINED if it does not fit into an int.
func (a args) setCount(i int, n int64) {
	switch {
	case a.large:
		*(*int64)(a.result(i)) = n
	case n != int64(int32(n)):
		*(*int32)(a.result(i)) = undefined
	default:
		*(*int32)(a.result(i)) = int32(n)
	}
}

func (a args) setInt(i int, n int)      { *(*int32)(a.result(i)) = int32(n) }
func (a args) setLong(i int, n int64)   { *(*int64)(a.result(i)) = n }
func (a args) setWord(i int, w uintptr) { *(*uintptr)(a.result(i)) = w }

func (a args) setBool(i int, b bool) {
	n := int32(0)
	if b {
		n = 1
	}
	*(*int32)(a.result(i)) = n
}

// setFromInt stores the result of MPI_X_fromint in the word behind its only argument.
func (a args) setFromInt(h handle) { a.setWord(1, h) }

// undefined is MPI_UNDEFINED.
const undefined = -32766

// array is an array of numbers of C.
type array struct {
	at    unsafe.Pointer // nil if given is no address
	wide  bool           // elements have 64 bits instead of 32
	given uintptr        // the address that the program passed, for error messages
}

// counts returns argument i as an array of counts: MPI_Counts in the large form, else ints.
func (a args) counts(i int) array { return array{a.result(i), a.large, a.word(i)} }

// numbers returns argument i as an array of ints in both forms, longs as one of MPI_Aints.
func (a args) numbers(i int) array { return array{a.result(i), false, a.word(i)} }
func (a args) longs(i int) array   { return array{a.result(i), true, a.word(i)} }

// null reports whether there is no array.
func (r array) null() bool { return r.at == nil }

// get returns element i.
func (r array) get(i int) int {
	if r.wide {
		return int(*(*int64)(unsafe.Add(r.at, 8*i)))
	}
	return int(*(*int32)(unsafe.Add(r.at, 4*i)))
}

// set stores element i.
func (r array) set(i, n int) {
	if r.wide {
		*(*int64)(unsafe.Add(r.at, 8*i)) = int64(n)
		return
	}
	*(*int32)(unsafe.Add(r.at, 4*i)) = int32(n)
}

// ints returns a copy of the first n elements, or nil if there is no array.
func (r array) ints(n int) []int {
	if r.at == nil || n <= 0 {
		return nil
	}
	s := make([]int, n)
	for i := range s {
		s[i] = r.get(i)
	}
	return s
}

// bools are the first n elements as logical values, nil if there is no array.
func (r array) bools(n int) []bool {
	if r.at == nil || n <= 0 {
		return nil
	}
	s := make([]bool, n)
	for i := range s {
		s[i] = r.get(i) != 0
	}
	return s
}

// handles returns argument i as a slice of n handles, in place.
func (a args) handles(i, n int) []handle {
	if p := a.result(i); p != nil && n > 0 {
		return unsafe.Slice((*handle)(p), n)
	}
	return nil
}

// text copies a string of C that ends with a zero.
func text(address uintptr) string {
	p := pointer(address)
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// maxName is MPI_MAX_OBJECT_NAME, which includes the terminating zero.
const maxName = 128

// objectName truncates a name to the length that an object may have.
func objectName(s string) string { return s[:min(len(s), maxName-1)] }

// setText stores a string in size bytes of memory of C with a terminating zero, truncated if
// necessary, and returns the length stored without the zero.
func setText(address uintptr, size int, s string) int {
	p := pointer(address)
	if p == nil || size <= 0 {
		return 0
	}
	n := copy(unsafe.Slice((*byte)(p), size-1), s)
	*(*byte)(unsafe.Add(p, n)) = 0
	return n
}
