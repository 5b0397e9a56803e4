package op

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// standard is the table of MPI-5, 6.9.2 and 6.9.4, with its names: the groups of types, and the
// groups on which operations are defined.
func standard() (groups map[string][]string, allowed map[Op][]string) {
	groups = map[string][]string{
		"C integer": {"MPI_INT", "MPI_LONG", "MPI_SHORT", "MPI_UNSIGNED_SHORT", "MPI_UNSIGNED", "MPI_UNSIGNED_LONG",
			"MPI_LONG_LONG_INT", "MPI_UNSIGNED_LONG_LONG", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR", "MPI_INT8_T",
			"MPI_INT16_T", "MPI_INT32_T", "MPI_INT64_T", "MPI_UINT8_T", "MPI_UINT16_T", "MPI_UINT32_T", "MPI_UINT64_T",
			"MPI_CHAR"}, // our addition: the standard has it in no group
		"Fortran integer": {"MPI_INTEGER", "MPI_INTEGER1", "MPI_INTEGER2", "MPI_INTEGER4", "MPI_INTEGER8", "MPI_INTEGER16",
			"MPI_INTEGER(KIND=18)"},
		"Floating point": {"MPI_FLOAT", "MPI_DOUBLE", "MPI_REAL", "MPI_DOUBLE_PRECISION", "MPI_LONG_DOUBLE", "MPI_REAL2",
			"MPI_REAL4", "MPI_REAL8", "MPI_REAL16", "MPI_REAL(KIND=33,MPI_UNDEFINED)"},
		"Logical": {"MPI_LOGICAL", "MPI_C_BOOL", "MPI_CXX_BOOL", "MPI_LOGICAL1", "MPI_LOGICAL2", "MPI_LOGICAL4",
			"MPI_LOGICAL8", "MPI_LOGICAL16"},
		"Complex": {"MPI_COMPLEX", "MPI_C_COMPLEX", "MPI_C_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX",
			"MPI_CXX_FLOAT_COMPLEX", "MPI_CXX_DOUBLE_COMPLEX", "MPI_CXX_LONG_DOUBLE_COMPLEX", "MPI_DOUBLE_COMPLEX",
			"MPI_COMPLEX4", "MPI_COMPLEX8", "MPI_COMPLEX16", "MPI_COMPLEX32", "MPI_COMPLEX(KIND=MPI_UNDEFINED,300)"},
		"Byte":           {"MPI_BYTE"},
		"Multi-language": {"MPI_AINT", "MPI_OFFSET", "MPI_COUNT"},
		"Pair": {"MPI_FLOAT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT", "MPI_2INT", "MPI_SHORT_INT", "MPI_LONG_DOUBLE_INT",
			"MPI_2REAL", "MPI_2DOUBLE_PRECISION", "MPI_2INTEGER", "value and index"},
		"None": {"MPI_WCHAR", "MPI_CHARACTER", "MPI_PACKED", "derived"},
	}
	ordered := []string{"C integer", "Fortran integer", "Floating point", "Multi-language"}
	bits := []string{"C integer", "Fortran integer", "Byte", "Multi-language"}
	truths := []string{"C integer", "Logical", "Multi-language"} // the last is our addition
	allowed = map[Op][]string{
		Min: ordered, Max: ordered,
		Sum: append(slices.Clip(ordered), "Complex"), Prod: append(slices.Clip(ordered), "Complex"),
		Land: truths, Lor: truths, Lxor: truths,
		Band: bits, Bor: bits, Bxor: bits,
		Minloc: {"Pair"}, Maxloc: {"Pair"},
	}
	return groups, allowed
}

// datatypes returns, by name, all predefined types, some types that are made on demand, and a
// derived one.
func datatypes(t *testing.T) map[string]*dtype.Type {
	s := dtype.Predefined()
	all := map[string]*dtype.Type{}
	s.Each(func(_ dtype.ID, d *dtype.Type) { all[d.Name()] = d })
	add := func(d *dtype.Type, err error) *dtype.Type {
		if err != nil || d == nil {
			t.Fatalf("%v, %v", d, err)
		}
		return d
	}
	for _, d := range []*dtype.Type{add(s.F90Integer(18)), add(s.F90Real(33, dtype.Undefined)), add(s.F90Complex(dtype.Undefined, 300))} {
		all[d.Name()] = d
	}
	all["value and index"] = add(s.ValueIndex(all["MPI_DOUBLE"], all["MPI_INT64_T"]))
	all["derived"] = add(dtype.Contiguous(1, all["MPI_DOUBLE"]))
	return all
}

// COL-14, DT-03, DT-05, DT-06, DT-21, X-TYP-01: the predefined operations are defined on the
// datatypes of the standard's table, and on duplicates of them. On other datatypes CheckFor
// returns an error of class Op that names the operation and the datatype.
func TestCOL14_DatatypesOfOperations(t *testing.T) {
	all := datatypes(t)
	groups, allowed := standard()
	seen := 0
	for group, names := range groups {
		for _, name := range names {
			d := all[name]
			if d == nil {
				t.Fatalf("there is no %s", name)
			}
			seen++
			dup, err := dtype.Dup(d)
			if err != nil {
				t.Fatal(err)
			}
			for o := Op(0); int(o) <= Ops; o++ {
				want := slices.Contains(allowed[o], group)
				for _, d := range []*dtype.Type{d, dup} {
					typ, err := CheckFor(o, d)
					if got := err == nil && typ == For(d) && Check(o, typ) == nil; got != want {
						t.Errorf("%v on %v: %v, %v, want legal %v", o, d, typ, err, want)
					}
					var ce *class.Error
					if err == nil {
						continue
					}
					if !errors.As(err, &ce) || ce.Class != class.Op {
						t.Errorf("%v on %v: %v", o, d, err)
					}
					if o != 0 && o < Replace && (!strings.Contains(err.Error(), o.String()) || !strings.Contains(err.Error(), d.String())) {
						t.Errorf("error does not name both %v and %v: %v", o, d, err)
					}
				}
			}
		}
	}
	if seen != len(all) {
		t.Errorf("the table has %d types of %d", seen, len(all))
	}
	if For(nil) != 0 {
		t.Error("MPI_DATATYPE_NULL has elements")
	}
	if _, err := CheckFor(Sum, nil); err == nil || !strings.Contains(err.Error(), "MPI_DATATYPE_NULL") {
		t.Errorf("Sum on no type: %v", err)
	}
}

// An element has the same size for operations as for communication, with its padding, and its
// parts have the same offsets.
func TestCOL14_DatatypesLieAlike(t *testing.T) {
	for name, d := range datatypes(t) {
		typ := For(d)
		if typ == 0 {
			continue
		}
		lb, extent := d.Extent()
		if lb != 0 || extent != int64(typ.Size()) {
			t.Errorf("%s: %v of %d bytes, the datatype has extent %d", name, typ, typ.Size(), extent)
		}
		value, index, ok := d.Pair()
		if v, i := typ.Parts(); ok != (i != 0) || ok && (For(value) != v || For(index) != i) {
			t.Errorf("%s: parts %v and %v", name, v, i)
		}
		if !ok {
			continue
		}
		b, err := dtype.Bind(make([]byte, extent), 0, d, 1)
		if err != nil {
			t.Fatal(err)
		}
		var runs [2]dtype.Run
		n, _ := b.Runs(runs[:], value.Size(), index.Size())
		if n != 1 || runs[0].Off != int64(typ.IndexOffset()) {
			t.Errorf("%s: index at %d for operations, at %v of the datatype", name, typ.IndexOffset(), runs)
		}
	}
}

// The kind and format of an element determine the Type by which it is computed.
func TestCOL14_ElementsByKindAndFormat(t *testing.T) {
	all := datatypes(t)
	long, longComplex := Float80, Complex160
	switch all["MPI_LONG_DOUBLE"].Elem().Format {
	case dtype.Double64:
		long, longComplex = Float64, Complex128
	case dtype.Quad:
		long, longComplex = Float128, Complex256
	}
	for name, want := range map[string]Type{
		"MPI_LONG_DOUBLE": long, "MPI_C_LONG_DOUBLE_COMPLEX": longComplex, "MPI_LONG_DOUBLE_INT": Pair(long, Int32),
		"MPI_REAL2": Float16, "MPI_COMPLEX4": Complex32, "MPI_REAL16": Float128, "MPI_COMPLEX32": Complex256,
		"MPI_REAL": Float32, "MPI_COMPLEX": Complex64, "MPI_DOUBLE_COMPLEX": Complex128, "MPI_INTEGER16": Int128,
		"MPI_LOGICAL1": Bool, "MPI_LOGICAL2": Bool16, "MPI_LOGICAL": Bool32, "MPI_LOGICAL8": Bool64, "MPI_LOGICAL16": Bool128,
		"MPI_C_BOOL": Bool, "MPI_BYTE": Byte, "MPI_UNSIGNED_CHAR": Uint8, "MPI_SIGNED_CHAR": Int8, "MPI_COUNT": Int64,
		"MPI_2REAL": Pair(Float32, Float32), "MPI_2DOUBLE_PRECISION": Pair(Float64, Float64), "MPI_2INTEGER": Pair(Int32, Int32),
		"MPI_SHORT_INT": Pair(Int16, Int32), "value and index": Pair(Float64, Int64), "MPI_CHAR": Int8, "MPI_CHARACTER": 0,
		"MPI_INTEGER(KIND=18)": Int64, "MPI_REAL(KIND=33,MPI_UNDEFINED)": Float128, "MPI_COMPLEX(KIND=MPI_UNDEFINED,300)": Complex128,
	} {
		if got := For(all[name]); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// X-TYP-01: on each pair of types that makes a type of pairs, Minloc and Maxloc find the least
// and greatest values. Other pairs of types make no type.
func TestXTYP01_EveryPairCanBeReduced(t *testing.T) {
	s := dtype.Predefined()
	made := 0
	s.Each(func(_ dtype.ID, value *dtype.Type) {
		s.Each(func(_ dtype.ID, index *dtype.Type) {
			pair, err := s.ValueIndex(value, index)
			if err != nil {
				t.Fatal(err)
			}
			legal := false // by the types of the parts
			if value.Elem() != nil && value.Elem().Kind != dtype.Character && index.Elem() != nil && index.Elem().Kind == dtype.Integer {
				legal = Check(Maxloc, Pair(For(value), For(index))) == nil
			}
			if legal != (pair != nil) {
				t.Errorf("of %v and %v: %v, and Maxloc is defined: %v", value, index, pair, legal)
			}
			if pair == nil {
				return
			}
			made++
			if typ, err := CheckFor(Maxloc, pair); err != nil || typ != Pair(For(value), For(index)) {
				t.Errorf("Maxloc on %v: %v, %v", pair, typ, err)
			}
		})
	})
	if made < 200 {
		t.Errorf("%d types of pairs", made)
	}
}
