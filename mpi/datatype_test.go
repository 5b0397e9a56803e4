package mpi_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// typ commits the result of a call that makes types, or ends the test.
func typ(t testing.TB) func(d mpi.Datatype, err error) mpi.Datatype {
	return func(d mpi.Datatype, err error) mpi.Datatype {
		t.Helper()
		if err == nil {
			err = d.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// wantText fails the test unless err has that class and its text contains all parts.
func wantText(t testing.TB, err error, class mpi.Class, parts ...string) {
	t.Helper()
	wantClass(t, err, class)
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Fatalf("error is %q, which does not say %q", err, p)
		}
	}
}

// everyUse calls every function that takes a type.
func everyUse(d mpi.Datatype) map[string]error {
	attr := mpi.CreateKeyval[mpi.Datatype, int](nil, nil)
	free := d
	var mem [64]byte
	int32s, err := mpi.TypeOf[int32]()
	return map[string]error{
		"Commit":            errors.Join(err, d.Commit()),
		"Free":              free.Free(),
		"Dup":               second(d.Dup()),
		"Size":              second(d.Size()),
		"Extent":            third(d.Extent()),
		"TrueExtent":        third(d.TrueExtent()),
		"Envelope":          second(d.Envelope()),
		"Contents":          second(d.Contents()),
		"SetName":           d.SetName("x"),
		"SetAttr":           mpi.SetAttr(d, attr, 1),
		"GetAttr":           third(mpi.GetAttr(d, attr)),
		"DeleteAttr":        mpi.DeleteAttr(d, attr),
		"TypeContiguous":    second(mpi.TypeContiguous(1, d)),
		"TypeVector":        second(mpi.TypeVector(1, 1, 1, d)),
		"TypeHvector":       second(mpi.TypeHvector(1, 1, 1, d)),
		"TypeIndexed":       second(mpi.TypeIndexed([]int{1}, []int{0}, d)),
		"TypeHindexed":      second(mpi.TypeHindexed([]int{1}, []int{0}, d)),
		"TypeIndexedBlock":  second(mpi.TypeIndexedBlock(1, []int{0}, d)),
		"TypeHindexedBlock": second(mpi.TypeHindexedBlock(1, []int{0}, d)),
		"TypeStruct":        second(mpi.TypeStruct([]int{1, 1}, []int{0, 8}, []mpi.Datatype{int32s, d})),
		"TypeSubarray":      second(mpi.TypeSubarray([]int{1}, []int{1}, []int{0}, mpi.OrderC, d)),
		"TypeDarray":        second(mpi.TypeDarray(1, 0, []mpi.Distribute{{1, mpi.DistributeNone, 1, 1}}, mpi.OrderC, d)),
		"TypeResized":       second(mpi.TypeResized(d, 0, 1)),
		"TypeValueIndex":    second(mpi.TypeValueIndex(int32s, d)),
		"Count":             second(mpi.Status{}.Count(d)),
		"Elements":          second(mpi.Status{}.Elements(d)),
		"PackSize":          second(mpi.PackSize(1, d)),
		"PackExternalSize":  second(mpi.PackExternalSize(1, d)),
		"Pack":              second(mpi.Pack(nil, mpi.BufOf(mem[:], 1, d))),
		"PackExternal":      second(mpi.PackExternal(nil, mpi.BufOf(mem[:], 1, d))),
		"Unpack":            second(mpi.Unpack(mem[:], mpi.BufOf(mem[:], 1, d))),
		"UnpackExternal":    second(mpi.UnpackExternal(mem[:], mpi.BufOf(mem[:], 1, d))),
	}
}

// A type that is null, or a copy of a freed type, is ErrType in every call, and the error names
// the call.
func TestDT13_NullAndFreedTypes(t *testing.T) {
	freed := typ(t)(mpi.TypeVector(3, 1, 2, typ(t)(mpi.TypeOf[float64]())))
	handle := freed
	ok(t, handle.Free())
	if !handle.IsNull() || handle != mpi.DatatypeNull || freed.IsNull() {
		t.Errorf("after Free: %v, and a copy %v", handle, freed)
	}
	for what, d := range map[string]mpi.Datatype{"datatype is null": {}, "vector(3 1 2 MPI_DOUBLE) has been freed": freed} {
		for call, err := range everyUse(d) {
			wantText(t, err, mpi.ErrType, what, "mpi: "+call)
		}
		if d.Committed() || d.Name() != "" {
			t.Errorf("%s: committed %v, name %q", what, d.Committed(), d.Name())
		}
	}
	wantText(t, second(mpi.TypeStruct([]int{1}, []int{0}, []mpi.Datatype{{}})), mpi.ErrType, "type at index 0")
	if s := mpi.DatatypeNull.String(); s != "MPI_DATATYPE_NULL" {
		t.Errorf("the null type is %q", s)
	}
}

// Types made from a type, its duplicates, and Buffers remain usable when the type has been
// freed.
func TestDT13_FreedTypesLiveOn(t *testing.T) {
	old := typ(t)(mpi.TypeVector(2, 1, 2, typ(t)(mpi.TypeOf[int16]())))
	made := typ(t)(mpi.TypeContiguous(2, old))
	dup := typ(t)(made.Dup())
	mem := []int16{1, 2, 3, 4, 5, 6}
	b := mpi.BufOf(mem, 1, made)
	ok(t, old.Free())
	ok(t, made.Free())
	for _, b := range []mpi.Buffer{b, mpi.BufOf(mem, 1, dup)} {
		packed, err := mpi.Pack(nil, b)
		ok(t, err)
		if got := unsafe.Slice((*int16)(unsafe.Pointer(&packed[0])), 4); got[0] != 1 || got[1] != 3 || got[2] != 4 || got[3] != 6 {
			t.Errorf("packed %v", got)
		}
	}
}

// A type can be used in communication after Commit. A duplicate is committed if the original is.
func TestDT13_Commit(t *testing.T) {
	v, err := mpi.TypeVector(2, 1, 2, typ(t)(mpi.TypeOf[int16]()))
	ok(t, err)
	early, err := v.Dup()
	ok(t, err)
	mem := make([]int16, 3)
	if v.Committed() || early.Committed() {
		t.Error("committed from the start")
	}
	wantText(t, second(mpi.Pack(nil, mpi.BufOf(mem, 1, v))), mpi.ErrType, "vector(2 1 2 MPI_INT16_T) is not committed")
	ok(t, v.Commit())
	ok(t, v.Commit())
	late, err := v.Dup()
	ok(t, err)
	if !v.Committed() || early.Committed() || !late.Committed() {
		t.Errorf("committed: %v, earlier duplicate %v, later one %v", v.Committed(), early.Committed(), late.Committed())
	}
	ok(t, second(mpi.Pack(nil, mpi.BufOf(mem, 1, v))))
	if v == late || late == early {
		t.Error("duplicates are the same type")
	}
}

// Predefined types, and those of TypeOf, cannot be freed; their duplicates can.
func TestDT21_PredefinedAreNotFreed(t *testing.T) {
	type point struct{ X, Y float32 }
	for _, d := range []mpi.Datatype{mpi.Byte(), typ(t)(mpi.TypeOf[float64]()), typ(t)(mpi.TypeOf[point]()),
		typ(t)(mpi.TypeF90Real(6, 37)), typ(t)(mpi.TypeMatchSize(mpi.TypeclassReal, 8)),
		typ(t)(mpi.TypeValueIndex(typ(t)(mpi.TypeOf[float64]()), typ(t)(mpi.TypeOf[int64]())))} {
		if !d.Committed() {
			t.Errorf("%v is not committed", d)
		}
		handle := d
		wantText(t, handle.Free(), mpi.ErrType, "Free on "+d.String(), "predefined")
		ok(t, second(d.Size()))
		if handle != d {
			t.Errorf("a Free that failed made it %v", handle)
		}
		dup := typ(t)(d.Dup())
		ok(t, dup.Free())
	}
}

// Names (NAM-01) are those of the standard or of Go, or empty, and have at most 127 bytes;
// errors contain them. A duplicate has no name.
func TestDT35_NAM01_Names(t *testing.T) {
	for name, d := range map[string]mpi.Datatype{"MPI_WCHAR": typ(t)(mpi.Predefined("MPI_WCHAR")), "MPI_BYTE": mpi.Byte(),
		"MPI_DOUBLE": typ(t)(mpi.TypeOf[float64]()), "[3]int16": typ(t)(mpi.TypeOf[[3]int16]())} {
		if d.Name() != name || d.String() != name {
			t.Errorf("%q, %q, want %q", d.Name(), d, name)
		}
	}
	d := typ(t)(mpi.TypeContiguous(2, mpi.Byte()))
	if d.Name() != "" || d.String() != "contiguous(2 MPI_BYTE)" {
		t.Errorf("unnamed: %q, %q", d.Name(), d)
	}
	long := strings.Repeat("x", 127)
	ok(t, d.SetName(long))
	wantText(t, d.SetName(long+"x"), mpi.ErrArg, "SetName on "+long, "128 bytes")
	if d.Name() != long {
		t.Errorf("name is %q", d.Name())
	}
	if dup := typ(t)(d.Dup()); dup.Name() != "" {
		t.Errorf("the duplicate is called %q", dup.Name())
	}
	own := typ(t)(mpi.Byte().Dup()) // all users share the names of predefined types
	ok(t, own.SetName("mine"))
	if mpi.Byte().Name() != "MPI_BYTE" || own.String() != "mine" {
		t.Errorf("names %q and %q", mpi.Byte().Name(), own)
	}
	wchar := typ(t)(mpi.Predefined("MPI_WCHAR"))
	ok(t, wchar.SetName("wide"))
	if again := typ(t)(mpi.Predefined("MPI_WCHAR")); again != wchar || again.Name() != "wide" {
		t.Errorf("MPI_WCHAR is called %q", again.Name())
	}
	ok(t, wchar.SetName("MPI_WCHAR"))
	ok(t, own.SetName(""))
	if own.Name() != "" {
		t.Errorf("name is %q", own.Name())
	}
}

// Any goroutine may make, commit, use and free types; if several free copies of one type,
// exactly one succeeds.
func TestDT12_ManyGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	shared := typ(t)(mpi.TypeVector(3, 1, 2, mpi.Byte()))
	var mu sync.Mutex
	freed := 0
	for range 8 {
		wg.Go(func() {
			for range 50 {
				d, err := mpi.TypeVector(4, 1, 3, mpi.Byte())
				err = errors.Join(err, d.Commit())
				if err != nil {
					t.Error(err)
				}
				if _, err := mpi.Pack(nil, mpi.BufOf(make([]byte, 10), 1, d)); err != nil {
					t.Error(err)
				}
				if a, b := typ(t)(mpi.TypeOf[[5]int32]()), typ(t)(mpi.TypeF90Integer(9)); a != typ(t)(mpi.TypeOf[[5]int32]()) || b != typ(t)(mpi.TypeF90Integer(9)) {
					t.Error("types that exist once are not the same")
				}
				if err := d.Free(); err != nil {
					t.Error(err)
				}
			}
			mine := shared
			if err := mine.Free(); err == nil {
				mu.Lock()
				freed++
				mu.Unlock()
			} else if !errors.Is(err, mpi.ErrType) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if freed != 1 {
		t.Errorf("%d goroutines freed the type", freed)
	}
}
