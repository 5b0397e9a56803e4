package dtype

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/sys"
)

// must returns the type of a constructor that cannot fail.
func must(t testing.TB) func(*Type, error) *Type {
	return func(typ *Type, err error) *Type {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		typ.Commit()
		return typ
	}
}

// A duplicate is committed if the original is. A type to which only a buffer refers
// stays usable.
func TestFreedTypeInFlight(t *testing.T) {
	set := Predefined()
	v, _ := Vector(3, 1, 2, set.Type(Int32))
	d := must(t)(Dup(v))
	if v.Committed() {
		t.Error("the commit of a duplicate committed the original")
	}
	if d2, _ := Dup(v); d2.Committed() {
		t.Error("the duplicate of an uncommitted type is committed")
	}
	mem := []byte{1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0, 9, 10, 11, 12}
	b, err := Bind(mem, 0, d, 1)
	if err != nil {
		t.Fatal(err)
	}
	set, v, d = nil, nil, nil
	runtime.GC()
	out := make([]byte, 12)
	b.Pack(out, 0)
	if !bytes.Equal(out, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
		t.Errorf("% d", out)
	}
}

// The combiner is that of the constructor call even if the layout is simplified (DT-09), and
// the envelope has the numbers of the standard's table (DT-08).
func TestDT08Envelope(t *testing.T) {
	set := Predefined()
	i := set.Type(Int)
	l := func(v ...int64) []int64 { return v }
	dims := []Distribute{{6, DistributeBlock, DistributeDefault, 2}, {4, DistributeNone, DistributeDefault, 1}}
	for _, c := range []struct {
		t               *Type
		comb            Combiner
		ni, na, nd      int
		lni, lna, lc, d int
	}{
		{i, CombinerNamed, 0, 0, 0, 0, 0, 0, 0},
		{must(t)(Dup(i)), CombinerDup, 0, 0, 1, 0, 0, 0, 1},
		{must(t)(Contiguous(4, i)), CombinerContiguous, 1, 0, 1, 0, 0, 1, 1},
		{must(t)(Vector(4, 2, 2, i)), CombinerVector, 3, 0, 1, 0, 0, 3, 1},
		{must(t)(Hvector(4, 2, 8, i)), CombinerHvector, 2, 1, 1, 0, 0, 3, 1},
		{must(t)(Indexed(l(1, 1), l(0, 1), i)), CombinerIndexed, 5, 0, 1, 0, 0, 5, 1},
		{must(t)(Hindexed(l(1, 1), l(0, 4), i)), CombinerHindexed, 3, 2, 1, 0, 0, 5, 1},
		{must(t)(IndexedBlock(1, l(0, 1), i)), CombinerIndexedBlock, 4, 0, 1, 0, 0, 4, 1},
		{must(t)(HindexedBlock(1, l(0, 4), i)), CombinerHindexedBlock, 2, 2, 1, 0, 0, 4, 1},
		{must(t)(Struct(l(1, 1), l(0, 4), []*Type{i, i})), CombinerStruct, 3, 2, 2, 0, 0, 5, 2},
		{must(t)(Subarray(l(4, 4), l(4, 4), l(0, 0), OrderC, i)), CombinerSubarray, 8, 0, 1, 2, 0, 6, 1},
		{must(t)(Darray(2, 0, dims, OrderC, i)), CombinerDarray, 12, 0, 1, 10, 0, 2, 1},
		{must(t)(Resized(i, 0, 4)), CombinerResized, 0, 2, 1, 0, 0, 2, 1},
	} {
		s, g := c.t.Contents(), c.t.LargeContents()
		got := [9]int{int(s.Combiner), len(s.Integers), len(s.Addrs), len(s.Types), int(g.Combiner), len(g.Integers), len(g.Addrs), len(g.Counts), len(g.Types)}
		if want := [9]int{int(c.comb), c.ni, c.na, c.nd, int(c.comb), c.lni, c.lna, c.lc, c.d}; got != want {
			t.Errorf("%v: %v, want %v", c.t, got, want)
		}
		if len(s.Types) > 0 && s.Types[0] != i {
			t.Errorf("%v: contents have %v", c.t, s.Types)
		}
	}
	d := must(t)(Darray(2, 1, dims, OrderFortran, i))
	for k, v := range d.LargeContents().Counts {
		if v != dims[k].Size {
			t.Errorf("counts of a darray: %v", d.LargeContents())
		}
	}
	// The engine still has one run for whole subarrays and dense vectors.
	for _, whole := range []*Type{must(t)(Vector(4, 2, 2, i)), must(t)(Subarray(l(4, 4), l(4, 4), l(0, 0), OrderC, i))} {
		b, _ := Bind(make([]byte, 1000), 0, whole, 3)
		if _, ok := b.Contiguous(); !ok {
			t.Errorf("%v is not contiguous", whole)
		}
	}
}

// Resized sets bounds, which also determine the bounds of types made of it (DT-11).
func TestDT11Resized(t *testing.T) {
	set := Predefined()
	r := must(t)(Resized(set.Type(Int), -4, 16))
	if lb, ex := r.Extent(); lb != -4 || ex != 16 {
		t.Errorf("lb %d, extent %d", lb, ex)
	}
	if lb, ex := r.TrueExtent(); lb != 0 || ex != 4 {
		t.Errorf("true lb %d, extent %d", lb, ex)
	}
	s := must(t)(Struct([]int64{1, 1}, []int64{0, 100}, []*Type{r, set.Type(Double)}))
	if lb, ex := s.Extent(); lb != -4 || ex != 16 {
		t.Errorf("struct: lb %d, extent %d", lb, ex)
	}
	// The standard's example: extent is rounded up to the alignment of the double.
	p := must(t)(Struct([]int64{1, 1}, []int64{0, 8}, []*Type{set.Type(Double), set.Type(Char)}))
	if _, ex := p.Extent(); ex != 16 {
		t.Errorf("extent of {(double, 0), (char, 8)} is %d", ex)
	}
	if e := must(t)(Contiguous(0, r)); e.Size() != 0 {
		t.Error("an empty type has data")
	} else if lb, ex := e.Extent(); lb != 0 || ex != 0 {
		t.Errorf("empty: lb %d, extent %d", lb, ex)
	}
}

// The displacement in the standard's example 5.8 (DT-07): A(10,10) relative to A(1,1) in REAL
// A(100,100), as a subarray of one element.
func TestDT07Displacement(t *testing.T) {
	s := must(t)(Subarray([]int64{100, 100}, []int64{1, 1}, []int64{9, 9}, OrderFortran, Predefined().Type(FortranReal)))
	if lb, _ := s.TrueExtent(); lb != 3636 {
		t.Errorf("displacement %d", lb)
	}
}

// A type with absolute addresses, from MPI_BOTTOM (DT-15), puts two separate objects into one
// message.
func TestDT15AbsoluteAddresses(t *testing.T) {
	set := Predefined()
	a, b := new([4]byte), new([5]float32)
	*a = [4]byte{1, 2, 3, 4}
	for i := range b {
		b[i] = float32(i)
	}
	addr := func(p unsafe.Pointer) int64 { return int64(uintptr(p)) }
	s := must(t)(Struct([]int64{1, 5}, []int64{addr(unsafe.Pointer(a)), addr(unsafe.Pointer(b))},
		[]*Type{set.Type(Int), set.Type(FortranReal)}))
	bottom, err := At(nil, s, 1)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 24)
	if n := bottom.Pack(out, 0); n != 24 || !bytes.Equal(out[:4], a[:]) || *(*[5]float32)(unsafe.Pointer(&out[4])) != *b {
		t.Errorf("%d bytes: % x", n, out)
	}
	want := *b
	*a, *b = [4]byte{}, [5]float32{}
	bottom.Unpack(out[:10], 0)
	bottom.Unpack(out[10:], 10)
	if *a != [4]byte{1, 2, 3, 4} || *b != want {
		t.Errorf("back: %v %v", *a, *b)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

// Overlaps finds overlapping bytes in small types and in interleaved loops, and does not
// report types that interleave without overlap (DT-14).
func TestDT14Overlap(t *testing.T) {
	set := Predefined()
	i, d := set.Type(Int), set.Type(Double)
	l := func(v ...int64) []int64 { return v }
	row := must(t)(Vector(1000, 1, 1000, d))
	column := must(t)(Resized(row, 0, 8))
	for _, c := range []struct {
		what  string
		t     *Type
		count int64
		want  bool
	}{
		{"hindexed 0 2", must(t)(Hindexed(l(1, 1), l(0, 2), i)), 1, true},
		{"hindexed 4 0", must(t)(Hindexed(l(1, 1), l(4, 0), i)), 1, false},
		{"stride 0", must(t)(Vector(2, 1, 0, i)), 1, true},
		{"backwards", must(t)(Vector(9, 1, -1, i)), 5, false},
		{"transposed", must(t)(Contiguous(1000, column)), 1, false},
		{"transposed elements", column, 1000, false},
		{"transposed too far", column, 1001, true},
		{"elements into each other", must(t)(Resized(i, 0, 2)), 2, true},
		{"one of them", must(t)(Resized(i, 0, 2)), 1, false},
		{"extent 0", must(t)(Resized(i, 0, 0)), 3, true},
		{"interleaved", must(t)(Resized(must(t)(Vector(4, 1, 2, i)), 0, 4)), 2, false},
		{"interleaved wrongly", must(t)(Resized(must(t)(Vector(4, 1, 2, i)), 0, 4)), 3, true},
		{"2^40 elements", must(t)(Vector(1<<20, 1, 2, must(t)(Vector(1<<20, 1, 2, i)))), 1, false},
		{"nothing", must(t)(Contiguous(0, i)), 7, false},
	} {
		b, err := At(unsafe.Pointer(&[1]byte{}), c.t, c.count)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Overlaps(); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// Signatures decide which type a message may be received as (DT-16); the errors name both
// sides.
func TestDT16TypeMatching(t *testing.T) {
	set := Predefined()
	n := func(id ID) *Type { return set.Type(id) }
	st := must(t)(Struct([]int64{2, 1}, []int64{0, 8}, []*Type{n(Int), n(Double)}))
	for _, c := range []struct {
		send   *Type
		ns     int64
		recv   *Type
		nr     int64
		want   class.Class
		phrase string
	}{
		{n(FortranInteger), 3, n(Int), 3, class.Success, ""},
		{n(Long), 3, n(Int64), 3, class.Success, ""},
		{n(Int), 2, n(Double), 1, class.Type, "2 elements in 8 bytes were sent, received are 1 x MPI_DOUBLE"},
		{n(Double), 1, n(Int64), 1, class.Type, "MPI_INT64_T"},
		{n(Int), 1, n(Unsigned), 1, class.Type, "MPI_UNSIGNED"},
		{n(Char), 1, n(Int8), 1, class.Type, "MPI_INT8_T"},
		{n(Packed), 8, n(Double), 1, class.Success, ""},
		{n(Double), 1, n(Packed), 8, class.Success, ""},
		{n(Byte), 8, n(Double), 1, class.Success, ""},
		{n(Int), 5, n(Int), 9, class.Success, ""},
		{n(Int), 9, n(Int), 5, class.Truncate, "9 elements in 36 bytes for 5 x MPI_INT of 20 bytes"},
		{n(Byte), 9, n(Double), 1, class.Truncate, "9 elements"},
		{st, 3, st, 4, class.Success, ""},
		{must(t)(Contiguous(3, st)), 1, st, 4, class.Success, ""},
		{n(Int), 2, st, 1, class.Success, ""},
		{n(Int), 3, st, 1, class.Type, "1 x struct(2 2 1 0 8 MPI_INT MPI_DOUBLE) [2 MPI_INT, 1 MPI_DOUBLE]"},
		{n(DoubleInt), 1, must(t)(Struct([]int64{1, 1}, []int64{0, 8}, []*Type{n(Double), n(Int)})), 1, class.Success, ""},
		{n(Int), 0, n(Double), 0, class.Success, ""},
		{st, 1, must(t)(Struct([]int64{1, 2}, []int64{0, 8}, []*Type{n(Double), n(Int)})), 1, class.Type, "of other types"},
		{st, 2, must(t)(Struct([]int64{2, 2, 2}, []int64{0, 8, 24}, []*Type{n(Int), n(Double), n(Int)})), 1, class.Type, "of other types"},
	} {
		err := c.send.Signature(c.ns).Check(c.recv, c.nr)
		if classOf(err) != c.want || err != nil && !strings.Contains(err.Error(), c.phrase) {
			t.Errorf("%d x %v to %d x %v: %v", c.ns, c.send, c.nr, c.recv, err)
		}
	}
	if got := st.Describe(9); !strings.HasSuffix(got, "[2 MPI_INT, 1 MPI_DOUBLE, 2 MPI_INT, 1 MPI_DOUBLE, 2 MPI_INT, 1 MPI_DOUBLE ... 27 elements in all]") {
		t.Error(got)
	}
	if got := must(t)(Vector(3, 2, 5, n(Int))).Describe(1 << 50); !strings.Contains(got, " MPI_INT") {
		t.Error(got)
	}
	if k, ok := st.Count(33); k != 2 || ok {
		t.Errorf("33 bytes are %d, %v", k, ok)
	}
	if k, ok := st.Count(48); k != 3 || !ok {
		t.Errorf("48 bytes are %d, %v", k, ok)
	}
}

// Counts beyond 32 bits and types larger than any memory cost neither time nor memory
// (X-CNT-01).
func TestXCNT01HugeTypes(t *testing.T) {
	set := Predefined()
	v := must(t)(Vector(1<<33, 1, 2, set.Type(Double)))
	if v.Size() != 1<<36 {
		t.Errorf("size %d", v.Size())
	}
	b, err := At(unsafe.Pointer(&[1]byte{}), v, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	runs := make([]Run, 2)
	n, next := b.Runs(runs, b.Size()-12, math.MaxInt64)
	// An element is 2^37 - 8 bytes long and ends with its last run.
	last := int64(1<<20)*(1<<37-8) - 8
	if n != 2 || next != b.Size() || runs[0] != (Run{last - 12, 4}) || runs[1] != (Run{last, 8}) {
		t.Errorf("%v to %d, last at %d", runs[:n], next, last)
	}
	if k, ok := v.Elements(1<<35 + 3); k != 1<<32 || ok {
		t.Errorf("%d elements, %v", k, ok)
	}
	if s := v.Signature(1 << 20); s.Elements != 1<<53 || s.Check(v, 1<<20) != nil {
		t.Errorf("%v", s)
	}
}

// Adjacent blocks merge, and Slices returns long blocks without packing.
func TestGathers(t *testing.T) {
	set := Predefined()
	for _, c := range []struct {
		t      *Type
		runs   int64
		gather bool
	}{
		{must(t)(Vector(4, 512, 600, set.Type(Double))), 4, true},
		{must(t)(Vector(4, 511, 600, set.Type(Double))), 4, false},
		{must(t)(Indexed([]int64{256, 256, 512}, []int64{0, 256, 513}, set.Type(Double))), 2, true},
		{must(t)(Contiguous(1, set.Type(Int))), 1, true},
		{must(t)(Struct([]int64{1, 3, 4096}, []int64{0, 4, 16}, []*Type{set.Type(Int), set.Type(Int), set.Type(Byte)})), 1, true},
		{must(t)(Struct([]int64{1, 3, 4096}, []int64{0, 4, 17}, []*Type{set.Type(Int), set.Type(Int), set.Type(Byte)})), 2, false},
	} {
		b, _ := Bind(make([]byte, 20000), 0, c.t, 1)
		if n := c.t.program().runs; n != c.runs || b.Gathers() != c.gather {
			t.Errorf("%v: %d runs, gathers %v", c.t, n, b.Gathers())
		}
	}
}

// No step in the transfer of a message allocates.
func TestPackAllocatesNothing(t *testing.T) {
	if sys.Race {
		t.Skip("the race detector allocates")
	}
	set := Predefined()
	inner := must(t)(Struct([]int64{1, 3}, []int64{0, 8}, []*Type{set.Type(Int), set.Type(Double)}))
	typ := must(t)(Vector(5, 2, 3, must(t)(Indexed([]int64{1, 2}, []int64{0, 3}, inner))))
	_, ex := typ.Extent()
	mem, wire := make([]byte, 4*ex), make([]byte, 4*typ.Size())
	iov := make([][]byte, 8)
	if n := testing.AllocsPerRun(100, func() {
		b, err := Bind(mem, 0, typ, 4)
		if err != nil {
			t.Fatal(err)
		}
		b.Pack(wire[:100], 0)
		b.Pack(wire[100:], 100)
		b.Unpack(wire, 0)
		b.Slices(iov, 50, 1000)
		b.Overlaps()
		_ = typ.Signature(4).Check(typ, 4)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The loop for every block size copies correctly at odd addresses, for counts around the
// unrolling factors.
func TestStridedBlocks(t *testing.T) {
	set := Predefined()
	mem := make([]byte, 4000)
	for i := range mem {
		mem[i] = byte(i*7 + i>>8)
	}
	for size := int64(1); size <= 140; size++ {
		for count := int64(0); count < 10; count++ {
			for _, stride := range []int64{size + 3, -size - 1} {
				typ := must(t)(Hvector(count, size, stride, set.Type(Byte)))
				origin := int64(1)
				if stride < 0 {
					origin = -stride * 10
				}
				b, err := Bind(mem, origin, typ, 1)
				if err != nil {
					t.Fatal(err)
				}
				var want []byte
				for i := range count {
					want = append(want, mem[origin+i*stride:][:size]...)
				}
				got := make([]byte, len(want)+2)
				b.Pack(got[1:], 0)
				if !bytes.Equal(got[1:1+len(want)], want) || got[0] != 0 || got[len(got)-1] != 0 {
					t.Fatalf("%d blocks of %d, stride %d", count, size, stride)
				}
				to := make([]byte, len(mem))
				after := make([]byte, len(mem))
				for i := range count {
					copy(after[origin+i*stride:][:size], mem[origin+i*stride:])
				}
				o, _ := Bind(to, origin, typ, 1)
				o.Unpack(want, 0)
				if !bytes.Equal(to, after) {
					t.Fatalf("unpack %d blocks of %d, stride %d", count, size, stride)
				}
			}
		}
	}
}
