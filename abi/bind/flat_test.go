package bind

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// fieldOf returns n bytes of memory outside the Go heap, as C has it, with small numbers in it.
func fieldOf(t testing.TB, c *mpi.Comm, seed, n int) []byte {
	mem, err := mpi.AllocMem[byte](c, n)
	ok(t, err)
	t.Cleanup(func() { _ = mpi.FreeMem(c, mem) })
	for i := range mem {
		mem[i] = byte(seed+i*7) & 0x3f
	}
	return mem
}

// Calls on the contiguous fast path have the results of calls with Buffers, for every
// predefined type and operation, with invalid counts and addresses, and in place.
func TestShortWayDoesWhatBuffersDo(t *testing.T) {
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		short, long := New(Hooks{}), New(Hooks{})
		for _, l := range []*Lib{short, long} {
			l.startTypes()
			l.world.Store(world)
		}
		short.startFlat()
		const room = 1 << 10
		mine := fieldOf(t, world, 0, room)
		created, err := mpi.WinCreate(world, mine)
		ok(t, err)
		w := created.Window
		ok(t, w.LockAll(0))
		const rank = 0
		onWords := func(do func(a args) error, words ...uintptr) error { return do(args{words: unsafe.Pointer(&words[0])}) }
		calls := map[string]func(l *Lib, from, to uintptr, n int, d, op handle) error{
			"reduce_local": func(l *Lib, from, to uintptr, n int, d, op handle) error {
				return l.reduceLocal(from, to, n, d, l.op(op))
			},
			"allreduce": func(l *Lib, from, to uintptr, n int, d, op handle) error {
				return onWords(l.doAllreduce, from, to, uintptr(n), d, op, commWorld)
			},
			"reduce": func(l *Lib, from, to uintptr, n int, d, op handle) error {
				return onWords(l.doReduce, from, to, uintptr(n), d, op, 0, commWorld)
			},
			"accumulate": func(l *Lib, from, _ uintptr, n int, d, op handle) error {
				return l.accumulate(w, from, n, d, rank, 16, n, d, l.op(op))
			},
			"get_accumulate": func(l *Lib, from, to uintptr, n int, d, op handle) error {
				return l.getAccumulate(w, from, n, d, to, n, d, rank, 16, n, d, l.op(op))
			},
		}
		moves := map[string]func(l *Lib, from, to uintptr, n int, d, op handle) error{
			"bcast": func(l *Lib, _, to uintptr, n int, d, _ handle) error {
				return onWords(l.doBcast, to, uintptr(n), d, 0, commWorld)
			},
			"allgather": func(l *Lib, from, to uintptr, n int, d, _ handle) error {
				return onWords(l.doAllgather, from, uintptr(n), d, to, uintptr(n), d, commWorld)
			},
			"alltoall": func(l *Lib, from, to uintptr, n int, d, _ handle) error {
				return onWords(l.doAlltoall, from, uintptr(n), d, to, uintptr(n), d, commWorld)
			},
			"put": func(l *Lib, from, _ uintptr, n int, d, _ handle) error {
				return l.put(w, from, n, d, rank, 16, n, d)
			},
			"get": func(l *Lib, _, to uintptr, n int, d, _ handle) error {
				return l.get(w, to, n, d, rank, 16, n, d)
			},
			"put of other types": func(l *Lib, from, _ uintptr, n int, d, _ handle) error {
				return l.put(w, from, n, d, rank, 16, 2*n, d)
			},
		}
		from := fieldOf(t, world, 1, room)
		to := [2][]byte{fieldOf(t, world, 0, room), fieldOf(t, world, 0, room)}
		held := [2][]byte{make([]byte, room), make([]byte, room)}
		same := func(name string, do func(l *Lib, from, to uintptr, n int, d, op handle) error, n int, d, op handle, what string) {
			var errs [2]error
			for i, l := range []*Lib{short, long} {
				for k := range room {
					to[i][k], mine[k] = byte(k*5)&0x3f, byte(k*3)&0x3f
				}
				a, b := address(from), address(to[i])
				switch what {
				case "null":
					a, b = 0, 0
				case "in place":
					a = inPlace
				case "one":
					a = b
				}
				errs[i] = do(l, a, b, n, d, op)
				ok(t, w.Flush(rank))
				copy(held[i], mine)
			}
			name = name + " of " + what
			if code(errs[0]) != code(errs[1]) {
				t.Errorf("%s, %d of %#x with %#x: %v, by Buffers %v", name, n, d, op, errs[0], errs[1])
			}
			if !bytes.Equal(to[0], to[1]) || !bytes.Equal(held[0], held[1]) {
				t.Errorf("%s, %d of %#x with %#x: other memory than by Buffers", name, n, d, op)
			}
		}
		places := []string{"memory", "null", "in place", "one"}
		if testrun.Race {
			places = places[:1] // one goroutine: the race detector finds nothing more in the others
		}
		for _, p := range predefinedTypes {
			for _, what := range places {
				for _, n := range []int{3, 0, -1} {
					for name, do := range moves {
						same(name, do, n, p.handle, opNull, what)
					}
					for op := opNull; op <= opNull+32; op++ { // the last handle is not an operation
						for name, do := range calls {
							same(name, do, n, p.handle, op, what)
						}
					}
				}
			}
		}
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}

// The fast path knows every type of numbers and no other type.
func TestShortWayKnowsNumbers(t *testing.T) {
	l := New(Hooks{})
	l.startTypes()
	l.startFlat()
	for _, p := range predefinedTypes {
		size, kind := fastType(p.name, l.predefined[p.handle-firstPredefined])
		f := l.flat(p.handle, 1, firstPage, firstPage)
		if number := kind >= FastSigned && size <= 8; number != (f != nil) {
			t.Errorf("%s, %d bytes of kind %d: %+v", p.name, size, kind, f)
		}
		if b := l.operands(firstPage, 2*firstPage, 1, p.handle, opNull+1); kind >= FastSigned && (b == nil || int(b.size) != size) {
			t.Errorf("%s, %d bytes of kind %d, is summed up as %+v", p.name, size, kind, b)
		} else if b != nil && kind < FastDense {
			t.Errorf("%s, of kind %d, is summed up as it lies in memory", p.name, kind)
		}
	}
	if l.flat(1, 1, firstPage, firstPage) != nil || l.flat(lastPredefined+1, 1, firstPage, firstPage) != nil {
		t.Error("there are numbers outside the predefined types")
	}
	const sum = opNull + 1
	for _, wrong := range []*basic{
		l.operands(firstPage, 2*firstPage, 1, 1, sum), l.operands(firstPage, 2*firstPage, 1, lastPredefined+1, sum),
		l.operands(firstPage, 2*firstPage, 1, 0x214, opNull), l.operands(firstPage, 2*firstPage, 1, 0x214, sum+32),
		l.operands(firstPage, 2*firstPage, 0, 0x214, sum), l.operands(firstPage, firstPage, 1, 0x214, sum), l.operands(inPlace, firstPage, 1, 0x214, sum),
	} {
		if wrong != nil {
			t.Errorf("%+v without operands, or an operation on them", wrong)
		}
	}
}
