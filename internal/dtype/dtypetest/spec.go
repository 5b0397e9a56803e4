package dtypetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Spec is a program of constructor calls: a call with its arguments in the order of
// dtype.Contents, and the programs of the types it is applied to.
type Spec struct {
	Combiner dtype.Combiner
	ID       dtype.ID // for a predefined type
	Ints     []int64
	Addrs    []int64
	Kids     []*Spec
}

// Named returns the spec of a predefined type.
func Named(id dtype.ID) *Spec { return &Spec{Combiner: dtype.CombinerNamed, ID: id} }

// Contiguous returns the spec of n elements of kid.
func Contiguous(n int64, kid *Spec) *Spec {
	return &Spec{Combiner: dtype.CombinerContiguous, Ints: []int64{n}, Kids: []*Spec{kid}}
}

// Resized returns the spec of kid with other bounds.
func Resized(kid *Spec, lb, extent int64) *Spec {
	return &Spec{Combiner: dtype.CombinerResized, Addrs: []int64{lb, extent}, Kids: []*Spec{kid}}
}

func (s *Spec) String() string {
	if s.Combiner == dtype.CombinerNamed {
		return fmt.Sprintf("named(%#x)", int(s.ID))
	}
	var kids []string
	for _, k := range s.Kids {
		kids = append(kids, k.String())
	}
	return fmt.Sprintf("%v(%v %v %s)", s.Combiner, s.Ints, s.Addrs, strings.Join(kids, ", "))
}

// Build calls the constructors. The type is not committed.
func (s *Spec) Build(set *dtype.Set) (*dtype.Type, error) {
	if s.Combiner == dtype.CombinerNamed {
		return set.Type(s.ID), nil
	}
	types := make([]*dtype.Type, len(s.Kids))
	for i, k := range s.Kids {
		t, err := k.Build(set)
		if err != nil {
			return nil, err
		}
		types[i] = t
	}
	return Make(set, dtype.Contents{Combiner: s.Combiner, Integers: s.Ints, Addrs: s.Addrs, Types: types})
}

// Make makes a type from its contents.
func Make(set *dtype.Set, c dtype.Contents) (*dtype.Type, error) {
	i, a := c.Integers, c.Addrs
	switch c.Combiner {
	case dtype.CombinerDup:
		return dtype.Dup(c.Types[0])
	case dtype.CombinerContiguous:
		return dtype.Contiguous(i[0], c.Types[0])
	case dtype.CombinerVector:
		return dtype.Vector(i[0], i[1], i[2], c.Types[0])
	case dtype.CombinerHvector:
		return dtype.Hvector(i[0], i[1], a[0], c.Types[0])
	case dtype.CombinerIndexed:
		return dtype.Indexed(i[1:1+i[0]], i[1+i[0]:], c.Types[0])
	case dtype.CombinerHindexed:
		return dtype.Hindexed(i[1:], a, c.Types[0])
	case dtype.CombinerIndexedBlock:
		return dtype.IndexedBlock(i[1], i[2:], c.Types[0])
	case dtype.CombinerHindexedBlock:
		return dtype.HindexedBlock(i[1], a, c.Types[0])
	case dtype.CombinerStruct:
		return dtype.Struct(i[1:], a, c.Types)
	case dtype.CombinerSubarray:
		n := i[0]
		return dtype.Subarray(i[1:1+n], i[1+n:1+2*n], i[1+2*n:1+3*n], dtype.Order(i[1+3*n]), c.Types[0])
	case dtype.CombinerDarray:
		return dtype.Darray(i[0], i[1], Distributes(i), dtype.Order(i[len(i)-1]), c.Types[0])
	case dtype.CombinerResized:
		return dtype.Resized(c.Types[0], a[0], a[1])
	case dtype.CombinerF90Real:
		return set.F90Real(int(i[0]), int(i[1]))
	case dtype.CombinerF90Complex:
		return set.F90Complex(int(i[0]), int(i[1]))
	case dtype.CombinerF90Integer:
		return set.F90Integer(int(i[0]))
	case dtype.CombinerValueIndex:
		return set.ValueIndex(c.Types[0], c.Types[1])
	}
	return nil, fmt.Errorf("combiner %v", c.Combiner)
}

// Distributes returns the dimensions from the integer arguments of a darray.
func Distributes(ints []int64) []dtype.Distribute {
	n := ints[2]
	d := make([]dtype.Distribute, n)
	for k := range d {
		v := ints[3+k:]
		d[k] = dtype.Distribute{Size: v[0], Kind: dtype.Distribution(v[n]), Arg: v[2*n], Procs: v[3*n]}
	}
	return d
}

// counted returns the integer arguments of a call whose first argument is the length of
// the lists that follow.
func counted(lists ...[]int64) []int64 {
	return append([]int64{int64(len(lists[0]))}, slices.Concat(lists...)...)
}
