package bind

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/abi"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// typeCalls returns the procedures that the fuzz target calls: those of chapter 5 that access
// no data, and those on statuses.
func typeCalls(t testing.TB) (list []*abi.Procedure) {
	all, err := abi.Procedures()
	ok(t, err)
	for _, p := range all {
		switch n := p.Name; {
		case strings.Contains(n, "keyval"), strings.Contains(n, "attr"), strings.HasSuffix(n, "int"):
		case strings.HasPrefix(n, "MPI_Type_"), strings.HasPrefix(n, "MPI_Status_"), strings.HasPrefix(n, "MPI_Get_count"), strings.HasPrefix(n, "MPI_Get_elements"),
			strings.HasSuffix(n, "ack_size"), strings.HasPrefix(n, "MPI_Pack_external_size"), n == "MPI_Dims_create":
			list = append(list, p)
		}
	}
	return list
}

// arrayBytes is the size of the memory behind each address argument in the fuzz target, and
// arrayLength the largest array length that the target passes.
const arrayBytes, arrayLength = 1024, 9

// memory is the memory behind the address arguments of one call. It must not be on a
// goroutine's stack, which moves.
type memory [16][arrayBytes]byte

// caller makes calls with random arguments.
type caller struct {
	l      *Lib
	rng    *rand.Rand
	types  []handle // handles that calls have returned, valid or freed
	memory *memory
}

// datatype returns the handle of a type that was made, a predefined one, or an invalid one.
func (c *caller) datatype() handle {
	switch n := c.rng.IntN(10); {
	case n < 5 && len(c.types) > 0:
		return c.types[c.rng.IntN(len(c.types))]
	case n < 8:
		return firstPredefined + handle(c.rng.IntN(0x100))
	case n < 9:
		return handle(c.rng.IntN(0x1000))
	}
	return handle(c.rng.Uint64())
}

// number returns an argument with the given number of bits, mostly a small one.
func (c *caller) number(bits int) int64 {
	if n := c.rng.IntN(12); n > 0 {
		return int64(c.rng.IntN(arrayLength+3)) - 3
	}
	return int64(c.rng.Uint64()) >> (64 - bits) >> c.rng.IntN(bits)
}

// word returns one argument of a call. In a call with arrays no number exceeds their length.
func (c *caller) word(i int, x abi.Param, arrays bool) uintptr {
	switch {
	case x.Stars == 0 && x.Base == "MPI_Datatype":
		return c.datatype()
	case x.Stars == 0 && x.Base == "MPI_Comm":
		return commSelf + handle(c.rng.IntN(20)/18)
	case x.Stars == 0 && (arrays || x.Base == "int"):
		n := c.number(32)
		if arrays && (n > arrayLength || n < -3) {
			n = arrayLength
		}
		return uintptr(n)
	case x.Stars == 0:
		return uintptr(c.number(64))
	case c.rng.IntN(30) == 0:
		return 0
	}
	b := &c.memory[i]
	switch wide := x.Base != "int"; {
	case x.Base == "char":
		copy(b[:], "external32\x00")
	case x.Base == "MPI_Datatype":
		for k := 0; k < arrayBytes; k += 8 {
			binary.NativeEndian.PutUint64(b[k:], uint64(c.datatype()))
		}
	case wide:
		for k := 0; k < arrayBytes; k += 8 {
			binary.NativeEndian.PutUint64(b[k:], uint64(c.number(64)))
		}
	default:
		for k := 0; k < arrayBytes; k += 4 {
			binary.NativeEndian.PutUint32(b[k:], uint32(c.number(32)))
		}
	}
	return uintptr(unsafe.Pointer(b))
}

// call makes one call, and fails unless it returns success or an error class of the standard.
func (c *caller) call(t testing.TB, p *abi.Procedure) {
	large := p.Large != nil && c.rng.IntN(2) == 0
	if large {
		p = &abi.Procedure{Name: p.Large.Name, Number: p.Number, Params: p.Large.Params}
	}
	arrays := false
	for _, x := range p.Params {
		arrays = arrays || x.Array
	}
	words := make([]uintptr, len(p.Params)+1)
	for i, x := range p.Params {
		words[i] = c.word(i, x, arrays)
	}
	if code := c.l.Call(p.Number, large, unsafe.Pointer(&words[0])); code < 0 || code > int(mpi.ErrValueTooLarge)+3 {
		t.Fatalf("%s%x: code %d", p.Name, words, code)
	}
	for i, x := range p.Params {
		if x.Base == "MPI_Datatype" && x.Stars > 0 && words[i] != 0 && !x.Const && !x.Array {
			c.types = append(c.types, handle(binary.NativeEndian.Uint64(c.memory[i][:])))
		}
	}
}

// FuzzTypeCalls calls procedures on types and statuses with random handles, numbers and arrays.
// Each call returns success or an error class, whatever calls came before.
func FuzzTypeCalls(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, 60)
	}
	calls := typeCalls(f)
	f.Fuzz(func(t *testing.T, seed uint64, n int) {
		mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
			l := New(Hooks{})
			l.testStart(world)
			l.state.Store(running)
			c := &caller{l: l, rng: rand.New(rand.NewPCG(seed, 7)), memory: unmoved[memory]()}
			for range min(max(n, 0), 100) {
				c.call(t, calls[c.rng.IntN(len(calls))])
			}
		})
	})
}

// Types that are made and freed leave neither handles nor origins behind.
func TestTypesDoNotGrow(t *testing.T) {
	const rounds = 20_000
	mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
		l := New(Hooks{})
		l.testStart(world)
		l.state.Store(running)
		numbers := map[string]int{}
		for i, p := range procedures {
			numbers[p.String()] = i
		}
		out := unmoved[[2]handle]()
		at := func(i int) uintptr { return uintptr(unsafe.Pointer(&out[i])) }
		do := func(name string, large bool, words ...uintptr) {
			if code := l.Call(numbers[name], large, unsafe.Pointer(&words[0])); code != 0 {
				t.Fatalf("%s: code %d", name, code)
			}
		}
		for range rounds {
			do("MPI_Type_contiguous", true, 3, 0x209, at(0))
			do("MPI_Type_dup", false, out[0], at(1))
			do("MPI_Type_free", false, at(0))
			do("MPI_Type_free", false, at(1))
		}
		left := 0
		l.origins.Range(func(any, any) bool { left++; return true })
		if n := l.types.count(); n != 0 || left != 0 || l.types.used > 2 {
			t.Errorf("%d handles, %d origins, %d slots are left of %d types", n, left, l.types.used, 2*rounds)
		}
	})
}
