package mpi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// All predefined types by their names, with the sizes of C and Fortran (DT-01 to DT-05), each
// committed, with its own name and one handle.
func TestDT01_DT02_DT03_DT04_DT05_PredefinedTypes(t *testing.T) {
	sizes := map[int]string{
		1:  "CHAR SIGNED_CHAR UNSIGNED_CHAR C_BOOL INT8_T UINT8_T BYTE PACKED CHARACTER CXX_BOOL LOGICAL1 INTEGER1",
		2:  "SHORT UNSIGNED_SHORT INT16_T UINT16_T LOGICAL2 INTEGER2 REAL2",
		4:  "INT UNSIGNED FLOAT INT32_T UINT32_T INTEGER REAL LOGICAL LOGICAL4 INTEGER4 REAL4 COMPLEX4",
		6:  "SHORT_INT",
		8:  "LONG_LONG LONG_LONG_INT UNSIGNED_LONG_LONG DOUBLE INT64_T UINT64_T AINT COUNT OFFSET C_COMPLEX C_FLOAT_COMPLEX CXX_FLOAT_COMPLEX DOUBLE_PRECISION COMPLEX LOGICAL8 INTEGER8 REAL8 COMPLEX8 FLOAT_INT 2INT 2REAL 2INTEGER",
		12: "DOUBLE_INT",
		16: "C_DOUBLE_COMPLEX CXX_DOUBLE_COMPLEX DOUBLE_COMPLEX LOGICAL16 INTEGER16 REAL16 COMPLEX16 2DOUBLE_PRECISION",
		32: "COMPLEX32",
		0:  "LONG UNSIGNED_LONG WCHAR LONG_DOUBLE C_LONG_DOUBLE_COMPLEX CXX_LONG_DOUBLE_COMPLEX LONG_INT LONG_DOUBLE_INT", // depends on the machine
	}
	second := map[string]string{"MPI_LONG_LONG": "MPI_LONG_LONG_INT", "MPI_C_FLOAT_COMPLEX": "MPI_C_COMPLEX"}
	want := map[string]bool{}
	for size, names := range sizes {
		for short := range strings.FieldsSeq(names) {
			name := "MPI_" + short
			d := typ(t)(mpi.Predefined(name))
			first := name
			if second[name] != "" {
				first = second[name]
			} else {
				want[name] = true
			}
			if n, err := d.Size(); err != nil || size != 0 && n != size || n == 0 || d.Name() != first || !d.Committed() || d != typ(t)(mpi.Predefined(first)) {
				t.Errorf("%s has %d bytes (%v) and is called %q", name, n, err, d.Name())
			}
		}
	}
	for name, d := range mpi.PredefinedTypes() {
		if !want[name] || d != typ(t)(mpi.Predefined(name)) {
			t.Errorf("%s is %v", name, d)
		}
		delete(want, name)
	}
	if len(want) != 0 {
		t.Errorf("not listed: %v", want)
	}
	for range mpi.PredefinedTypes() {
		break // as in any loop
	}
	for name, extent := range map[string]int{"MPI_SHORT_INT": 8, "MPI_DOUBLE_INT": 16, "MPI_FLOAT_INT": 8} {
		if tr := traits(t, typ(t)(mpi.Predefined(name))); tr[2] != extent {
			t.Errorf("%s has extent %d, want %d", name, tr[2], extent)
		}
	}
	if mpi.Byte() != typ(t)(mpi.Predefined("MPI_BYTE")) || mpi.Packed() != typ(t)(mpi.Predefined("MPI_PACKED")) {
		t.Error("Byte or Packed is another type than that of its name")
	}
	if typ(t)(mpi.TypeOf[float64]()) != typ(t)(mpi.Predefined("MPI_DOUBLE")) {
		t.Error("float64 is not MPI_DOUBLE")
	}
}

// Types of Fortran by parameters: sizes (DT-17 to DT-19); equal parameters give the same handle
// (DT-23), different ones different handles (DT-20).
func TestDT17_DT18_DT19_DT20_DT23_F90Types(t *testing.T) {
	for _, c := range []struct {
		d    mpi.Datatype
		size int
	}{
		{typ(t)(mpi.TypeF90Real(6, 37)), 4},
		{typ(t)(mpi.TypeF90Real(15, 307)), 8},
		{typ(t)(mpi.TypeF90Real(mpi.Undefined, 307)), 8},
		{typ(t)(mpi.TypeF90Real(30, mpi.Undefined)), 16}, // DT-24
		{typ(t)(mpi.TypeF90Complex(6, 37)), 8},
		{typ(t)(mpi.TypeF90Complex(15, 307)), 16},
		{typ(t)(mpi.TypeF90Integer(2)), 1},
		{typ(t)(mpi.TypeF90Integer(4)), 2},
		{typ(t)(mpi.TypeF90Integer(9)), 4},
		{typ(t)(mpi.TypeF90Integer(15)), 8}, // DT-24
		{typ(t)(mpi.TypeF90Integer(18)), 8},
		{typ(t)(mpi.TypeF90Integer(38)), 16},
	} {
		if tr := traits(t, c.d); tr[0] != c.size || !c.d.Committed() {
			t.Errorf("%v has %d bytes, want %d", c.d, tr[0], c.size)
		}
	}
	a := typ(t)(mpi.TypeF90Real(6, 37))
	if a == typ(t)(mpi.TypeF90Real(5, 30)) || a == typ(t)(mpi.Predefined("MPI_REAL")) {
		t.Error("types of different parameters are the same")
	}
	if n := testing.AllocsPerRun(100, func() {
		if b, err := mpi.TypeF90Integer(9); err != nil || b != typ(t)(mpi.TypeF90Integer(9)) {
			t.Error("the same parameters give another type")
		}
	}); n > 40 {
		t.Errorf("asking again allocates %v times", n)
	}
}

// Envelope and Contents of types by parameters return the parameters (DT-22).
func TestDT22_F90Contents(t *testing.T) {
	c, err := typ(t)(mpi.TypeF90Real(mpi.Undefined, 307)).Contents()
	ok(t, err)
	if c.Combiner != mpi.CombinerF90Real || !slices.Equal(c.Integers, []int{mpi.Undefined, 307}) {
		t.Errorf("contents %v", c)
	}
}

// DT-25: the sizes of types by parameters in external32, at the limits.
func TestDT25_F90External(t *testing.T) {
	for _, c := range []struct {
		d    mpi.Datatype
		size int
	}{
		{typ(t)(mpi.TypeF90Real(6, 37)), 4}, {typ(t)(mpi.TypeF90Real(7, 37)), 8}, {typ(t)(mpi.TypeF90Real(6, 38)), 8},
		{typ(t)(mpi.TypeF90Real(15, 307)), 8}, {typ(t)(mpi.TypeF90Real(16, 307)), 16}, {typ(t)(mpi.TypeF90Real(15, 308)), 16},
		{typ(t)(mpi.TypeF90Real(33, 4931)), 16}, {typ(t)(mpi.TypeF90Complex(7, 37)), 16}, {typ(t)(mpi.TypeF90Complex(33, 4931)), 32},
		{typ(t)(mpi.TypeF90Integer(2)), 1}, {typ(t)(mpi.TypeF90Integer(3)), 2}, {typ(t)(mpi.TypeF90Integer(5)), 4},
		{typ(t)(mpi.TypeF90Integer(10)), 8}, {typ(t)(mpi.TypeF90Integer(19)), 16}, {typ(t)(mpi.TypeF90Integer(38)), 16},
	} {
		if n, err := mpi.PackExternalSize(3, c.d); err != nil || n != 3*c.size {
			t.Errorf("3 %v take %d bytes (%v), want %d", c.d, n, err, 3*c.size)
		}
	}
}

// DT-28: the type of a class and a size is the predefined one, and has the size in its name
// (DT-27).
func TestDT27_DT28_MatchSize(t *testing.T) {
	for _, c := range []struct {
		class mpi.Typeclass
		size  int
		want  string
	}{
		{mpi.TypeclassReal, 8, "MPI_REAL8"},
		{mpi.TypeclassReal, 16, "MPI_REAL16"},
		{mpi.TypeclassInteger, 2, "MPI_INTEGER2"},
		{mpi.TypeclassInteger, 8, "MPI_INTEGER8"},
		{mpi.TypeclassComplex, 16, "MPI_COMPLEX16"},
		{mpi.TypeclassLogical, 4, "MPI_LOGICAL4"},
	} {
		if d := typ(t)(mpi.TypeMatchSize(c.class, c.size)); d != typ(t)(mpi.Predefined(c.want)) || traits(t, d)[0] != c.size {
			t.Errorf("class %d and %d bytes give %v, want %s", c.class, c.size, d, c.want)
		}
	}
}
