package dtype

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// made returns a function that passes on the type of a constructor and fails the test on error.
func made(t *testing.T) func(x *Type, err error) *Type {
	return func(x *Type, err error) *Type {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// The record that C reads agrees with its type, and is not on the Go heap.
func TestRecordsOfTypes(t *testing.T) {
	x := made(t)(Resized(made(t)(Vector(5, 1, 2, Predefined().Type(Double))), -8, 92))
	r := offheap.New[shmfmt.Type]()
	if !x.Share(r) || x.Committed() {
		t.Fatal("not shared, or committed")
	}
	want := [...]int64{40, -8, 84, 0, 72, x.most}
	if got := [...]int64{r.Size, r.LB, r.UB, r.TrueLB, r.TrueUB, r.Most}; got != want {
		t.Errorf("the record has %v, want %v", got, want)
	}
	x.program()
	x.ShareProgram(r)
	if r.Program.Load() != 0 {
		t.Error("C may pack a type that is not committed")
	}
	r.Committed.Store(1)
	if !x.Committed() {
		t.Error("a type is not committed though C has said so")
	}
	x.ShareProgram(r)
	first := r.Program.Load()
	if !offheap.Holds(unsafe.Pointer(r)) || !offheap.Holds(*(*unsafe.Pointer)(unsafe.Pointer(&first))) {
		t.Error("what C reads is on the Go heap")
	}
	x.ShareProgram(r)
	if r.Program.Load() != first {
		t.Error("the program of a record is another one the second time")
	}
	x.Unshare(r)
	if !x.Committed() || r.Program.Load() != 0 {
		t.Error("without the record a type is not committed, or its program is left")
	}
	// The next program of this size reuses the memory of the first one.
	if !x.Share(r) || r.Committed.Load() != 0 {
		t.Error("a record that is used again is committed")
	}
	x.ShareProgram(r)
	if r.Program.Load() != first {
		t.Errorf("the program of the next record is at %#x, that of the one before was at %#x", r.Program.Load(), first)
	}
	x.Unshare(r)
	offheap.Free(r)
}

// C commits a type through one record: Share refuses a second record unless the type is committed.
func TestRecordsOfOneType(t *testing.T) {
	x := made(t)(Contiguous(3, Predefined().Type(Int)))
	a, b := offheap.New[shmfmt.Type](), offheap.New[shmfmt.Type]()
	if !x.Share(a) || x.Share(b) {
		t.Error("a type is not shared in one record of two")
	}
	a.Committed.Store(1)
	if !x.Share(b) {
		t.Error("a type that is committed has but one record")
	}
	x.Unshare(b)
	a.Committed.Store(0) // as if the record belonged to another type by then
	x.Commit()
	if !x.Committed() {
		t.Error("a type is not committed")
	}
	x.Unshare(a)
	offheap.Free(a)
	offheap.Free(b)
}

// A record gets a program if C can pack and unpack its type, and only then.
func TestProgramsOfTypesThatAreSimple(t *testing.T) {
	set := Predefined()
	double := set.Type(Double)
	deep := double
	made := made(t)
	for k := range int64(programDepth) {
		deep = made(Indexed([]int64{1, 1, 1}, []int64{0, 3 + k%2, 12}, deep))
	}
	places := func(n int64) []int64 {
		list := make([]int64, n)
		for i := range list {
			list[i] = int64(i*i) * 3
		}
		return list
	}
	for name, c := range map[string]struct {
		x    *Type
		seen bool
	}{
		"a predefined type": {double, true},
		"a vector":          {made(Vector(5, 1, 2, double)), true},
		"nothing":           {made(Contiguous(0, double)), false},
		"over itself":       {made(Vector(5, 2, 1, double)), false},
		"one in another":    {made(Indexed([]int64{1, 1, 1}, []int64{8, 0, 4}, double)), false},
		"deep":              {deep, false},
		"of 64 KiB":         {made(Vector(packMost/8, 1, 2, double)), true},
		"of more":           {made(Vector(packMost/8+1, 1, 2, double)), false},
		"of many pieces":    {made(IndexedBlock(1, places(4000), set.Type(Short))), true},
		"of too many":       {made(IndexedBlock(1, places(programMost/8), set.Type(Short))), false},
	} {
		r := offheap.New[shmfmt.Type]()
		if !c.x.Share(r) {
			t.Fatalf("%s: no record", name)
		}
		packs := func() bool { c.x.ShareProgram(r); return r.Program.Load() != 0 }
		if !c.x.Predefined() && packs() {
			t.Errorf("%s is packed without having been committed", name)
		}
		c.x.Commit()
		if c.x.plain.n.Load() == nil && packs() {
			t.Errorf("%s is packed without a program", name)
		}
		c.x.program()
		if seen := packs(); seen != c.seen {
			t.Errorf("%s: seen %v, want %v", name, seen, c.seen)
		}
		c.x.Unshare(r)
		offheap.Free(r)
	}
}

// C reads the same runs from a program as Go, for a node of each kind.
func TestProgramsForC(t *testing.T) {
	leaf := func(size int64) *node { return runOf(size, nil) }
	var q sequence
	for _, sub := range []*node{
		repeat(40, 100, leaf(7)), scatter([]int64{0, 30, 50}, repeat(50, 16, leaf(8))).at(8000),
		(&runList{offs: []int64{9000, 9100, 9300}, sizes: []int64{1, 2, 3}}).node(), leaf(5).at(10000),
	} {
		q.add(sub)
	}
	n := q.node()
	if n.kind != seq || len(n.subs) != 3 {
		t.Fatalf("%d nodes of kind %d", len(n.subs), n.kind)
	}
	var want, got []Run
	n.each(2, func(_ *Elem, off, size int64) { want = append(want, Run{off, size}) })
	block := n.forC()
	eachForC((*shmfmt.Node)(unsafe.Pointer(&block[0])), 2, func(off, size int64) { got = append(got, Run{off, size}) })
	if !slices.Equal(got, want) {
		t.Errorf("C moves %v, want %v", got, want)
	}
	offheap.FreeBytes(block)
}
