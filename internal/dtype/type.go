package dtype

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Type is a datatype. It is immutable except for its name and its committed state. It
// refers to the types it is made of, and so keeps them alive.
type Type struct {
	made  call
	elem  *Elem // of a basic datatype or an F90 one, else nil
	lay   layout
	sig   *sig
	body  *Type // of a pair type: the struct of value and index
	fixed bool  // predefined: cannot be freed, is committed
	place uint8 // see Place
	by    mover // copies its bytes
	most  int64 // the largest count that Bind accepts: see layout.most

	committed atomic.Bool
	shared    atomic.Pointer[shmfmt.Type] // the record in which C may commit the type, or nil
	name      atomic.Pointer[string]

	plain, typed lazyNode
	over         overlap
	single       leaf
}

// lazyNode is a loop program that is compiled on first use: a type that is committed and freed
// without a transfer needs none. Goroutines that use it at the same time may compile it twice;
// the first program stays.
type lazyNode struct{ n atomic.Pointer[node] }

// get returns the program of t and compiles it if necessary. It inlines.
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

// newType makes a Type from checked arguments, its layout and its signature.
func newType(made call, lay layout, s *sig) *Type {
	return &Type{made: made, lay: lay, sig: s, by: bestMover(), most: lay.most(s.n)}
}

// derived is a Type of copies of one old type, in one allocation with its signature and its
// arguments: some programs make a type for each transfer, and allocations are most of its cost.
type derived struct {
	Type
	own   sig
	ints  [inlineInts]int64
	addrs [1]int64
	old   [1]*Type
}

// inlineInts is the number of arguments that a derived has room for: those of a Subarray with
// three dimensions.
const inlineInts = 11

// join appends the lists to room, or to a new slice if room is too short.
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

// program returns the loop program over runs of bytes.
func (t *Type) program() *node { return t.plain.get(t, false) }

// elements returns the typed loop program: each run has elements of one basic datatype.
func (t *Type) elements() *node { return t.typed.get(t, true) }

// Commit allows the use of the type in communication. C commits a type in its record: see Share.
func (t *Type) Commit() { t.committed.Store(true) }

// Committed reports whether the type may be used in communication. A type stays committed once
// Go or C has committed it. t.committed is loaded again after the record, because the record
// may belong to another type by then; pairs with Unshare, which stores t.committed before it
// clears t.shared.
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

// Place is the number of t among the types that its Set has from the start, counted from 1; it
// is 0 for all other types.
func (t *Type) Place() int { return int(t.place) }

// Elem is the basic datatype that t or the type it duplicates is, or nil.
func (t *Type) Elem() *Elem {
	for t.made.combiner == CombinerDup {
		t = t.made.types[0]
	}
	return t.elem
}

// IsHandle reports whether elements are handles of synchronisation objects.
func (t *Type) IsHandle() bool { return t.elem != nil && t.elem.Kind == Handle }

// Pair returns the types of value and index of a pair type: a named one, one of ValueIndex,
// or a duplicate of these.
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

// TrueExtent returns lower bound and extent of the data; Resized does not change them.
func (t *Type) TrueExtent() (lb, extent int64) {
	return t.lay.trueLB, t.lay.trueUB - t.lay.trueLB
}

// Name is the name that SetName has set last; before that, the standard's name for a
// predefined type, and empty for others.
func (t *Type) Name() string {
	if p := t.name.Load(); p != nil {
		return *p
	}
	return ""
}

// SetName names the type.
func (t *Type) SetName(name string) { t.name.Store(&name) }

// String is the name, or for types without one the constructor call, for error messages.
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
