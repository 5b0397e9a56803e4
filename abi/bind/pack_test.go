package bind

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// derivedTypes returns handles of types with every kind of layout, and of unusable types.
func derivedTypes(t testing.TB, l *Lib) map[string]handle {
	double, short, char := typeOf(t, "MPI_DOUBLE"), typeOf(t, "MPI_SHORT"), typeOf(t, "MPI_CHAR")
	list := map[string]handle{}
	made := func(name string, commit bool) func(d mpi.Datatype, err error) mpi.Datatype {
		return func(d mpi.Datatype, err error) mpi.Datatype {
			ok(t, err)
			if commit {
				ok(t, d.Commit())
			}
			list[name] = l.addType(d)
			return d
		}
	}
	made("contiguous", true)(mpi.TypeContiguous(5, double))
	vector := made("vector", true)(mpi.TypeVector(4, 1, 2, double))
	made("blocks", true)(mpi.TypeVector(3, 8, 11, short))
	made("backwards", true)(mpi.TypeVector(4, 2, -3, short))
	made("vector of vectors", true)(mpi.TypeHvector(3, 1, 100, vector))
	made("indexed", true)(mpi.TypeIndexed([]int{2, 1, 3}, []int{7, 0, 11}, short))
	made("list", true)(mpi.TypeIndexedBlock(1, []int{9, 1, 4, 20}, double))
	made("struct", true)(mpi.TypeStruct([]int{1, 3, 2}, []int{0, 8, 35}, []mpi.Datatype{short, double, char}))
	made("struct of vectors", true)(mpi.TypeStruct([]int{2, 1}, []int{0, 300}, []mpi.Datatype{vector, short}))
	made("face", true)(mpi.TypeSubarray([]int{3, 4, 5}, []int{3, 4, 1}, []int{0, 0, 2}, mpi.OrderC, double))
	made("resized", true)(mpi.TypeResized(short, -2, 5))
	made("empty", true)(mpi.TypeContiguous(0, double))
	made("over itself", true)(mpi.TypeVector(3, 2, 1, double))
	made("elements over each other", true)(mpi.TypeResized(double, 0, 4))
	made("at no extent", true)(mpi.TypeResized(double, 0, 0))
	made("not committed", false)(mpi.TypeContiguous(2, double))
	freed := made("freed", true)(mpi.TypeContiguous(3, double))
	ok(t, freed.Free())
	return list
}

func typeOf(t testing.TB, name string) mpi.Datatype {
	d, err := mpi.Predefined(name)
	ok(t, err)
	return d
}

// MPI_Pack and MPI_Unpack take the fast path with valid arguments. Their results are those of
// Pack and Unpack of Buffers: with all types, predefined and derived, with invalid counts,
// positions, sizes and addresses, in both forms, and on a freed communicator.
func TestShortWayPacksAsBuffersDo(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		l := New(Hooks{})
		l.testStart(world)
		l.state.Store(running)
		types := derivedTypes(t, l)
		for _, p := range predefinedTypes {
			types[p.name] = p.handle
		}
		types["null"], types["nonsense"] = typeNull, 0xdeadbeef0
		gone, err := world.Dup()
		ok(t, err)
		comms := []handle{commWorld, commSelf, l.addComm(gone)}
		ok(t, gone.Free())

		const room, middle = 1 << 12, 1 << 11
		memory, packed := [2][]byte{}, [2][]byte{}
		for i := range 2 {
			memory[i], packed[i] = fieldOf(t, world, 0, room), fieldOf(t, world, 0, room)
		}
		places := address(fieldOf(t, world, 0, 16))
		positions := elementsAt[int64](places, 2)
		outcomes, done := map[mpi.Class]int{}, 0
		// same makes one call in both ways, and compares the errors, positions and memory.
		same := func(what string, short, long func(a args) error, order [7]int, words [7]uintptr, large bool) {
			var failures [2]error
			for i, do := range []func(a args) error{short, long} {
				for k := range room {
					memory[i][k], packed[i][k] = byte(k*5+k>>8), byte(k*3+k>>7+1)
				}
				w := words
				if w[0] == middle {
					w[0] = address(memory[i]) + middle
				}
				if w[3] == middle {
					w[3] = address(packed[i])
				}
				positions[i] = int64(w[5])
				w[5] = places + uintptr(8*i)
				var in [7]uintptr
				for to, from := range order {
					in[to] = w[from]
				}
				failures[i] = do(args{unsafe.Pointer(&in), large, 0})
			}
			texts := [2]string{}
			for i, err := range failures {
				texts[i] = fmt.Sprint(err)
				if err == nil && positions[i] != int64(words[5]) {
					done++
				}
			}
			outcomes[mpi.Class(code(failures[0]))]++
			if texts[0] != texts[1] || code(failures[0]) != code(failures[1]) || positions[0] != positions[1] {
				t.Errorf("%s: position %d, %v; by Buffers %d, %v", what, positions[0], failures[0], positions[1], failures[1])
			}
			if !bytes.Equal(memory[0], memory[1]) || !bytes.Equal(packed[0], packed[1]) {
				t.Errorf("%s: other bytes than by Buffers", what)
			}
		}
		// The arguments are those of MPI_Pack; MPI_Unpack has them in another order.
		packOrder, unpackOrder := [7]int{0, 1, 2, 3, 4, 5, 6}, [7]int{3, 4, 5, 0, 1, 2, 6}
		longPack := func(a args) error {
			c, err := l.comm(a.word(6), call.Pack)
			var p parcel
			if err == nil {
				err = p.find(l, c, call.Pack, a.word(3), a.int(4), a.counts(5))
			}
			if err != nil {
				return err
			}
			return l.packBuffer(c, &p, a.word(0), a.int(1), l.datatype(a.word(2)))
		}
		longUnpack := func(a args) error {
			c, err := l.comm(a.word(6), call.Unpack)
			var p parcel
			if err == nil {
				err = p.find(l, c, call.Unpack, a.word(0), a.int(1), a.counts(2))
			}
			if err != nil {
				return err
			}
			return l.unpackBuffer(c, &p, a.word(3), a.int(4), l.datatype(a.word(5)))
		}
		turn, every := 0, 1
		if testrun.Race {
			every = 5 // one goroutine: the race detector finds nothing more in the others
		}
		for name, d := range types {
			for _, count := range []int{1, 3, 0, -1, 1 << 62} {
				for k, rest := range [][4]uintptr{ // addresses of memory and parcel, its size, the position
					{middle, middle, room, 0}, {middle, middle, room, 5}, {middle, middle, 24, 0}, {middle, middle, 24, 20}, {middle, middle, 24, 24},
					{middle, middle, 24, 25}, {middle, middle, ^uintptr(0), 0}, {middle, 0, 24, 0}, {middle, 0, 0, 0},
					{0, middle, room, 0}, {inPlace, middle, room, 0},
				} {
					if name == "backwards" && rest[0] < firstPage {
						continue // reaches addresses below 0, which the caller has to avoid
					}
					for n, c := range comms {
						for _, large := range []bool{false, true} {
							turn++
							if turn%every != 0 {
								continue
							}
							words := [7]uintptr{rest[0], uintptr(count), d, rest[1], rest[2], rest[3], c}
							what := fmt.Sprintf("%d of %s, arguments %d, communicator %d, large %v", count, name, k, n, large)
							same("MPI_Pack of "+what, l.pack, longPack, packOrder, words, large)
							same("MPI_Unpack of "+what, l.unpack, longUnpack, unpackOrder, words, large)
						}
					}
				}
			}
		}
		for _, class := range []mpi.Class{0, mpi.ErrArg, mpi.ErrBuffer, mpi.ErrComm, mpi.ErrCount, mpi.ErrTruncate, mpi.ErrType} {
			if outcomes[class] == 0 {
				t.Errorf("no call ended with %v", class)
			}
		}
		if done == 0 {
			t.Error("nothing has been packed")
		}
	})
}

// Packing and unpacking from C allocates nothing, of any type.
func TestPackAllocatesNothing(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		l := New(Hooks{})
		l.testStart(world)
		l.state.Store(running)
		types := derivedTypes(t, l)
		memory, packed := fieldOf(t, world, 0, 1<<12), fieldOf(t, world, 0, 1<<10)
		at := address(fieldOf(t, world, 0, 4))
		position := &elementsAt[int32](at, 1)[0]
		pack := [7]uintptr{address(memory) + 1<<11, 2, 0, address(packed), 1 << 10, at, commWorld}
		unpack := [7]uintptr{address(packed), 1 << 10, at, address(memory) + 1<<11, 2, 0, commWorld}
		for _, name := range []string{"contiguous", "vector", "indexed", "struct", "face"} {
			pack[2], unpack[5] = types[name], types[name]
			if n := testing.AllocsPerRun(100, func() {
				*position = 0
				ok(t, l.pack(args{unsafe.Pointer(&pack), false, 0}))
				*position = 0
				ok(t, l.unpack(args{unsafe.Pointer(&unpack), false, 0}))
			}); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}
