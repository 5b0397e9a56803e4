package dtype

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/class"
)

// Of returns the committed datatype for values of a Go type: booleans and numbers,
// and arrays and structs of them. Padding, and fields called _, are not part of
// it. A Go type that holds addresses has no datatype: the error is MPI_ERR_TYPE
// and names the field.
func (s *Set) Of(g reflect.Type) (*Type, error) {
	if g == nil {
		return nil, class.Errorf(class.Type, "nil has no type")
	}
	if id := goElem(g); id != 0 {
		return s.Type(id), nil
	}
	if t, ok := s.golang.Load(g); ok {
		return t.(*Type), nil
	}
	t, err := s.of(g, g.String())
	if err != nil {
		return nil, err
	}
	if !t.fixed {
		t.SetName(g.String())
		t.Commit()
	}
	kept, _ := s.golang.LoadOrStore(g, t)
	return kept.(*Type), nil
}

// of makes the datatype of g. path is the expression for the value or field, for errors.
func (s *Set) of(g reflect.Type, path string) (*Type, error) {
	if id := goElem(g); id != 0 {
		return s.Type(id), nil
	}
	switch g.Kind() {
	case reflect.Array:
		old, err := s.of(g.Elem(), path+"[i]")
		if err != nil {
			return nil, err
		}
		return Contiguous(int64(g.Len()), old)
	case reflect.Struct:
		if s.HandleOf != nil && s.HandleOf(g) {
			return s.handle, nil
		}
		if s.PairOf != nil {
			if value, index, ok := s.PairOf(g); ok {
				if t := s.goPair(value, index); t != nil {
					return t, nil
				}
			}
		}
		return s.structure(g, path)
	}
	return nil, class.Errorf(class.Type, "%s is a %s: memory of this process, which means nothing to another%s", path, g.Kind(), advice(g.Kind()))
}

// advice says what to send in place of elements of a kind. Package vet has the same texts.
func advice(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "; send []byte(s), or have an array of bytes"
	case reflect.Slice:
		return "; flatten [][]T to []T, or have an array"
	}
	return ""
}

// goPair is the predefined pair type of a value and an index, nil if there is none. Both must
// be numbers.
func (s *Set) goPair(value, index reflect.Type) *Type {
	v, i := s.Type(goElem(value)), s.Type(goElem(index))
	switch t, _ := s.ValueIndex(v, i); { // the error is for nil types, and numbers have types
	case t != nil:
		return t
	case v.elem.ID == Float && i.elem.ID == Float && s.Type(FortranReal).elem.Format == Single:
		return s.Type(TwoReal)
	case v.elem.ID == Double && i.elem.ID == Double && s.Type(DoublePrecision).elem.Format == Double64:
		return s.Type(TwoDoublePrecision)
	}
	return nil
}

// structure makes the datatype of a struct from those of its fields.
func (s *Set) structure(g reflect.Type, path string) (*Type, error) {
	var lengths, displs []int64
	var types []*Type
	for i := range g.NumField() {
		f := g.Field(i)
		old, err := s.of(f.Type, path+"."+f.Name)
		if err != nil {
			return nil, err
		}
		if f.Name == "_" {
			continue
		}
		lengths, displs, types = append(lengths, 1), append(displs, int64(f.Offset)), append(types, old)
	}
	t, err := Struct(lengths, displs, types)
	if err != nil {
		return nil, err
	}
	return Resized(t, 0, int64(g.Size()))
}

// goElem is the basic datatype of a basic type of Go, 0 for other types. An uintptr counts
// as an address and has none.
func goElem(g reflect.Type) ID {
	switch g.Kind() {
	case reflect.Bool:
		return CBool
	case reflect.Int8:
		return Int8
	case reflect.Int16:
		return Int16
	case reflect.Int32:
		return Int32
	case reflect.Int64:
		return Int64
	case reflect.Uint8:
		return Uint8
	case reflect.Uint16:
		return Uint16
	case reflect.Uint32:
		return Uint32
	case reflect.Uint64:
		return Uint64
	case reflect.Int:
		if g.Size() == 4 {
			return Int32
		}
		return Int64
	case reflect.Uint:
		if g.Size() == 4 {
			return Uint32
		}
		return Uint64
	case reflect.Float32:
		return Float
	case reflect.Float64:
		return Double
	case reflect.Complex64:
		return CFloatComplex
	case reflect.Complex128:
		return CDoubleComplex
	}
	return 0
}
