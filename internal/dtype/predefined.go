package dtype

import (
	"reflect"
	"sync"

	"github.com/halo-mpi/halo/internal/class"
)

// Set holds the predefined types, and the types that are made on demand but exist once
// (DT-23): F90 types, the types of ValueIndex, and those of Go types. All methods may be
// called by any goroutine.
type Set struct {
	// PairOf tells Of which structs of Go are pairs for MINLOC and MAXLOC, and the types of
	// value and index; nil: there are none. It is set before the set is used.
	PairOf func(g reflect.Type) (value, index reflect.Type, ok bool)

	// HandleOf tells Of which structs of Go are handles of synchronisation objects; nil:
	// there are none. It is set before the set is used.
	HandleOf func(g reflect.Type) bool

	types  [lastID + 1 - firstID]*Type
	handle *Type
	count  uint8 // number of places given to types: see Type.Place

	mu     sync.Mutex
	f90    map[f90Key]*Type
	values map[[2]*Type]*Type
	golang sync.Map // reflect.Type to *Type
}

// Predefined makes a set with the default sizes of Fortran's types.
func Predefined() *Set { return PredefinedOf(DefaultFortran()) }

// PredefinedOf makes a set with sizes of Fortran's types that Check has accepted.
func PredefinedOf(f Fortran) *Set {
	s := &Set{f90: map[f90Key]*Type{}, values: map[[2]*Type]*Type{}}
	for _, e := range append(elements(), f.elements()...) {
		s.types[e.ID-firstID] = s.placed(newElemType(call{combiner: CombinerNamed}, e))
	}
	s.handle = s.placed(newElemType(call{combiner: CombinerNamed}, newHandle()))
	for _, p := range pairs() {
		t := s.placed(newPair(call{combiner: CombinerNamed}, s.Type(p.value), s.Type(p.index)))
		t.SetName(p.name)
		s.types[p.id-firstID] = t
	}
	return s
}

// placed gives t the next place.
func (s *Set) placed(t *Type) *Type {
	s.count++
	t.place = s.count
	return t
}

// Places is the number of types with a place, which is also the highest place: see Type.Place.
func (s *Set) Places() int { return int(s.count) }

// Type returns the type with an id, nil if there is none.
func (s *Set) Type(id ID) *Type {
	if id < firstID || id > lastID {
		return nil
	}
	return s.types[id-firstID]
}

// Handle is the predefined type of handles of synchronisation objects, which has no value in
// the ABI. No type can be made of it.
func (s *Set) Handle() *Type { return s.handle }

// Each calls f with all predefined types in the order of their ids.
func (s *Set) Each(f func(ID, *Type)) {
	for i, t := range s.types {
		if t != nil {
			f(firstID+ID(i), t)
		}
	}
}

// Name is the standard's name of the type with an id, even after SetName; it is "" if there is
// no such type.
func (s *Set) Name(id ID) string {
	t := s.Type(id)
	switch {
	case t == nil:
		return ""
	case t.elem != nil:
		return t.elem.Name
	}
	for _, p := range pairs() {
		if p.id == id {
			return p.name
		}
	}
	return ""
}

// Named is the type with a name of the standard, nil if there is none.
func (s *Set) Named(name string) (found *Type) {
	s.Each(func(id ID, t *Type) {
		if s.Name(id) == name {
			found = t
		}
	})
	return found
}

func newElemType(made call, e *Elem) *Type {
	t := newType(made, layoutOf(e), elemSig(e))
	t.elem, t.fixed = e, true
	if e.Name != "" {
		t.SetName(e.Name)
	}
	return t
}

// newPair is a predefined type of a value and an index in a struct of C.
func newPair(made call, value, index *Type) *Type {
	at := (value.lay.size + index.lay.align - 1) / index.lay.align * index.lay.align
	body, err := Struct([]int64{1, 1}, []int64{0, at}, []*Type{value, index})
	if err != nil { // impossible with two basic types and small numbers
		panic("dtype: " + err.Error())
	}
	t := newType(made, body.lay, body.sig)
	t.body, t.fixed = body, true
	return t
}

// ValueIndex returns the predefined type of a value and an index, nil if there is
// none for these two (MPI_Type_get_value_index). Beyond the named pair types there is
// an unnamed one for every value and index type that package op accepts for MINLOC:
// values are integers of up to 8 bytes and reals except those of 2 bytes, indices are
// signed integers of 4 or 8 bytes.
func (s *Set) ValueIndex(value, index *Type) (*Type, error) {
	if err := firstError(usable(value), usable(index)); err != nil {
		return nil, err
	}
	v, i := value.elem, index.elem
	if v == nil || i == nil || i.Kind != Integer || i.Size != 4 && i.Size != 8 {
		return nil, nil
	}
	switch {
	case (v.Kind == Integer || v.Kind == Natural) && v.Size <= 8:
	case v.Kind == Floating && v.Format != Half:
	default:
		return nil, nil
	}
	for _, p := range pairs() {
		if p.value == v.ID && p.index == i.ID {
			return s.Type(p.id), nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]*Type{value, index}
	t := s.values[key]
	if t == nil {
		t = newPair(call{combiner: CombinerValueIndex, types: []*Type{value, index}}, value, index)
		s.values[key] = t
	}
	return t, nil
}

// Typeclass is the class of Fortran types among which MatchSize searches.
type Typeclass int

// The classes of types.
const (
	TypeclassLogical Typeclass = 191 // MPIX_TYPECLASS_LOGICAL
	TypeclassInteger Typeclass = 192
	TypeclassReal    Typeclass = 193
	TypeclassComplex Typeclass = 194
)

// MatchSize returns the predefined type of Fortran with a class and size (DT-28).
func (s *Set) MatchSize(tc Typeclass, size int64) (*Type, error) {
	kind := Kind(0)
	switch tc {
	case TypeclassLogical:
		kind = Logical
	case TypeclassInteger:
		kind = Integer
	case TypeclassReal:
		kind = Floating
	case TypeclassComplex:
		kind = Complex
	default:
		return nil, class.Errorf(class.Arg, "typeclass %d is unknown", int(tc))
	}
	for id := Logical1; id <= Complex32; id++ {
		if t := s.Type(id); t != nil && t.elem.Kind == kind && t.elem.Size == size {
			return t, nil
		}
	}
	return nil, class.Errorf(class.Arg, "no type of typeclass %d has %d bytes", int(tc), size)
}
