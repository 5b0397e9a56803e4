package apply

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// fill makes elements of random bits, often small, so that results are often equal.
func fill(g *rand.Rand, b []byte, size int) {
	for at := 0; at+size <= len(b); at += size {
		e := b[at : at+size]
		clear(e)
		for k := 0; k < size; k += 8 {
			bits := g.Uint64() & g.Uint64()
			if g.IntN(2) == 0 {
				bits &= 3
			}
			for i := k; i < min(k+8, size); i++ {
				e[i] = byte(bits >> (8 * (i - k)))
			}
		}
	}
}

// locals is the number of processes that share the stripes, large enough that Region.few is
// five.
const locals = 64

// regionOf returns a region of size bytes, the first of which is at bytes after a multiple of
// 64. The bytes before and after the region must not change.
func regionOf(t testing.TB, size, at int, k op.Kernel, fine bool) (r Region, whole []byte) {
	t.Helper()
	stripes := shmfmt.HeapStripes(locals)
	words := make([]uint64, (size+at)/8+32)
	whole = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	skip := int(-uintptr(unsafe.Pointer(&whole[0]))&63) + at
	return Region{Mem: whole[skip:][:size:size], Stripes: stripes, Me: 1, Kernel: k, Fine: fine}, whole
}

// legal calls f for all operations on all types on which they are defined.
func legal(f func(o op.Op, t op.Type)) {
	for o := op.Op(1); int(o) <= op.Ops; o++ {
		for _, t := range op.All() {
			if op.CheckAccumulate(o, t) == nil {
				f(o, t)
			}
		}
	}
}

// idle fails the test if any process is left in a stripe.
func idle(t testing.TB, s *shmfmt.Stripes) {
	t.Helper()
	for i := range shmfmt.StripeCount {
		if s.Holder(i) != -1 || s.Occupant(i, 0) != -1 {
			t.Fatalf("stripe %d is left with writer %d, reader %d", i, s.Holder(i), s.Occupant(i, 0))
		}
	}
}

// RC-03, RC-04, RC-05, RC-16, X-RMA-09, X-RMA-11, X-RMA-16: every operation on every type
// changes each element as op.Apply does, and returns the previous values: one element or many,
// aligned or not, across the ends of stripes, with and without old, by every kernel, fine or
// not. No other bytes change.
func TestRC03_EveryOperationEqualsOracle(t *testing.T) {
	for _, k := range op.Kernels() {
		for _, fine := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/fine=%t", k, fine), func(t *testing.T) {
				g := rand.New(rand.NewPCG(5, uint64(k)))
				legal(func(o op.Op, typ op.Type) {
					for _, at := range []int{0, typ.Size() / 2, 1, 8} {
						r, whole := regionOf(t, 1<<shmfmt.StripeShift+24<<10, at, k, fine)
						counts := []int{0, 1, 2, 5, 6, 37, 300}
						if at == 0 && g.IntN(3) == 0 { // in several pieces
							counts = append(counts, 20_000/typ.Size())
						}
						for _, count := range counts {
							equalsOracle(t, g, r, whole, o, typ, count)
						}
					}
				})
			})
		}
	}
}

func equalsOracle(t *testing.T, g *rand.Rand, r Region, whole []byte, o op.Op, typ op.Type, count int) {
	t.Helper()
	size := typ.Size()
	off := g.IntN(len(r.Mem)-count*size) / size * size
	if g.IntN(2) == 0 && count > 0 { // elements across the end of a stripe
		off = 1<<shmfmt.StripeShift - g.IntN(count)*size
	}
	fill(g, r.Mem[off:off+count*size], size)
	data := make([]byte, count*size)
	fill(g, data, size)
	want := slices.Clone(whole)
	at := int(uintptr(unsafe.Pointer(&r.Mem[0])) - uintptr(unsafe.Pointer(&whole[0])))
	start := at + off
	before := slices.Clone(r.Mem[off : off+len(data)])
	op.Apply(o, typ, want[start:start+len(data)], want[start:start+len(data)], data)
	var old []byte
	if g.IntN(2) == 0 || o == op.NoOp {
		old = make([]byte, len(data))
	}
	given := data
	if o == op.NoOp && g.IntN(2) == 0 {
		given = nil
	}
	r.Accumulate(int64(off), o, typ, given, old)
	if !bytes.Equal(whole, want) {
		t.Fatalf("%v of %d %v at %d, %d bytes off alignment: memory differs from the oracle's", o, count, typ, off, at)
	}
	if old != nil && !bytes.Equal(old, before) {
		t.Fatalf("%v of %d %v at %d, %d bytes off alignment: before was %x, want %x", o, count, typ, off, at, old, before)
	}
	if count > 0 { // again, with the last element alone
		last := off + (count-1)*size
		copy(before, r.Mem[last:last+size])
		e := want[start+(count-1)*size:][:size]
		op.Apply(o, typ, e, e, data[:size])
		old := make([]byte, size)
		if given != nil {
			given = given[:size]
		}
		r.FetchOp(int64(last), o, typ, given, old)
		if !bytes.Equal(whole, want) || !bytes.Equal(old, before[:size]) {
			t.Fatalf("%v of a %v at %d, %d bytes off alignment: %x, want %x; memory equal: %t", o, typ, last, at, old, before[:size], bytes.Equal(whole, want))
		}
	}
	idle(t, r.Stripes)
}

// RC-06, X-RMA-11: compare-and-swap stores if all bits are equal, and returns the previous
// value.
func TestRC06_CompareSwapEqualsOracle(t *testing.T) {
	g := rand.New(rand.NewPCG(7, 8))
	for _, fine := range []bool{false, true} {
		for _, size := range []int{1, 2, 4, 8, 16} {
			for _, at := range []int{0, 1, size / 2} {
				r, whole := regionOf(t, 256, at, op.Loops, fine)
				fill(g, whole, 1)
				swapped := 0
				for range 300 {
					off := g.IntN(256/size) * size
					value, compare, old := make([]byte, size), slices.Clone(r.Mem[off:off+size]), make([]byte, size)
					fill(g, value, size)
					if g.IntN(2) == 0 {
						compare[g.IntN(size)] ^= 1 << g.IntN(8)
					} else {
						swapped++
					}
					before, want := slices.Clone(r.Mem[off:off+size]), slices.Clone(whole)
					if bytes.Equal(before, compare) {
						start := int(uintptr(unsafe.Pointer(&r.Mem[off])) - uintptr(unsafe.Pointer(&whole[0])))
						copy(want[start:], value)
					}
					r.CompareSwap(int64(off), size, value, compare, old)
					if !bytes.Equal(whole, want) || !bytes.Equal(old, before) {
						t.Fatalf("%d bytes at %d, %d off alignment: old %x, want %x; memory equal: %t", size, off, at, old, before, bytes.Equal(whole, want))
					}
				}
				if swapped == 0 || swapped == 300 {
					t.Fatalf("%d of 300 were to be swapped", swapped)
				}
				idle(t, r.Stripes)
			}
		}
	}
}

// Put and Get copy. An access outside of the region panics and changes nothing, in any
// operation.
func TestOutsidePanicsAndChangesNothing(t *testing.T) {
	r, whole := regionOf(t, 128, 0, op.BestKernel(), false)
	data := []byte("0123456789abcdef")
	r.Put(3, data)
	got := make([]byte, 16)
	r.Get(3, got)
	if !bytes.Equal(got, data) {
		t.Fatalf("got %q", got)
	}
	want := slices.Clone(whole)
	for _, off := range []int64{-1, 113, 128, 1 << 40, -1 << 63, 1<<63 - 1} {
		for name, f := range map[string]func(){
			"put":          func() { r.Put(off, data) },
			"get":          func() { r.Get(off, data) },
			"accumulate":   func() { r.Accumulate(off, op.Sum, op.Int64, data, nil) },
			"many":         func() { r.Accumulate(off, op.Sum, op.Uint8, data, nil) },
			"fetch and op": func() { r.FetchOp(off, op.Sum, op.Int128, data, got) },
			"swap":         func() { r.CompareSwap(off, 16, data, data, got) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s at %d does not panic", name, off)
					}
				}()
				f()
			}()
		}
	}
	if !bytes.Equal(whole, want) {
		t.Error("memory has changed")
	}
	idle(t, r.Stripes)
}

func TestNothingAllocates(t *testing.T) {
	r, _ := regionOf(t, 8192, 0, op.BestKernel(), false)
	data, old := make([]byte, 4096), make([]byte, 4096)
	legal(func(o op.Op, typ op.Type) {
		size := typ.Size()
		for _, n := range []int{1, 5, 100} {
			b, was := data[:n*size], old[:n*size]
			if allocs := testing.AllocsPerRun(3, func() {
				r.Accumulate(32, o, typ, b, was)
				r.FetchOp(31, o, typ, b, was)
			}); allocs != 0 {
				t.Errorf("%v of %d %v: %v allocations", o, n, typ, allocs)
			}
		}
	})
	for _, size := range []int{1, 2, 4, 8, 16} {
		if allocs := testing.AllocsPerRun(3, func() { r.CompareSwap(32, size, data, data, old) }); allocs != 0 {
			t.Errorf("compare and swap of %d: %v allocations", size, allocs)
		}
	}
}
