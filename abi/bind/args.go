package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// args are the arguments of a call of C: words, in the order of the parameters, in memory of
// the caller's stack. Numbers are extended to 64 bits there.
type args struct {
	words unsafe.Pointer
	// large: the call is the form with large counts, whose arrays and results of
	// numbers have 64 bits where those of the other have 32.
	large bool
	env   op.Env // of the caller
}

const word = unsafe.Sizeof(uintptr(0))

// word is an argument as it is.
func (a args) word(i int) uintptr { return *(*uintptr)(unsafe.Add(a.words, i*int(word))) }

func (a args) int(i int) int { return int(a.word(i)) }

func (a args) long(i int) int64 { return int64(a.word(i)) }

// firstPage is where addresses begin that memory may have.
const firstPage = mem.FirstPage

// pointer is an address of C as a pointer of Go: memory that is not Go's. It is nil for
// addresses below the first page, which the standard gives meanings of their own.
//
//go:nocheckptr
func pointer(address uintptr) unsafe.Pointer {
	if address < firstPage {
		return nil
	}
	return unsafe.Add(unsafe.Pointer(nil), address)
}

// result is where the argument says that a result is to go.
func (a args) result(i int) unsafe.Pointer { return pointer(a.word(i)) }

// setInt stores a number in an int of C, one that is too large for it as MPI_UNDEFINED. In
// the large form it is an MPI_Count.
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

// setFromInt stores what MPI_X_fromint returns, whose place is behind its one argument.
func (a args) setFromInt(h handle) { a.setWord(1, h) }

// undefined is MPI_UNDEFINED.
const undefined = -32766

// array is an array of numbers of C.
type array struct {
	at    unsafe.Pointer // nil if given is no address
	wide  bool           // 64 bits each, else 32
	given uintptr        // as the program has it, for messages
}

// counts is an array of counts, ints or MPI_Counts.
func (a args) counts(i int) array { return array{a.result(i), a.large, a.word(i)} }

// numbers is an array of ints in both forms, longs one of MPI_Aints.
func (a args) numbers(i int) array { return array{a.result(i), false, a.word(i)} }
func (a args) longs(i int) array   { return array{a.result(i), true, a.word(i)} }

// null reports whether there is no array.
func (r array) null() bool { return r.at == nil }

// get is element i.
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

// ints are the first n elements, nil if there is no array.
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

// handles is an array of handles.
func (a args) handles(i, n int) []handle {
	if p := a.result(i); p != nil && n > 0 {
		return unsafe.Slice((*handle)(p), n)
	}
	return nil
}

// text is a string of C, without blanks around it.
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

// maxName is MPI_MAX_OBJECT_NAME, with the zero at the end.
const maxName = 128

// objectName is a name to be given to an object: what is too long is cut off.
func objectName(s string) string { return s[:min(len(s), maxName-1)] }

// setText stores a string in size bytes of C, with a zero behind it, and returns how long it
// is there.
func setText(address uintptr, size int, s string) int {
	p := pointer(address)
	if p == nil || size <= 0 {
		return 0
	}
	n := copy(unsafe.Slice((*byte)(p), size-1), s)
	*(*byte)(unsafe.Add(p, n)) = 0
	return n
}
