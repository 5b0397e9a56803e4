package mem_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/testrun"
)

// A Mem has four fields of a word each: Go passes no larger struct in registers.
var _ [unsafe.Sizeof(mem.Mem{}) - 4*unsafe.Sizeof(uintptr(0))]struct{}
var _ [4*unsafe.Sizeof(uintptr(0)) - unsafe.Sizeof(mem.Mem{})]struct{}

// tooLong is the largest number of entries in the typemaps that the tests list.
const tooLong = 1500

// laid is count elements of a random type in memory of their own.
type laid struct {
	*rand.Rand
	memory []byte
	b      dtype.Buffer
	m      mem.Mem
	offs   []int64 // the position in memory of each byte of the packed form
	twice  bool    // some bytes of memory occur twice
}

// layOut returns nil for types whose typemap is too long.
func layOut(set *dtype.Set, s *dtypetest.Spec, seed uint64) (*laid, error) {
	r := rand.New(rand.NewPCG(seed, 2))
	m := s.Typemap(set, tooLong)
	if m == nil {
		return nil, nil
	}
	all := m.Times(int64(r.IntN(5)))
	if all == nil {
		return nil, nil
	}
	lo, hi := all.TrueBounds()
	if hi-lo > 1<<20 {
		return nil, nil
	}
	t, err := s.Build(set)
	if err != nil {
		return nil, err
	}
	t.Commit()
	x := &laid{Rand: r, memory: make([]byte, hi-lo), offs: all.Offsets(), twice: all.Overlaps()}
	for i := range x.memory {
		x.memory[i] = byte(r.Uint32())
	}
	for i := range x.offs {
		x.offs[i] -= lo
	}
	var count int64
	if n := m.Size(); n > 0 {
		count = int64(len(x.offs)) / n
	}
	// The memory begins and ends with data, and displacement 0 may be outside of it.
	x.b, err = dtype.Bind(x.memory, -lo, t, count)
	x.m = mem.In(&x.b)
	return x, err
}

// packed returns the bytes [lo, hi) of the packed form.
func (x *laid) packed(lo, hi int) []byte {
	out := make([]byte, 0, hi-lo)
	for _, o := range x.offs[lo:hi] {
		out = append(out, x.memory[o])
	}
	return out
}

// part returns a random range.
func (x *laid) part() (lo, hi int) {
	lo = x.IntN(len(x.offs) + 1)
	return lo, lo + x.IntN(len(x.offs)-lo+1)
}

func (x *laid) check() error {
	if x.m.Len() != len(x.offs) || int64(x.m.Len()) != x.b.Size() {
		return fmt.Errorf("%d bytes, want %d", x.m.Len(), len(x.offs))
	}
	if got, ok := x.m.Bytes(); ok && !bytes.Equal(got, x.packed(0, len(x.offs))) {
		return fmt.Errorf("Bytes is % x, want % x", got, x.packed(0, len(x.offs)))
	}
	for range 20 {
		lo, hi := x.part()
		// A range of a range is a range.
		cut := x.m.From(lo/2).Cut(lo-lo/2, hi-lo/2)
		for _, f := range []func(m mem.Mem, lo, hi int) error{x.pack, x.blocks, x.unpack, x.copies} {
			if err := f(cut, lo, hi); err != nil {
				return fmt.Errorf("bytes %d to %d of %d: %w", lo, hi, len(x.offs), err)
			}
		}
	}
	return nil
}

// pack packs a range in two pieces, the second into a slice that is too long, and compares the
// bytes with dtype's.
func (x *laid) pack(m mem.Mem, lo, hi int) error {
	want := x.packed(lo, hi)
	got, same := make([]byte, hi-lo+4), make([]byte, hi-lo)
	k := x.IntN(hi - lo + 1)
	m.Pack(got[:k], 0)
	m.Pack(got[k:], k)
	x.b.Pack(same, int64(lo))
	if !bytes.Equal(got[:hi-lo], want) || !bytes.Equal(got[hi-lo:], make([]byte, 4)) || !bytes.Equal(same, want) {
		return fmt.Errorf("packed at %d to % x, want % x", k, got, want)
	}
	return nil
}

// blocks collects the blocks of a range.
func (x *laid) blocks(m mem.Mem, lo, hi int) error {
	want := x.packed(lo, hi)
	var got []byte
	iov := make([][]byte, 1+x.IntN(40))
	for at := 0; at < hi-lo; {
		end := at + 1 + x.IntN(hi-lo-at)
		k, next := m.Blocks(iov, at, end)
		if k == 0 || next <= at || next > end {
			return fmt.Errorf("%d blocks from byte %d to %d, up to %d", k, at, next, end)
		}
		for _, b := range iov[:k] {
			got = append(got, b...)
		}
		at = next
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("the blocks are % x, want % x", got, want)
	}
	return nil
}

// unpack checks that Unpack changes the bytes of the range and no others.
func (x *laid) unpack(m mem.Mem, lo, hi int) error {
	if x.twice {
		return nil
	}
	want, fresh := bytes.Clone(x.memory), make([]byte, hi-lo+3)
	for i := range fresh {
		fresh[i] = byte(x.Uint32())
	}
	for i, o := range x.offs[lo:hi] {
		want[o] = fresh[i]
	}
	k := x.IntN(hi - lo + 1)
	m.Unpack(fresh[k:], k) // longer than the rest of the range
	m.Unpack(fresh[:k], 0)
	if !bytes.Equal(x.memory, want) {
		return fmt.Errorf("unpacked at %d to % x, want % x", k, x.memory, want)
	}
	return nil
}

// copies copies to and from contiguous memory, and between layouts.
func (x *laid) copies(m mem.Mem, lo, hi int) error {
	n := hi - lo
	want, got := x.packed(lo, hi), make([]byte, n)
	mem.Copy(mem.Of(got), m)
	if !bytes.Equal(got, want) {
		return fmt.Errorf("copied to % x, want % x", got, want)
	}
	if x.twice {
		return nil
	}
	for i := range got {
		got[i]++
	}
	mem.Copy(m, mem.Of(got))
	if now := x.packed(lo, hi); !bytes.Equal(now, got) {
		return fmt.Errorf("copied from % x, is % x", got, now)
	}
	other := make([]byte, 3*n)
	gaps := mem.In(every(other, 1, 3, n))
	mem.Copy(gaps.First(n/2), m)
	mem.Copy(gaps, m)
	for i, b := range got {
		if other[3*i] != b || other[3*i+1] != 0 {
			return fmt.Errorf("byte %d of a copy with gaps is %d and %d, want %d and 0", i, other[3*i], other[3*i+1], b)
		}
	}
	return nil
}

// every returns the Buffer of n elements of size bytes each, stride apart, in memory.
func every(memory []byte, size, stride, n int) *dtype.Buffer {
	set := dtype.Predefined()
	v, err := dtype.Vector(1, int64(size), 1, set.Type(dtype.Byte))
	if err == nil {
		v, err = dtype.Resized(v, 0, int64(stride))
	}
	if err != nil {
		panic(err)
	}
	v.Commit()
	b, err := dtype.Bind(memory, 0, v, int64(n))
	if err != nil {
		panic(err)
	}
	return &b
}

// A Mem of a random type agrees with the typemap and with dtype. A failing type is shrunk.
func TestDT12RandomMemory(t *testing.T) {
	set := dtype.Predefined()
	n, tested := 1500, 0
	if testing.Short() || testrun.Race {
		n = 200
	}
	one := func(s *dtypetest.Spec, seed uint64) error {
		x, err := layOut(set, s, seed)
		if err != nil || x == nil {
			return err
		}
		tested++
		return x.check()
	}
	for i := range n {
		seed := uint64(i)
		var g dtypetest.Generator
		if seed%4 == 0 {
			g.Wide = 40
		}
		s := g.Spec(rand.New(rand.NewPCG(seed, 1)), 1+i%6)
		if err := one(s, seed); err != nil {
			s, err = dtypetest.Shrink(s, err, (*dtypetest.Spec).Smaller, func(s *dtypetest.Spec) error { return one(s, seed) })
			t.Fatalf("seed %d: %v\n%v", seed, err, s)
		}
	}
	if tested < n/2 {
		t.Errorf("only %d of %d types were short enough to be tested", tested, n)
	}
}

// Ranges of the Mem of a slice have the bytes of the slice.
func TestContiguousMemory(t *testing.T) {
	b := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	m := mem.Of(b).Cut(2, 9).From(1).First(5)
	got, ok := m.Bytes()
	if !ok || !bytes.Equal(got, b[3:8]) || &got[0] != &b[3] || m.Address() != unsafe.Pointer(&b[3]) {
		t.Errorf("Bytes is %v, %v", got, ok)
	}
	room := make([]byte, 9)
	m.Pack(room, 1)
	if !bytes.Equal(room, []byte{4, 5, 6, 7, 0, 0, 0, 0, 0}) {
		t.Errorf("packed to %v", room)
	}
	m.Unpack([]byte{40, 50, 60}, 3)
	if !bytes.Equal(b, []byte{0, 1, 2, 3, 4, 5, 40, 50, 8, 9}) {
		t.Errorf("unpacked to %v", b)
	}
	mem.Copy(mem.Of(b[1:]), mem.Of(b[:9])) // as copy: the two may overlap
	if !bytes.Equal(b, []byte{0, 0, 1, 2, 3, 4, 5, 40, 50, 8}) {
		t.Errorf("moved to %v", b)
	}
}

// A Mem without bytes is contiguous and keeps no memory alive.
func TestNoMemory(t *testing.T) {
	var none dtype.Buffer
	b := make([]byte, 4)
	for _, m := range []mem.Mem{{}, mem.Of(nil), mem.Of(b[:0]), mem.Of(b).From(4), mem.In(&none), mem.In(every(nil, 2, 8, 0))} {
		if got, ok := m.Bytes(); !ok || got != nil || m.Len() != 0 || !m.Gathers() || mem.Same(m, m) {
			t.Errorf("%v: Bytes is %v, %v", m, got, ok)
		}
		m.Pack(b, 0)
		m.Unpack(b, 0)
		mem.Copy(m, mem.Of(b))
	}
}

// Elements without gaps are contiguous, whatever their type.
func TestDenseElementsAreContiguous(t *testing.T) {
	b := make([]byte, 64)
	if got, ok := mem.In(every(b, 8, 8, 8)).Bytes(); !ok || len(got) != 64 || &got[0] != &b[0] {
		t.Errorf("Bytes is %v, %v", got, ok)
	}
	if got, ok := mem.In(every(b, 8, 16, 1)).Bytes(); !ok || len(got) != 8 {
		t.Errorf("of one element Bytes is %v, %v", got, ok)
	}
	if _, ok := mem.In(every(b, 8, 16, 2)).Bytes(); ok {
		t.Error("elements with gaps are contiguous")
	}
}

// The Buffer of elements is made again from their memory, also where displacement 0 is in none: no pointer is made to
// it (which the race detector checks), and Memory is the memory of the elements (IO-15).
func TestBufferOfElements(t *testing.T) {
	byteType := dtype.Predefined().Type(dtype.Byte)
	for _, lengths := range [][]int64{{8}, {3, 5}} {
		for _, first := range []int64{0, 1, 100, 1 << 40, -100} {
			places := []int64{first, first + 4}[:len(lengths)]
			elements, err := dtype.Hindexed(lengths, places, byteType)
			if err != nil {
				t.Fatal(err)
			}
			elements.Commit()
			_, extent := elements.Extent()
			for _, count := range []int64{1, 3} {
				memory := make([]byte, count*extent)
				for i := range memory {
					memory[i] = byte(i + 1)
				}
				b, err := dtype.Bind(memory, -first, elements, count)
				if err != nil {
					t.Fatal(err)
				}
				again, err := mem.In(&b).Buffer(elements)
				if err != nil {
					t.Fatal(err)
				}
				want, got := make([]byte, b.Size()), make([]byte, b.Size())
				b.PackAll(want)
				again.PackAll(got)
				if !bytes.Equal(got, want) {
					t.Errorf("%d elements of %v at %v are %v, want %v", count, lengths, places, got, want)
				}
				if m, origin := again.Memory(); !bytes.Equal(m, memory) || origin != -first {
					t.Errorf("%d elements of %v at %v have the memory %v, with displacement 0 at %d", count, lengths, places, m, origin)
				}
				if again.Origin() != b.Origin() {
					t.Errorf("%d elements of %v at %v: displacement 0 is at %#x, want %#x", count, lengths, places, again.Origin(), b.Origin())
				}
			}
		}
	}
}

// Cut panics for a range outside of the memory.
func TestCutStaysWithin(t *testing.T) {
	for _, r := range [][2]int{{-1, 2}, {0, 5}, {3, 2}, {5, 5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("bytes %v of 4 exist", r)
				}
			}()
			mem.Of(make([]byte, 4)).Cut(r[0], r[1])
		}()
	}
}

// Same compares the first bytes, Alike all bytes.
func TestSameAndAlike(t *testing.T) {
	b := make([]byte, 96)
	wide, narrow := mem.In(every(b, 8, 16, 6)), mem.In(every(b, 8, 24, 4))
	again, flat := mem.In(every(b[16:], 8, 16, 5)), mem.Of(b)
	for _, c := range []struct {
		name        string
		a, b        mem.Mem
		same, alike bool
	}{
		{"itself", wide, wide, true, true},
		{"other strides", wide, narrow, true, false},
		{"other strides, one element", wide.First(8), narrow, true, true},
		{"contiguous", wide, flat, true, false},
		{"contiguous, one element", flat.First(8), narrow, true, true},
		{"a later element", wide.From(8), again, true, true},
		{"a later byte", wide.From(11).First(5), flat.From(19), true, true},
		{"elsewhere", wide, again, false, false},
	} {
		if got := mem.Same(c.a, c.b); got != c.same {
			t.Errorf("%s: same is %v", c.name, got)
		} else if got && mem.Alike(c.a, c.b) != c.alike {
			t.Errorf("%s: alike is %v", c.name, !c.alike)
		}
	}
}

// Packing, unpacking and copying a Mem does not allocate.
func TestMemoryAllocatesNothing(t *testing.T) {
	testrun.PlainOnly(t, "bytes are moved by loops in Go, through which scratch memory escapes")
	b := make([]byte, 3<<10)
	l, frame := every(b, 8, 24, 128), make([]byte, 1<<10)
	iov := make([][]byte, 8)
	if n := testing.AllocsPerRun(10, func() {
		m := mem.In(l)
		m.Pack(frame, 0)
		m.From(8).Unpack(frame, 3)
		m.Blocks(iov, 5, 200)
		mem.Copy(m.First(100), m.From(200))
		mem.Same(m, mem.Of(frame))
		mem.Alike(m.First(8), mem.Of(b))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
