package dtype

import (
	"errors"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
)

// classOf is the class of an error of the engine.
func classOf(err error) class.Class {
	var e *class.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return class.Success
}

// All predefined types exist under the handles of the ABI, with the sizes and
// extents of C and Fortran (DT-01 to DT-05, X-TYP-01), named as in the standard
// (DT-35).
func TestDT01PredefinedTypes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the table is that of Linux")
	}
	want := []struct {
		id           ID
		name         string
		size, extent int64
	}{
		{0x201, "MPI_AINT", 8, 8}, {0x202, "MPI_COUNT", 8, 8}, {0x203, "MPI_OFFSET", 8, 8}, {0x207, "MPI_PACKED", 1, 1},
		{0x208, "MPI_SHORT", 2, 2}, {0x209, "MPI_INT", 4, 4}, {0x20a, "MPI_LONG", 8, 8}, {0x20b, "MPI_LONG_LONG_INT", 8, 8},
		{0x20c, "MPI_UNSIGNED_SHORT", 2, 2}, {0x20d, "MPI_UNSIGNED", 4, 4}, {0x20e, "MPI_UNSIGNED_LONG", 8, 8},
		{0x20f, "MPI_UNSIGNED_LONG_LONG", 8, 8}, {0x210, "MPI_FLOAT", 4, 4}, {0x212, "MPI_C_COMPLEX", 8, 8},
		{0x213, "MPI_CXX_FLOAT_COMPLEX", 8, 8}, {0x214, "MPI_DOUBLE", 8, 8}, {0x216, "MPI_C_DOUBLE_COMPLEX", 16, 16},
		{0x217, "MPI_CXX_DOUBLE_COMPLEX", 16, 16}, {0x218, "MPI_LOGICAL", 4, 4}, {0x219, "MPI_INTEGER", 4, 4},
		{0x21a, "MPI_REAL", 4, 4}, {0x21b, "MPI_COMPLEX", 8, 8}, {0x21c, "MPI_DOUBLE_PRECISION", 8, 8},
		{0x21d, "MPI_DOUBLE_COMPLEX", 16, 16}, {0x21e, "MPI_CHARACTER", 1, 1}, {0x220, "MPI_LONG_DOUBLE", 16, 16},
		{0x224, "MPI_C_LONG_DOUBLE_COMPLEX", 32, 32}, {0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", 32, 32},
		{0x228, "MPI_FLOAT_INT", 8, 8}, {0x229, "MPI_DOUBLE_INT", 12, 16}, {0x22a, "MPI_LONG_INT", 12, 16},
		{0x22b, "MPI_2INT", 8, 8}, {0x22c, "MPI_SHORT_INT", 6, 8}, {0x22d, "MPI_LONG_DOUBLE_INT", 20, 32},
		{0x230, "MPI_2REAL", 8, 8}, {0x231, "MPI_2DOUBLE_PRECISION", 16, 16}, {0x232, "MPI_2INTEGER", 8, 8},
		{0x238, "MPI_C_BOOL", 1, 1}, {0x239, "MPI_CXX_BOOL", 1, 1}, {0x23c, "MPI_WCHAR", 4, 4},
		{0x240, "MPI_INT8_T", 1, 1}, {0x241, "MPI_UINT8_T", 1, 1}, {0x243, "MPI_CHAR", 1, 1},
		{0x244, "MPI_SIGNED_CHAR", 1, 1}, {0x245, "MPI_UNSIGNED_CHAR", 1, 1}, {0x247, "MPI_BYTE", 1, 1},
		{0x248, "MPI_INT16_T", 2, 2}, {0x249, "MPI_UINT16_T", 2, 2}, {0x250, "MPI_INT32_T", 4, 4},
		{0x251, "MPI_UINT32_T", 4, 4}, {0x258, "MPI_INT64_T", 8, 8}, {0x259, "MPI_UINT64_T", 8, 8},
		{0x2c0, "MPI_LOGICAL1", 1, 1}, {0x2c1, "MPI_INTEGER1", 1, 1}, {0x2c8, "MPI_LOGICAL2", 2, 2},
		{0x2c9, "MPI_INTEGER2", 2, 2}, {0x2ca, "MPI_REAL2", 2, 2}, {0x2d0, "MPI_LOGICAL4", 4, 4},
		{0x2d1, "MPI_INTEGER4", 4, 4}, {0x2d2, "MPI_REAL4", 4, 4}, {0x2d3, "MPI_COMPLEX4", 4, 4},
		{0x2d8, "MPI_LOGICAL8", 8, 8}, {0x2d9, "MPI_INTEGER8", 8, 8}, {0x2da, "MPI_REAL8", 8, 8},
		{0x2db, "MPI_COMPLEX8", 8, 8}, {0x2e0, "MPI_LOGICAL16", 16, 16}, {0x2e1, "MPI_INTEGER16", 16, 16},
		{0x2e2, "MPI_REAL16", 16, 16}, {0x2e3, "MPI_COMPLEX16", 16, 16}, {0x2eb, "MPI_COMPLEX32", 32, 32},
	}
	set := Predefined()
	i := 0
	set.Each(func(id ID, typ *Type) {
		if i >= len(want) {
			t.Fatalf("type %#x %s is not in the table", int(id), typ)
		}
		w := want[i]
		lb, extent := typ.Extent()
		if id != w.id || typ.Name() != w.name || typ.Size() != w.size || extent != w.extent || lb != 0 {
			t.Errorf("%#x %s: size %d, extent %d, lb %d; want %#x %s %d %d 0", int(id), typ, typ.Size(), extent, lb,
				int(w.id), w.name, w.size, w.extent)
		}
		if !typ.Predefined() || !typ.Committed() || typ.Contents().Combiner != CombinerNamed || len(typ.Contents().Types) > 0 {
			t.Errorf("%s is not as a predefined type", typ)
		}
		i++
	})
	if i != len(want) {
		t.Errorf("%d types, want %d", i, len(want))
	}
	for _, id := range []ID{0, 0x200, 0x204, 0x2ec, 0xffff} {
		if set.Type(id) != nil {
			t.Errorf("there is a type %#x", int(id))
		}
	}
}

// MatchSize finds the handle of a Fortran type by size and kind (DT-28).
func TestDT28MatchSize(t *testing.T) {
	set := Predefined()
	for _, c := range []struct {
		tc   Typeclass
		size int64
		want ID
	}{
		{TypeclassReal, 2, Real2}, {TypeclassReal, 4, Real4}, {TypeclassReal, 8, Real8}, {TypeclassReal, 16, Real16},
		{TypeclassInteger, 1, Integer1}, {TypeclassInteger, 2, Integer2}, {TypeclassInteger, 4, Integer4},
		{TypeclassInteger, 8, Integer8}, {TypeclassInteger, 16, Integer16},
		{TypeclassComplex, 4, Complex4}, {TypeclassComplex, 8, Complex8}, {TypeclassComplex, 16, Complex16},
		{TypeclassComplex, 32, Complex32}, {TypeclassLogical, 4, Logical4},
	} {
		if got, err := set.MatchSize(c.tc, c.size); err != nil || got != set.Type(c.want) {
			t.Errorf("MatchSize(%d, %d) = %v, %v", c.tc, c.size, got, err)
		}
	}
	for _, c := range [][2]int64{{int64(TypeclassInteger), 3}, {int64(TypeclassReal), 1}, {190, 4}, {int64(TypeclassReal), -1}} {
		if _, err := set.MatchSize(Typeclass(c[0]), c[1]); classOf(err) != class.Arg {
			t.Errorf("MatchSize(%d, %d): %v", c[0], c[1], err)
		}
	}
}

// Types by precision and range have the right sizes in memory and external32 at the borders
// of each row (DT-17 to DT-19, DT-25), are predefined (DT-21), and have contents (DT-22).
func TestDT17F90Types(t *testing.T) {
	set := Predefined()
	const u = Undefined
	for _, c := range []struct{ p, r, size, external int }{
		{6, 37, 4, 4}, {0, 0, 4, 4}, {u, 37, 4, 4}, {6, u, 4, 4}, {7, 37, 8, 8}, {6, 38, 8, 8}, {15, 307, 8, 8},
		{u, 307, 8, 8}, {16, u, 16, 16}, {15, 308, 16, 16}, {18, 4931, 16, 16}, {19, 1, 16, 16}, {33, 4931, 16, 16},
	} {
		for k, f := range []func(p, r int) (*Type, error){set.F90Real, set.F90Complex} {
			typ, err := f(c.p, c.r)
			if err != nil {
				t.Fatalf("(%d, %d): %v", c.p, c.r, err)
			}
			external, _ := typ.ExternalSize(1)
			if n := int64(k + 1); typ.Size() != n*int64(c.size) || external != n*int64(c.external) {
				t.Errorf("%s: %d bytes, external32 %d", typ, typ.Size(), external)
			}
			if !typ.Predefined() || !typ.Committed() {
				t.Errorf("%s is not predefined", typ)
			}
			got := typ.Contents()
			if got.Combiner != CombinerF90Real+Combiner(k) || len(got.Integers) != 2 || got.Integers[0] != int64(c.p) ||
				got.Integers[1] != int64(c.r) || len(typ.LargeContents().Integers) != 2 {
				t.Errorf("contents of %s: %v", typ, got)
			}
		}
	}
	for _, c := range [][2]int{{100, u}, {34, u}, {u, 4932}, {u, u}, {-1, 3}, {3, -5}} {
		if _, err := set.F90Real(c[0], c[1]); classOf(err) != class.Arg {
			t.Errorf("F90Real(%d, %d): %v", c[0], c[1], err)
		}
		if _, err := set.F90Complex(c[0], c[1]); classOf(err) != class.Arg {
			t.Errorf("F90Complex(%d, %d): %v", c[0], c[1], err)
		}
	}
	for _, c := range [][2]int{{0, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8}, {19, 16}, {38, 16}} {
		typ, err := set.F90Integer(c[0])
		if err != nil {
			t.Fatal(err)
		}
		if external, _ := typ.ExternalSize(1); typ.Size() != int64(c[1]) || external != int64(c[1]) {
			t.Errorf("%s: %d bytes, external32 %d, want %d", typ, typ.Size(), external, c[1])
		}
		if got := typ.Contents(); got.Combiner != CombinerF90Integer || len(got.Integers) != 1 || got.Integers[0] != int64(c[0]) {
			t.Errorf("contents of %s: %v", typ, got)
		}
	}
	for _, r := range []int{39, -1, u} {
		if _, err := set.F90Integer(r); classOf(err) != class.Arg {
			t.Errorf("F90Integer(%d): %v", r, err)
		}
	}
}

// Types by precision and range match those of the same arguments only (DT-20), and
// exist once (DT-23).
func TestDT20F90TypesMatchTheirLike(t *testing.T) {
	set := Predefined()
	a, _ := set.F90Real(6, 37)
	if b, _ := set.F90Real(6, 37); a != b {
		t.Error("the same arguments made two types")
	}
	dup, _ := Dup(a)
	if dup.Predefined() || !dup.Committed() {
		t.Error("a duplicate is predefined, or not committed")
	}
	if !SameSignature(a, 3, dup, 3) {
		t.Error("a duplicate does not match")
	}
	others := []*Type{set.Type(FortranReal), set.Type(Float)}
	for _, pr := range [][2]int{{5, 30}, {6, Undefined}, {Undefined, 37}, {6, 36}} {
		o, err := set.F90Real(pr[0], pr[1])
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, o)
	}
	for i, o := range others {
		if o.Size() != 4 {
			t.Errorf("%s has %d bytes", o, o.Size())
		}
		if err := a.Signature(1).Check(o, 1); classOf(err) != class.Type {
			t.Errorf("%s matches %s: %v", a, o, err)
		}
		for _, p := range others[:i] {
			if i > 1 && SameSignature(o, 1, p, 1) {
				t.Errorf("%s matches %s", o, p)
			}
		}
	}
	i4, _ := set.F90Integer(4)
	i3, _ := set.F90Integer(3)
	c4, _ := set.F90Complex(6, 37)
	if SameSignature(i4, 1, i3, 1) || SameSignature(i4, 1, set.Type(Int16), 1) || SameSignature(c4, 1, a, 2) {
		t.Error("different types match")
	}
	if v, err := set.ValueIndex(i4, set.Type(Int)); err != nil || v == nil {
		t.Errorf("ValueIndex: %v, %v", v, err)
	}
}

// ValueIndex returns the named pair type of a value and an index, or an unnamed one, which is
// the same for each call (X-TYP-01).
func TestXTYP01ValueIndex(t *testing.T) {
	set := Predefined()
	named, err := set.ValueIndex(set.Type(Double), set.Type(Int))
	if err != nil || named != set.Type(DoubleInt) {
		t.Errorf("double and int: %v, %v", named, err)
	}
	a, err := set.ValueIndex(set.Type(Double), set.Type(Int64))
	if err != nil || a == nil {
		t.Fatal(a, err)
	}
	if b, _ := set.ValueIndex(set.Type(Double), set.Type(Int64)); a != b {
		t.Error("a second type was made")
	}
	c := a.Contents()
	if a.Size() != 16 || !a.Predefined() || c.Combiner != CombinerValueIndex || len(c.Types) != 2 ||
		c.Types[0] != set.Type(Double) || c.Types[1] != set.Type(Int64) || a.Name() != "" {
		t.Errorf("%v: %v", a, c)
	}
	if v, i, ok := a.Pair(); !ok || v != set.Type(Double) || i != set.Type(Int64) {
		t.Errorf("pair of %v, %v", v, i)
	}
	small, _ := set.ValueIndex(set.Type(Int8), set.Type(Int64))
	if _, ex := small.Extent(); small.Size() != 9 || ex != 16 {
		t.Errorf("int8 and int64: size %d, extent %d", small.Size(), ex)
	}
	for _, p := range [][2]ID{{CDoubleComplex, Int}, {Double, Float}, {Byte, Int}, {DoubleInt, Int}, {Double, Short}, {Int, Unsigned},
		{Integer16, Int}, {Int, Integer16}, {Real2, Int}, {Char, Int}} {
		if v, err := set.ValueIndex(set.Type(p[0]), set.Type(p[1])); v != nil || err != nil {
			t.Errorf("%#x: %v, %v", p, v, err)
		}
	}
	if _, err := set.ValueIndex(nil, set.Type(Int)); classOf(err) != class.Type {
		t.Errorf("null: %v", err)
	}
}

// Names can be set. Predefined types have a name from the start, others have none (DT-35).
func TestDT35Names(t *testing.T) {
	set := Predefined()
	v, _ := Vector(3, 1, 2, set.Type(Wchar))
	if v.Name() != "" || v.String() != "vector(3 1 2 MPI_WCHAR)" {
		t.Errorf("%q, %q", v.Name(), v)
	}
	v.SetName("mine")
	if v.Name() != "mine" || v.String() != "mine" {
		t.Errorf("%q, %q", v.Name(), v)
	}
	if set.Type(Wchar).Name() != "MPI_WCHAR" || (*Type)(nil).String() != "MPI_DATATYPE_NULL" {
		t.Error("names of predefined types")
	}
	if Combiner(0).String() == CombinerNamed.String() {
		t.Error("combiner 0 has a name")
	}
}
