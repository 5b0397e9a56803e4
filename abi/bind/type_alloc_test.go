package bind

import (
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// shortTypes makes, commits and frees types one at a time, with arguments as the C library
// passes them.
type shortTypes struct {
	l       *Lib
	numbers map[string]int
	memory  *[8]int64
	words   *[8]uintptr
	newtype *handle
}

func newShortTypes(world *mpi.Comm) *shortTypes {
	s := &shortTypes{l: New(Hooks{Fast: newTold()}), numbers: map[string]int{}, memory: unmoved[[8]int64](), words: new([8]uintptr), newtype: unmoved[handle]()}
	s.l.testStart(world)
	s.l.state.Store(running)
	for i, p := range procedures {
		s.numbers[p.String()] = i
	}
	ints := (*[12]int32)(unsafe.Pointer(s.memory))
	copy(ints[:], []int32{20, 20, 20, 4, 4, 4, 1, 2, 3})
	return s
}

func (s *shortTypes) do(t testing.TB, name string, words ...uintptr) {
	copy(s.words[:], words)
	if code := s.l.Call(s.numbers[name], false, unsafe.Pointer(s.words)); code != 0 {
		t.Fatalf("%s: code %d", name, code)
	}
}

// round makes, commits and frees one type; words are the arguments before the result.
func (s *shortTypes) round(t testing.TB, name string, words ...uintptr) {
	at := uintptr(unsafe.Pointer(s.newtype))
	s.words[len(words)] = at
	s.do(t, name, words...)
	s.do(t, "MPI_Type_commit", at)
	s.do(t, "MPI_Type_free", at)
}

func (s *shortTypes) subarray(t testing.TB, dims uintptr) {
	at := uintptr(unsafe.Pointer(s.memory))
	s.round(t, "MPI_Type_create_subarray", dims, at, at+12, at+24, 0xC, 0x214)
}

// A type made from C for one transfer allocates the type, the object of its handle, and the
// nodes of its loops. It allocates no map, no list of arguments, and no record for C.
func TestTypesOfCAllocateLittle(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		s := newShortTypes(world)
		for _, x := range []struct {
			name   string
			round  func()
			allocs float64
		}{
			{"a subarray of 2 dimensions", func() { s.subarray(t, 2) }, 4},
			{"a subarray of 3 dimensions", func() { s.subarray(t, 3) }, 5},
			{"a vector", func() { s.round(t, "MPI_Type_vector", 10, 3, 7, 0x214) }, 4},
			{"a contiguous type", func() { s.round(t, "MPI_Type_contiguous", 10, 0x214) }, 3},
		} {
			x.round()
			if n := testing.AllocsPerRun(100, x.round); n > x.allocs {
				t.Errorf("%s takes %v allocations, want %v at most", x.name, n, x.allocs)
			}
		}
	})
}

func BenchmarkTypeOfC(b *testing.B) {
	mpitest.On(b, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		s := newShortTypes(world)
		b.ReportAllocs()
		for b.Loop() {
			s.subarray(t, 2)
		}
	})
}
