package dtype_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
)

var (
	flagTypes = flag.Int("types", 3000, "number of random types")
	flagSeed  = flag.Uint64("seed", 1, "seed of the first random type")
)

// tooLong bounds the work of the oracle: types with more entries in the typemap are not
// tested.
const tooLong = 1500

// Random types agree with their typemaps (DT-12): each seed gives one type with up to 6
// levels of nesting. A failing type is shrunk; -seed and -types 1 repeat it.
func TestDT12RandomTypes(t *testing.T) {
	set := dtype.Predefined()
	n, tested := *flagTypes, 0
	if dtype.RaceEnabled && n == 3000 {
		n = 300
	}
	for i := range n {
		seed := *flagSeed + uint64(i)
		var g dtypetest.Generator
		if seed%4 == 0 {
			g.Wide = 40 // blocks for vectors
		}
		s := g.Spec(rand.New(rand.NewPCG(seed, 1)), 1+int(seed%6))
		ran, err := check(set, s, seed)
		if ran {
			tested++
		}
		if err != nil {
			s, err = dtypetest.Shrink(s, err, (*dtypetest.Spec).Smaller, func(s *dtypetest.Spec) error {
				_, err := check(set, s, seed)
				return err
			})
			t.Fatalf("seed %d: %v\n%v\nreplay: go test ./internal/dtype -run DT12 -types 1 -seed %d", seed, err, s, seed)
		}
	}
	t.Logf("%d types, %d tested", n, tested)
	if tested < n/2 {
		t.Errorf("only %d of %d types were short enough to be tested", tested, n)
	}
}

// FuzzTypes makes types from the fuzzer's bytes and compares them with their typemaps.
func FuzzTypes(f *testing.F) {
	f.Add([]byte("vectors of structs"))
	f.Add([]byte{0, 9, 30, 255, 128, 77, 3, 200, 41})
	set := dtype.Predefined()
	f.Fuzz(func(t *testing.T, data []byte) {
		r := dtypetest.FromBytes(data)
		s := dtypetest.Generator{}.Spec(r, 1+r.IntN(6))
		if _, err := check(set, s, r.Uint64()); err != nil {
			t.Fatalf("%v\n%v", err, s)
		}
	})
}

// check compares every operation of the engine on a type with the oracle.
func check(set *dtype.Set, s *dtypetest.Spec, seed uint64) (ran bool, err error) {
	r := rand.New(rand.NewPCG(seed, 2))
	m := s.Typemap(set, tooLong)
	count := int64(r.IntN(4))
	if seed%5 == 0 {
		count = int64(r.IntN(80)) // long enough for unrolled loops and tiles
	}
	if m == nil {
		return false, nil
	}
	all := m.Times(count)
	if all == nil {
		return false, nil
	}
	lo, hi := all.TrueBounds()
	if hi-lo > 1<<20 {
		return false, nil
	}
	t, err := s.Build(set)
	if err != nil {
		return true, err
	}
	if err := checkBounds(t, m); err != nil {
		return true, err
	}
	t.Commit()
	pad := int64(r.IntN(3))
	mem := make([]byte, hi-lo+2*pad)
	for i := range mem {
		mem[i] = byte(r.Uint32())
	}
	b, err := dtype.Bind(mem[:hi-lo+pad], pad-lo, t, count)
	if err != nil {
		return true, err
	}
	x := checker{set: set, t: t, count: count, b: b, m: m, all: all, offs: all.Offsets(), mem: mem, origin: pad - lo, r: r,
		overlaps: all.Overlaps()}
	for _, f := range []struct {
		name string
		f    func() error
	}{{"pack", x.each(x.pack)}, {"unpack", x.each(x.unpack)}, {"runs", x.runs}, {"part", x.part}, {"copy", x.copy}, {"overlap", x.overlap},
		{"external", x.external}, {"signature", x.signature}, {"contents", x.contents}, {"bounds", x.bounds}, {"program for C", x.forC}} {
		if err := f.f(); err != nil {
			return true, fmt.Errorf("%s, count %d: %w", f.name, count, err)
		}
	}
	return true, nil
}

// forC compares the program that C reads with the program of Go.
func (x *checker) forC() error {
	if got, want := dtype.RunsForC(x.t); !slices.Equal(got, want) {
		return fmt.Errorf("C moves %v, want %v", got, want)
	}
	return nil
}

func checkBounds(t *dtype.Type, m *dtypetest.Typemap) error {
	lb, ub := m.Bounds()
	tlb, tub := m.TrueBounds()
	gotLB, gotEx := t.Extent()
	gotTLB, gotTEx := t.TrueExtent()
	got := [5]int64{t.Size(), gotLB, gotEx, gotTLB, gotTEx}
	if want := [5]int64{m.Size(), lb, ub - lb, tlb, tub - tlb}; got != want {
		return fmt.Errorf("size, lb, extent, true lb, true extent are %v, want %v", got, want)
	}
	return nil
}

// checker compares count elements of a type with the typemap of all of them.
type checker struct {
	set      *dtype.Set
	t        *dtype.Type
	count    int64
	b        dtype.Buffer
	m, all   *dtypetest.Typemap
	offs     []int64 // of all
	mem      []byte
	origin   int64
	r        *rand.Rand
	overlaps bool
}

// each calls f with every mover.
func (x *checker) each(f func() error) func() error {
	return func() error { return dtype.EachMover(x.t, f) }
}

func (x *checker) overlap() error {
	if got := x.b.Overlaps(); got != x.overlaps {
		return fmt.Errorf("overlaps: %v, want %v", got, x.overlaps)
	}
	return nil
}

// external converts to external32 and back, for typemaps without overlap.
func (x *checker) external() error {
	if x.overlaps {
		return nil
	}
	x.all.Normalize(x.mem, x.origin)
	want := x.all.External(x.mem, x.origin)
	got := make([]byte, len(want)+4)
	n, err := x.b.PackExternal(got)
	if err != nil || n != int64(len(want)) || !bytes.Equal(got[:n], want) {
		return fmt.Errorf("%d bytes, %v\n% x, want\n% x", n, err, got, want)
	}
	before := bytes.Clone(x.mem)
	x.all.Unpack(x.mem, x.origin, make([]byte, len(x.offs)))
	n, err = x.b.UnpackExternal(got)
	if err != nil || n != int64(len(want)) || !bytes.Equal(x.mem, before) {
		return fmt.Errorf("back: %d bytes, %v\n% x, want\n% x", n, err, x.mem, before)
	}
	if n > 0 {
		if _, err := x.b.PackExternal(got[:n-1]); err == nil {
			return fmt.Errorf("packed %d bytes into %d", n, n-1)
		}
	}
	return nil
}

// signature compares the signature with that of a struct that lists the typemap, and
// counts the elements in prefixes of a message.
func (x *checker) signature() error {
	integers := map[int64]dtype.ID{1: dtype.Int8, 2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64, 16: dtype.Integer16}
	var lengths, displs []int64
	var types []*dtype.Type
	for _, e := range x.all.Entries {
		lengths, displs, types = append(lengths, 1), append(displs, e.Off), append(types, x.set.Type(e.Elem.ID))
	}
	flat, err := dtype.Struct(lengths, displs, types)
	if err != nil {
		return err
	}
	if !dtype.SameSignature(x.t, x.count, flat, 1) {
		return fmt.Errorf("%v of %s, want %v of %s", x.t.Signature(x.count), x.t.Describe(x.count), flat.Signature(1), flat.Describe(1))
	}
	for range 5 {
		k := x.r.IntN(len(types) + 1)
		begin, _ := dtype.Struct(lengths[:k], displs[:k], types[:k])
		if err := begin.Signature(1).Check(x.t, x.count); err != nil {
			return fmt.Errorf("the first %d elements: %w", k, err)
		}
		extra := int64(0)
		if k < len(types) && types[k].Size() > 1 {
			extra = 1
		}
		if n, ok := x.t.Elements(begin.Size() + extra); n != int64(k) || ok != (extra == 0) {
			return fmt.Errorf("%d bytes are %d elements, %v, want %d", begin.Size()+extra, n, ok, k)
		}
		if k == 0 {
			continue
		}
		last := types[k-1]
		other := integers[last.Size()]
		if other == 0 || last.Elem().Kind == dtype.Integer || begin.Signature(1).Raw || x.t.Signature(x.count).Raw {
			continue
		}
		wrong, _ := dtype.Struct(lengths[:k], displs[:k], append(append([]*dtype.Type{}, types[:k-1]...), x.set.Type(other)))
		if err := wrong.Signature(1).Check(x.t, x.count); err == nil {
			return fmt.Errorf("a signature with another type at %d matches", k-1)
		}
	}
	return nil
}

// contents makes the type again from its contents, recursively.
func (x *checker) contents() error {
	var again func(t *dtype.Type) (*dtype.Type, error)
	again = func(t *dtype.Type) (*dtype.Type, error) {
		c := t.Contents()
		if c.Combiner == dtype.CombinerNamed {
			return t, nil
		}
		for i := range c.Types {
			var err error
			c.Types[i], err = again(c.Types[i])
			if err != nil {
				return nil, err
			}
		}
		return dtypetest.Make(x.set, c)
	}
	t, err := again(x.t)
	if err != nil {
		return err
	}
	if err := checkBounds(t, x.m); err != nil {
		return err
	}
	t.Commit()
	b, err := dtype.Bind(x.mem, x.origin, t, x.count)
	if err != nil {
		return err
	}
	got := make([]byte, b.Size())
	b.Pack(got, 0)
	if !bytes.Equal(got, x.packed()) {
		return fmt.Errorf("rebuilt type packs % x", got)
	}
	l := x.t.LargeContents()
	c := x.t.Contents()
	if len(l.Integers)+len(l.Counts) != len(c.Integers)+len(c.Addrs) || len(l.Addrs) != 0 {
		return fmt.Errorf("contents %v, large %v", c, l)
	}
	return nil
}

// bounds checks that Bind refuses memory that is a byte too short on either side.
func (x *checker) bounds() error {
	if x.b.Size() == 0 {
		return nil
	}
	lo, hi := x.all.TrueBounds()
	if _, err := dtype.Bind(make([]byte, hi-lo), -lo, x.t, x.count); err != nil {
		return err
	}
	if _, err := dtype.Bind(make([]byte, hi-lo-1), -lo, x.t, x.count); err == nil {
		return fmt.Errorf("bound to %d bytes of %d", hi-lo-1, hi-lo)
	}
	if _, err := dtype.Bind(make([]byte, hi-lo), -lo-1, x.t, x.count); err == nil {
		return fmt.Errorf("bound to start before the memory")
	}
	return nil
}
