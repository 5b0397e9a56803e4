package mpi_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

type inner struct {
	A int8
	_ [3]byte
	B complex128
}

type outer struct {
	Flags [2]bool
	In    [3]inner
	N     int
}

type label string

type holdsPointer struct {
	N  int
	In [2]struct{ Next *int }
}

// TypeOf returns for numbers of Go their types of C, and for structs a type of their fields with
// Go's offsets. It always returns the same type, which is committed.
func TestDT12_TypesOfGo(t *testing.T) {
	check := func(d mpi.Datatype, err error, name string, size, extent int) {
		t.Helper()
		ok(t, err)
		s, err := d.Size()
		ok(t, err)
		lb, x, err := d.Extent()
		ok(t, err)
		if d.Name() != name || s != size || lb != 0 || x != extent || !d.Committed() {
			t.Errorf("%q: size %d, bounds %d %d, committed %v; want %q %d %d", d.Name(), s, lb, x, d.Committed(), name, size, extent)
		}
	}
	checkOf[bool](check, "MPI_C_BOOL", 1, 1)
	checkOf[int8](check, "MPI_INT8_T", 1, 1)
	checkOf[uint16](check, "MPI_UINT16_T", 2, 2)
	checkOf[rune](check, "MPI_INT32_T", 4, 4)
	checkOf[int](check, "MPI_INT64_T", 8, 8)
	checkOf[uint](check, "MPI_UINT64_T", 8, 8)
	checkOf[float32](check, "MPI_FLOAT", 4, 4)
	checkOf[complex64](check, "MPI_C_COMPLEX", 8, 8)
	checkOf[complex128](check, "MPI_C_DOUBLE_COMPLEX", 16, 16)
	checkOf[inner](check, "mpi_test.inner", 17, int(unsafe.Sizeof(inner{})))
	checkOf[outer](check, "mpi_test.outer", 2+3*17+8, int(unsafe.Sizeof(outer{})))
	checkOf[struct{}](check, "struct {}", 0, 0)
	a, b := typ(t)(mpi.TypeOf[outer]()), typ(t)(mpi.TypeOf[outer]())
	if a != b || a == typ(t)(mpi.TypeOf[inner]()) {
		t.Error("one type is not one handle")
	}
	if n := testing.AllocsPerRun(100, func() { mpi.TypeOf[outer]() }); n != 0 {
		t.Errorf("TypeOf allocates %v times", n)
	}
}

func checkOf[T any](check func(mpi.Datatype, error, string, int, int), name string, size, extent int) {
	d, err := mpi.TypeOf[T]()
	check(d, err, name, size, extent)
}

// A type that contains references to memory has no datatype: the error names the field.
func TestDT12_TypesOfGoWithReferences(t *testing.T) {
	refuse := func(err error, path, kind string) {
		t.Helper()
		wantText(t, err, mpi.ErrType, path+" is a "+kind+": memory of this process")
		if advice := map[string]string{"string": "; send []byte(s)", "slice": "; flatten [][]T"}[kind]; err != nil && !strings.Contains(err.Error(), advice) {
			t.Errorf("%v does not advise %q", err, advice)
		}
	}
	refuse(second(mpi.TypeOf[holdsPointer]()), "mpi_test.holdsPointer.In[i].Next", "ptr")
	refuse(second(mpi.TypeOf[struct {
		id   int
		name label
	}]()), ".name", "string")
	refuse(second(mpi.TypeOf[struct{ xs []float64 }]()), ".xs", "slice")
	refuse(second(mpi.TypeOf[struct{ m map[int]int }]()), ".m", "map")
	refuse(second(mpi.TypeOf[struct{ c chan int }]()), ".c", "chan")
	refuse(second(mpi.TypeOf[struct{ f func() }]()), ".f", "func")
	refuse(second(mpi.TypeOf[struct{ e error }]()), ".e", "interface")
	refuse(second(mpi.TypeOf[struct{ p unsafe.Pointer }]()), ".p", "unsafe.Pointer")
	refuse(second(mpi.TypeOf[struct{ _ *int }]()), "._", "ptr")
	refuse(second(mpi.TypeOf[uintptr]()), "uintptr", "uintptr")
	refuse(second(mpi.TypeOf[string]()), "string", "string")
	refuse(second(mpi.TypeOf[any]()), "interface {}", "interface")
	refuse(second(mpi.Pack(nil, mpi.Buf([]label{"a"}))), "mpi_test.label", "string")
}

// X-TYP-01: a ValueIndex is the pair type that the standard has for its parts, also in a struct
// and an array; a struct that only embeds one is a struct.
func TestXTYP01_ValueIndexIsAPairType(t *testing.T) {
	parts := func(d mpi.Datatype, err error) func(v, i mpi.Datatype) {
		t.Helper()
		ok(t, err)
		return func(v, i mpi.Datatype) {
			t.Helper()
			if want := typ(t)(mpi.TypeValueIndex(v, i)); d != want || want.IsNull() {
				t.Errorf("type of the pair is %v, want %v", d, want)
			}
		}
	}
	f64, f32 := typ(t)(mpi.TypeOf[float64]()), typ(t)(mpi.TypeOf[float32]())
	i64, i32, u8 := typ(t)(mpi.TypeOf[int64]()), typ(t)(mpi.TypeOf[int32]()), typ(t)(mpi.TypeOf[uint8]())
	parts(mpi.TypeOf[mpi.ValueIndex[float64, int64]]())(f64, i64)
	parts(mpi.TypeOf[mpi.ValueIndex[float64, int]]())(f64, i64)
	parts(mpi.TypeOf[mpi.ValueIndex[float64, int32]]())(f64, i32)
	parts(mpi.TypeOf[mpi.ValueIndex[uint8, int64]]())(u8, i64)
	for want, d := range map[string]mpi.Datatype{
		"MPI_2REAL":             typ(t)(mpi.TypeOf[mpi.ValueIndex[float32, float32]]()),
		"MPI_2DOUBLE_PRECISION": typ(t)(mpi.TypeOf[mpi.ValueIndex[float64, float64]]()),
	} {
		if d != typ(t)(mpi.Predefined(want)) {
			t.Errorf("%v, want %s", d, want)
		}
	}
	named := typ(t)(mpi.TypeValueIndex(typ(t)(mpi.Predefined("MPI_DOUBLE")), typ(t)(mpi.Predefined("MPI_INT"))))
	if named != typ(t)(mpi.Predefined("MPI_DOUBLE_INT")) {
		t.Errorf("pair of MPI_DOUBLE and MPI_INT is %v", named)
	}
	for what, d := range map[string]mpi.Datatype{"complex value": typ(t)(mpi.TypeOf[complex64]()), "struct": typ(t)(mpi.TypeOf[outer]()), "byte": mpi.Byte()} {
		if p, err := mpi.TypeValueIndex(d, i32); err != nil || !p.IsNull() {
			t.Errorf("%s: %v, %v; want the null type", what, p, err)
		}
	}
	if p, err := mpi.TypeValueIndex(f32, f32); err != nil || !p.IsNull() {
		t.Errorf("an index with a fraction: %v, %v; want the null type", p, err)
	}
	type found struct {
		mpi.ValueIndex[float64, int64]
		Rank int32
	}
	for _, d := range []mpi.Datatype{typ(t)(mpi.TypeOf[found]()), typ(t)(mpi.TypeOf[struct {
		mpi.ValueIndex[float64, int64]
	}]())} {
		if e, err := d.Envelope(); err != nil || e.Combiner != mpi.CombinerResized {
			t.Errorf("a struct that embeds a pair is %v (%v)", e.Combiner, err)
		}
	}
	type far struct {
		*mpi.ValueIndex[float64, int64]
		Rank int32
	}
	wantText(t, second(mpi.TypeOf[far]()), mpi.ErrType, "far.ValueIndex is a ptr")
	if size, err := typ(t)(mpi.TypeOf[found]()).Size(); err != nil || size != 20 {
		t.Errorf("its size is %d (%v)", size, err)
	}
	if s := typ(t)(mpi.TypeOf[[2]mpi.ValueIndex[float64, int64]]()); !strings.HasPrefix(s.Name(), "[2]mpi.ValueIndex[") {
		t.Errorf("an array of pairs is called %q", s.Name())
	}
}
