package dtype

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

var (
	flagTypes = flag.Int("types", 3000, "number of random types")
	flagSeed  = flag.Uint64("seed", 1, "seed of the first random type")
)

// Random types against the typemap (DT-12): each seed is one type of nesting up to
// 6. A failure is shrunk, and repeated by -seed and -types 1.
func TestDT12RandomTypes(t *testing.T) {
	set := Predefined()
	n, tested := *flagTypes, 0
	if raceEnabled && n == 3000 {
		n = 300
	}
	for i := range n {
		seed := *flagSeed + uint64(i)
		s := randomSpec(rand.New(rand.NewPCG(seed, 1)), 1+int(seed%6))
		ran, err := check(set, s, seed)
		if ran {
			tested++
		}
		if err != nil {
			s, err = shrink(set, s, seed, err)
			t.Fatalf("seed %d: %v\n%v", seed, err, s)
		}
	}
	if tested < n/2 {
		t.Errorf("only %d of %d types were short enough to be tested", tested, n)
	}
}

// shrink looks for the simplest spec that still fails.
func shrink(set *Set, s *spec, seed uint64, err error) (*spec, error) {
	for again := true; again; {
		again = false
		for _, small := range s.smaller() {
			if _, e := tryCheck(set, small, seed); e != nil {
				s, err, again = small, e, true
				break
			}
		}
	}
	return s, err
}

func tryCheck(set *Set, s *spec, seed uint64) (ran bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return check(set, s, seed)
}

// check compares all that the engine does with a type to the oracle.
func check(set *Set, s *spec, seed uint64) (ran bool, err error) {
	r := rand.New(rand.NewPCG(seed, 2))
	m := s.typemap(set)
	count := int64(r.IntN(4))
	if seed%5 == 0 {
		count = int64(r.IntN(80)) // long enough for unrolled loops and tiles
	}
	if m == nil {
		return false, nil
	}
	all := m.times(count)
	if all == nil {
		return false, nil
	}
	lo, hi := all.trueBounds()
	if hi-lo > 1<<20 {
		return false, nil
	}
	t, err := s.build(set)
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
	b, err := Bind(mem[:hi-lo+pad], pad-lo, t, count)
	if err != nil {
		return true, err
	}
	x := checker{b: b, all: all, m: m, mem: mem, origin: pad - lo, r: r}
	for _, f := range []struct {
		name string
		f    func() error
	}{{"pack", x.pack}, {"runs", x.runs}, {"overlap", x.overlap}, {"external", x.external}, {"signature", x.signature},
		{"contents", func() error { return x.contents(set) }}, {"bounds", x.bounds}} {
		if err := f.f(); err != nil {
			return true, fmt.Errorf("%s, count %d: %w", f.name, count, err)
		}
	}
	return true, nil
}

func checkBounds(t *Type, m *typemap) error {
	size := int64(len(m.offsets()))
	lb, ub := m.bounds()
	tlb, tub := m.trueBounds()
	gotLB, gotEx := t.Extent()
	gotTLB, gotTEx := t.TrueExtent()
	got := [5]int64{t.Size(), gotLB, gotEx, gotTLB, gotTEx}
	if want := [5]int64{size, lb, ub - lb, tlb, tub - tlb}; got != want {
		return fmt.Errorf("size, lb, extent, true lb, true extent are %v, want %v", got, want)
	}
	return nil
}

type checker struct {
	b      Buffer
	m, all *typemap
	mem    []byte
	origin int64
	r      *rand.Rand
}

// packed is what the oracle packs.
func (x *checker) packed() []byte {
	var out []byte
	for _, o := range x.all.offsets() {
		out = append(out, x.mem[x.origin+o])
	}
	return out
}

// pack packs and unpacks in one piece, in two at every split point, and parts.
func (x *checker) pack() error {
	want := x.packed()
	size := len(want)
	if int64(size) != x.b.Size() {
		return fmt.Errorf("%d bytes, want %d", x.b.Size(), size)
	}
	var splits []int
	for k := 0; k <= size; k++ {
		if size <= 300 || x.r.IntN(size) < 40 {
			splits = append(splits, k)
		}
	}
	got := make([]byte, size+8)
	for _, k := range splits {
		clear(got)
		n := x.b.Pack(got[:k], 0)
		n += x.b.Pack(got[k:], int64(k))
		if n != size || !bytes.Equal(got[:size], want) || !bytes.Equal(got[size:], make([]byte, 8)) {
			return fmt.Errorf("split at %d of %d: %d bytes\n% x, want\n% x", k, size, n, got, want)
		}
	}
	var ranges [][2]int
	for range min(20, size) {
		from := x.r.IntN(size)
		ranges = append(ranges, [2]int{from, from + 1 + x.r.IntN(min(size-from, 1+x.r.IntN(size)))})
	}
	for _, k := range ranges {
		clear(got)
		part := got[4 : 4+k[1]-k[0]]
		n := x.b.Pack(part, int64(k[0]))
		if n != len(part) || !bytes.Equal(part, want[k[0]:k[1]]) ||
			!bytes.Equal(got[:4], make([]byte, 4)) || !bytes.Equal(got[4+n:], make([]byte, size+4-n)) {
			return fmt.Errorf("bytes %v of %d: %d bytes\n% x, want\n% x", k, size, n, got, want[k[0]:k[1]])
		}
	}
	if x.all.overlaps() {
		return nil
	}
	// Unpacking changes the bytes of the typemap and no other.
	before := bytes.Clone(x.mem)
	fresh := make([]byte, size)
	for i := range fresh {
		fresh[i] = byte(x.r.Uint32())
	}
	after := bytes.Clone(before)
	for i, o := range x.all.offsets() {
		after[x.origin+o] = fresh[i]
	}
	for _, k := range splits {
		copy(x.mem, before)
		n := x.b.Unpack(fresh[k:], int64(k)) + x.b.Unpack(fresh[:k], 0)
		if n != size || !bytes.Equal(x.mem, after) {
			return fmt.Errorf("unpack, split at %d of %d: %d bytes\n% x, want\n% x", k, size, n, x.mem, after)
		}
	}
	for _, k := range ranges {
		copy(x.mem, before)
		copy(after, before)
		for i, o := range x.all.offsets()[k[0]:k[1]] {
			after[x.origin+o] = fresh[k[0]+i]
		}
		if n := x.b.Unpack(fresh[k[0]:k[1]], int64(k[0])); n != k[1]-k[0] || !bytes.Equal(x.mem, after) {
			return fmt.Errorf("unpack bytes %v of %d: %d bytes\n% x, want\n% x", k, size, n, x.mem, after)
		}
	}
	return nil
}

// runs asks for runs in portions and compares them byte by byte.
func (x *checker) runs() error {
	offs := x.all.offsets()
	at, steps := int64(0), 0
	if len(offs) > 0 && x.r.IntN(2) == 0 {
		at = int64(x.r.IntN(len(offs)))
	}
	for at < int64(len(offs)) {
		limit := int64(1 + x.r.IntN(40))
		if x.r.IntN(3) > 0 {
			limit = 1 << 40
		}
		runs := make([]Run, 1+x.r.IntN(5))
		n, next := x.b.Runs(runs, at, limit)
		if n == 0 || next-at > limit {
			return fmt.Errorf("%d runs from %d to %d, limit %d", n, at, next, limit)
		}
		slices := make([][]byte, len(runs))
		if k, same := x.b.Slices(slices, at, limit); k != n || same != next {
			return fmt.Errorf("%d slices to %d, %d runs to %d", k, same, n, next)
		}
		for i, r := range runs[:n] {
			if i > 0 && runs[i-1].Off+runs[i-1].Len == r.Off {
				return fmt.Errorf("runs %v touch", runs[:n])
			}
			if &slices[i][0] != &x.mem[r.Off] || int64(len(slices[i])) != r.Len {
				return fmt.Errorf("slice %d is not run %v", i, r)
			}
			for b := range r.Len {
				if r.Off+b != offs[at]+x.origin {
					return fmt.Errorf("byte %d is at %d, want %d", at, r.Off+b, offs[at]+x.origin)
				}
				at++
			}
		}
		if at != next {
			return fmt.Errorf("runs end at %d, told %d", at, next)
		}
		steps++
	}
	if p, ok := x.b.Contiguous(); ok && !bytes.Equal(p, x.packed()) {
		return fmt.Errorf("contiguous bytes % x", p)
	}
	return nil
}

func (x *checker) overlap() error {
	if got, want := x.b.Overlaps(), x.all.overlaps(); got != want {
		return fmt.Errorf("overlaps: %v, want %v", got, want)
	}
	return nil
}

// external converts there and back. Long doubles are made normal first, which
// takes a typemap without overlap.
func (x *checker) external() error {
	if x.all.overlaps() {
		return nil
	}
	for _, e := range x.all.entries {
		b := x.mem[x.origin+e.off:][:e.e.Size]
		switch {
		case e.e.ID == LongDouble && cLongDouble() == Extended:
			clear(b[10:])
			b[7] |= 0x80
			b[8], b[9] = b[8]|1, b[9]&^1
		case e.e.ID == LongDouble && cLongDouble() == Double64:
			b[6], b[7] = b[6]|0x10, b[7]&^1
		case e.e.ID == Long && e.e.Size == 8: // what 4 bytes can hold
			for i := range b[4:] {
				b[4+i] = byte(int8(b[3]) >> 7)
			}
		case e.e.ID == Wchar && e.e.Size == 4:
			b[2], b[3] = 0, 0
		}
	}
	want := x.all.external(x.mem, x.origin)
	got := make([]byte, len(want)+4)
	n, err := x.b.PackExternal(got)
	if err != nil || n != int64(len(want)) || !bytes.Equal(got[:n], want) {
		return fmt.Errorf("%d bytes, %v\n% x, want\n% x", n, err, got, want)
	}
	before := bytes.Clone(x.mem)
	for _, e := range x.all.entries {
		clear(x.mem[x.origin+e.off:][:e.e.Size])
	}
	if n, err = x.b.UnpackExternal(got); err != nil || n != int64(len(want)) || !bytes.Equal(x.mem, before) {
		return fmt.Errorf("back: %d bytes, %v\n% x, want\n% x", n, err, x.mem, before)
	}
	if n > 0 {
		if _, err := x.b.PackExternal(got[:n-1]); err == nil {
			return fmt.Errorf("packed %d bytes into %d", n, n-1)
		}
	}
	return nil
}

// signature compares with that of a struct that lists the typemap, and counts
// elements in beginnings of a message.
func (x *checker) signature() error {
	var lengths, displs []int64
	var types []*Type
	for _, e := range x.all.entries {
		lengths, displs = append(lengths, 1), append(displs, e.off)
		types = append(types, newElemType(call{combiner: CombinerNamed}, e.e))
	}
	flat, err := Struct(lengths, displs, types)
	if err != nil {
		return err
	}
	if !SameSignature(x.b.t, x.b.count, flat, 1) {
		return fmt.Errorf("%v of %s, want %v of %s", x.b.t.Signature(x.b.count), x.b.t.Describe(x.b.count), flat.Signature(1), flat.Describe(1))
	}
	for range 5 {
		k := x.r.IntN(len(types) + 1)
		begin, _ := Struct(lengths[:k], displs[:k], types[:k])
		if err := begin.Signature(1).Check(x.b.t, x.b.count); err != nil {
			return fmt.Errorf("the first %d elements: %w", k, err)
		}
		extra := int64(0)
		if k < len(types) && types[k].Size() > 1 {
			extra = 1
		}
		if n, ok := x.b.t.Elements(begin.Size() + extra); n != int64(k) || ok != (extra == 0) {
			return fmt.Errorf("%d bytes are %d elements, %v, want %d", begin.Size()+extra, n, ok, k)
		}
		if k > 0 && types[k-1].elem.Kind != Integer && !begin.sig.raw && !x.b.t.sig.raw {
			other := append(append([]*Type{}, types[:k-1]...), newElemType(call{combiner: CombinerNamed},
				newElem(Int8, "other", types[k-1].Size(), Integer, 0, 0)))
			wrong, _ := Struct(lengths[:k], displs[:k], other)
			if err := wrong.Signature(1).Check(x.b.t, x.b.count); err == nil && !wrong.sig.raw {
				return fmt.Errorf("a signature with another type at %d matches", k-1)
			}
		}
	}
	return nil
}

// contents makes the type again, all the way down.
func (x *checker) contents(set *Set) error {
	var again func(t *Type) (*Type, error)
	again = func(t *Type) (*Type, error) {
		c := t.Contents()
		if c.Combiner == CombinerNamed {
			return t, nil
		}
		for i := range c.Types {
			var err error
			if c.Types[i], err = again(c.Types[i]); err != nil {
				return nil, err
			}
		}
		return rebuild(set, c)
	}
	t, err := again(x.b.t)
	if err != nil {
		return err
	}
	if err := checkBounds(t, x.m); err != nil {
		return err
	}
	t.Commit()
	b, err := Bind(x.mem, x.origin, t, x.b.count)
	if err != nil {
		return err
	}
	got := make([]byte, b.Size())
	b.Pack(got, 0)
	if !bytes.Equal(got, x.packed()) {
		return fmt.Errorf("rebuilt type packs % x", got)
	}
	l := x.b.t.LargeContents()
	c := x.b.t.Contents()
	if len(l.Integers)+len(l.Counts) != len(c.Integers)+len(c.Addrs) || len(l.Addrs) != 0 {
		return fmt.Errorf("contents %v, large %v", c, l)
	}
	return nil
}

// bounds binds memory that is a byte too short on either side.
func (x *checker) bounds() error {
	if x.b.Size() == 0 {
		return nil
	}
	lo, hi := x.all.trueBounds()
	if _, err := Bind(make([]byte, hi-lo), -lo, x.b.t, x.b.count); err != nil {
		return err
	}
	if _, err := Bind(make([]byte, hi-lo-1), -lo, x.b.t, x.b.count); err == nil {
		return fmt.Errorf("bound to %d bytes of %d", hi-lo-1, hi-lo)
	}
	if _, err := Bind(make([]byte, hi-lo), -lo-1, x.b.t, x.b.count); err == nil {
		return fmt.Errorf("bound to start before the memory")
	}
	return nil
}
