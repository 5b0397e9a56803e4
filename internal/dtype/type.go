package dtype

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
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
	place uint8 // see Place
	by    mover // of its bytes
	most  int64 // count with which nothing exceeds 64 bits

	committed atomic.Bool
	shared    atomic.Pointer[shmfmt.Type] // where C may commit the type, nil: nowhere
	name      atomic.Pointer[string]

	plain, typed lazyNode
	over         overlap
	single       leaf
}

// lazyNode is a loop program that is compiled when elements are first moved, or those of a
// type that is made of it: a type may be committed and freed without any. Goroutines that need it at the same time may
// compile it twice; the first program stays.
type lazyNode struct{ n atomic.Pointer[node] }

// get returns the program of t, compiled if need be. It inlines.
func (l *lazyNode) get(t *Type, typed bool) *node {
	if n := l.n.Load(); n != nil {
		return n
	}
	return l.compile(t, typed)
}

func (l *lazyNode) compile(t *Type, typed bool) *node {
	l.n.CompareAndSwap(nil, compile(t, typed))
	return l.n.Load()
}

// newType finishes what a constructor has checked.
func newType(made call, lay layout, s *sig) *Type {
	return &Type{made: made, lay: lay, sig: s, by: bestMover(), most: lay.most(s.n)}
}

// derived is a Type of copies of one old type, in one allocation with what belongs to it:
// programs make a type for each transfer, and then allocations are most of its cost.
type derived struct {
	Type
	own   sig
	ints  [inlineInts]int64
	addrs [1]int64
	old   [1]*Type
}

// inlineInts is how many arguments are kept inside a derived: those of an array with three
// dimensions.
const inlineInts = 11

// join copies lists into room, which is left for a new slice if it is too short.
func join(room []int64, lists ...[]int64) []int64 {
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	if n == 0 {
		return nil
	}
	if n > cap(room) {
		room = make([]int64, 0, n)
	}
	for _, l := range lists {
		room = append(room, l...)
	}
	return room
}

// program returns the loops over runs of bytes.
func (t *Type) program() *node { return t.plain.get(t, false) }

// elements returns the loops over elements of one basic datatype.
func (t *Type) elements() *node { return t.typed.get(t, true) }

// Commit says that the type may be used in communication. C says so in a record of the type: see
// Share.
func (t *Type) Commit() { t.committed.Store(true) }

// Committed reports whether the type may be used in communication. No type becomes uncommitted,
// so it is enough that Go or C has said so. The own word is looked at again behind the record,
// which may be that of another type by then: Unshare stores in the reverse order.
func (t *Type) Committed() bool {
	if t.fixed || t.committed.Load() {
		return true
	}
	r := t.shared.Load()
	return r != nil && r.Committed.Load() != 0 || t.committed.Load()
}

// Predefined reports whether the type can neither be freed nor changed. Types of
// F90Real and ValueIndex are predefined (DT-21).
func (t *Type) Predefined() bool { return t.fixed }

// Place is the place of t among the types of its Set, from 1 on, 0 of types that are not in it
// from the start.
func (t *Type) Place() int { return int(t.place) }

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
