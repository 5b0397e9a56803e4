package dtype

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Type is a datatype. All but its name and whether it is committed is fixed when
// it is made; it refers to the types it is made of, and so keeps them alive.
type Type struct {
	made  call
	elem  *Elem // of a basic datatype or an F90 one, else nil
	lay   layout
	sig   *sig
	body  *Type // the struct that a type for MINLOC and MAXLOC is laid out as
	fixed bool  // predefined: cannot be freed, is committed
	by    mover // of its bytes
	most  int64 // count with which nothing exceeds 64 bits

	committed atomic.Bool
	name      atomic.Pointer[string]

	plain, typed lazyNode
	over         overlap
	single       leaf
}

// lazyNode is a loop program that is compiled when it is first needed: at commit,
// or when a type made of it is committed.
type lazyNode struct {
	once sync.Once
	n    *node
}

// newType finishes what a constructor has checked.
func newType(made call, lay layout, s *sig) *Type {
	return &Type{made: made, lay: lay, sig: s, by: bestMover(), most: lay.most(s.n)}
}

// program returns the loops over runs of bytes.
func (t *Type) program() *node {
	t.plain.once.Do(func() { t.plain.n = compile(t, false) })
	return t.plain.n
}

// elements returns the loops over elements of one basic datatype.
func (t *Type) elements() *node {
	t.typed.once.Do(func() { t.typed.n = compile(t, true) })
	return t.typed.n
}

// Commit compiles the type for communication.
func (t *Type) Commit() {
	t.program()
	t.committed.Store(true)
}

// Committed reports whether the type may be used in communication.
func (t *Type) Committed() bool { return t.fixed || t.committed.Load() }

// Predefined reports whether the type can neither be freed nor changed. Types of
// F90Real and ValueIndex are predefined (DT-21).
func (t *Type) Predefined() bool { return t.fixed }

// Elem is the basic datatype that t is, or nil. Of a duplicate it is that of the
// original.
func (t *Type) Elem() *Elem {
	for t.made.combiner == CombinerDup {
		t = t.made.types[0]
	}
	return t.elem
}

// IsHandle reports whether elements are handles of objects.
func (t *Type) IsHandle() bool { return t.elem != nil && t.elem.Kind == Handle }

// Pair returns value and index of a type for MINLOC and MAXLOC: of a predefined
// pair type, one of ValueIndex, or their duplicates.
func (t *Type) Pair() (value, index *Type, ok bool) {
	for t.made.combiner == CombinerDup {
		t = t.made.types[0]
	}
	if t.body == nil {
		return nil, nil, false
	}
	return t.body.made.types[0], t.body.made.types[1], true
}

// Size is the number of bytes of data in one element.
func (t *Type) Size() int64 { return t.lay.size }

// Extent returns the lower bound and the extent.
func (t *Type) Extent() (lb, extent int64) { return t.lay.lb, t.lay.extent() }

// TrueExtent returns lower bound and extent of the data, whatever Resized said.
func (t *Type) TrueExtent() (lb, extent int64) {
	return t.lay.trueLB, t.lay.trueUB - t.lay.trueLB
}

// Name is what SetName said last, the standard's name for a predefined type, else
// empty.
func (t *Type) Name() string {
	if p := t.name.Load(); p != nil {
		return *p
	}
	return ""
}

// SetName names the type.
func (t *Type) SetName(name string) { t.name.Store(&name) }

// String is the name, or how the type was made, for error messages.
func (t *Type) String() string {
	if t == nil {
		return "MPI_DATATYPE_NULL"
	}
	return t.describe(3)
}

func (t *Type) describe(depth int) string {
	if name := t.Name(); name != "" {
		return name
	}
	if depth == 0 {
		return "..."
	}
	var b strings.Builder
	b.WriteString(t.made.combiner.String())
	b.WriteByte('(')
	sep := ""
	for _, list := range [][]int64{t.made.ints, t.made.addrs} {
		for i, v := range list {
			if i == 8 {
				b.WriteString(" ...")
				break
			}
			fmt.Fprintf(&b, "%s%d", sep, v)
			sep = " "
		}
	}
	for i, old := range t.made.types {
		if i == 4 {
			b.WriteString(" ...")
			break
		}
		b.WriteString(sep + old.describe(depth-1))
		sep = " "
	}
	b.WriteByte(')')
	return b.String()
}
