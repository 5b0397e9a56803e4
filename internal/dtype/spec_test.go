package dtype

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// spec is a constructor program: a tree of constructor calls, with arguments as in
// Contents. Tests make a Type and an oracle's typemap of it.
type spec struct {
	c     Combiner
	id    ID // of a named type
	ints  []int64
	addrs []int64
	kids  []*spec
}

func (s *spec) String() string {
	if s.c == CombinerNamed {
		return fmt.Sprintf("named(%#x)", int(s.id))
	}
	var kids []string
	for _, k := range s.kids {
		kids = append(kids, k.String())
	}
	return fmt.Sprintf("%v(%v %v %s)", s.c, s.ints, s.addrs, strings.Join(kids, ", "))
}

// build calls the constructors.
func (s *spec) build(set *Set) (*Type, error) {
	if s.c == CombinerNamed {
		return set.Type(s.id), nil
	}
	types := make([]*Type, len(s.kids))
	for i, k := range s.kids {
		t, err := k.build(set)
		if err != nil {
			return nil, err
		}
		types[i] = t
	}
	return rebuild(set, Contents{Combiner: s.c, Integers: s.ints, Addrs: s.addrs, Types: types})
}

// rebuild makes a type from its contents.
func rebuild(set *Set, c Contents) (*Type, error) {
	i, a := c.Integers, c.Addrs
	switch c.Combiner {
	case CombinerDup:
		return Dup(c.Types[0])
	case CombinerContiguous:
		return Contiguous(i[0], c.Types[0])
	case CombinerVector:
		return Vector(i[0], i[1], i[2], c.Types[0])
	case CombinerHvector:
		return Hvector(i[0], i[1], a[0], c.Types[0])
	case CombinerIndexed:
		return Indexed(i[1:1+i[0]], i[1+i[0]:], c.Types[0])
	case CombinerHindexed:
		return Hindexed(i[1:], a, c.Types[0])
	case CombinerIndexedBlock:
		return IndexedBlock(i[1], i[2:], c.Types[0])
	case CombinerHindexedBlock:
		return HindexedBlock(i[1], a, c.Types[0])
	case CombinerStruct:
		return Struct(i[1:], a, c.Types)
	case CombinerSubarray:
		n := i[0]
		return Subarray(i[1:1+n], i[1+n:1+2*n], i[1+2*n:1+3*n], Order(i[1+3*n]), c.Types[0])
	case CombinerDarray:
		return Darray(i[0], i[1], distributes(i), Order(i[len(i)-1]), c.Types[0])
	case CombinerResized:
		return Resized(c.Types[0], a[0], a[1])
	case CombinerF90Real:
		return set.F90Real(int(i[0]), int(i[1]))
	case CombinerF90Complex:
		return set.F90Complex(int(i[0]), int(i[1]))
	case CombinerF90Integer:
		return set.F90Integer(int(i[0]))
	case CombinerValueIndex:
		return set.ValueIndex(c.Types[0], c.Types[1])
	}
	return nil, fmt.Errorf("combiner %v", c.Combiner)
}

func distributes(i []int64) []Distribute {
	n := i[2]
	d := make([]Distribute, n)
	for k := range d {
		k64 := int64(k)
		d[k] = Distribute{i[3+k64], Distribution(i[3+n+k64]), i[3+2*n+k64], i[3+3*n+k64]}
	}
	return d
}

// basics are the types that random specs are made of: all sizes, and pairs with
// padding.
var basics = []ID{Int8, Char, Int16, Int, Float, Double, Long, Wchar, CDoubleComplex, LongDouble, Complex32, Byte,
	DoubleInt, ShortInt, Integer16, CBool, FortranReal, Real2}

// randomSpec makes a spec of some nesting depth.
func randomSpec(r *rand.Rand, depth int) *spec {
	if depth == 0 || r.IntN(12) == 0 {
		return &spec{c: CombinerNamed, id: basics[r.IntN(len(basics))]}
	}
	between := func(lo, hi int) int64 { return int64(lo + r.IntN(hi-lo+1)) }
	many := func(n int64, lo, hi int) []int64 {
		v := make([]int64, n)
		for i := range v {
			v[i] = between(lo, hi)
		}
		return v
	}
	s := &spec{c: Combiner(int(CombinerDup) + r.IntN(12))}
	if s.c == CombinerF90Real {
		s.c = CombinerResized
	}
	if r.IntN(8) == 0 {
		s.c = CombinerResized
	}
	kid := func() *spec { return randomSpec(r, depth-1) }
	s.kids = []*spec{kid()}
	n := between(0, 4)
	switch s.c {
	case CombinerContiguous:
		s.ints = []int64{n}
	case CombinerVector:
		s.ints = []int64{n, between(0, 3), between(-5, 5)}
	case CombinerHvector:
		s.ints, s.addrs = []int64{n, between(0, 3)}, many(1, -90, 90)
	case CombinerIndexed:
		s.ints = counted(many(n, 0, 3), many(n, -6, 6))
		if r.IntN(2) == 0 {
			s.ints = counted(many(n, 0, 3), rising(r, n, 5))
		}
	case CombinerHindexed:
		s.ints, s.addrs = counted(many(n, 0, 3)), many(n, -200, 200)
	case CombinerIndexedBlock:
		s.ints = append([]int64{n, between(0, 3)}, rising(r, n, 4)...)
	case CombinerHindexedBlock:
		s.ints, s.addrs = []int64{n, between(0, 3)}, many(n, -200, 200)
	case CombinerStruct:
		s.ints, s.addrs = counted(many(n, 0, 3)), rising(r, n, 80)
		s.kids = nil
		for range n {
			s.kids = append(s.kids, kid())
		}
	case CombinerSubarray:
		nd := between(1, 3)
		sizes := many(nd, 1, 4)
		subs, starts := make([]int64, nd), make([]int64, nd)
		for i := range sizes {
			subs[i] = between(1, int(sizes[i]))
			starts[i] = between(0, int(sizes[i]-subs[i]))
		}
		s.ints = append(counted(sizes, subs, starts), int64(order(r)))
	case CombinerDarray:
		nd := between(1, 3)
		sizes, kinds, args, procs := many(nd, 1, 5), many(nd, 16, 18), make([]int64, nd), many(nd, 1, 3)
		size := int64(1)
		for i := range sizes {
			args[i] = DistributeDefault
			switch Distribution(kinds[i]) {
			case DistributeNone:
				procs[i] = 1
			case DistributeBlock:
				if r.IntN(2) == 0 {
					args[i] = (sizes[i]-1)/procs[i] + between(1, 2)
				}
			case DistributeCyclic:
				if r.IntN(2) == 0 {
					args[i] = between(1, 3)
				}
			}
			size *= procs[i]
		}
		s.ints = []int64{size, between(0, int(size-1)), nd}
		for _, l := range [][]int64{sizes, kinds, args, procs} {
			s.ints = append(s.ints, l...)
		}
		s.ints = append(s.ints, int64(order(r)))
	case CombinerResized:
		s.addrs = []int64{between(-20, 20), between(-30, 120)}
	}
	return s
}

// rising makes displacements that often do not overlap, and often touch.
func rising(r *rand.Rand, n int64, step int) []int64 {
	v := make([]int64, n)
	at := int64(r.IntN(5) - 2)
	for i := range v {
		v[i] = at
		at += int64(1 + r.IntN(step))
	}
	return v
}

func order(r *rand.Rand) Order {
	if r.IntN(2) == 0 {
		return OrderC
	}
	return OrderFortran
}

// smaller are specs that are one step simpler, for shrinking.
func (s *spec) smaller() []*spec {
	var out []*spec
	out = append(out, s.kids...)
	for i, k := range s.kids {
		for _, small := range k.smaller() {
			c := *s
			c.kids = append([]*spec{}, s.kids...)
			c.kids[i] = small
			out = append(out, &c)
		}
		if k.c == CombinerNamed && k.id != Byte {
			c := *s
			c.kids = append([]*spec{}, s.kids...)
			c.kids[i] = &spec{c: CombinerNamed, id: Byte}
			out = append(out, &c)
		}
	}
	change := func(of func(*spec) *[]int64) {
		for i, v := range *of(s) {
			if v == 0 || v == 1 {
				continue
			}
			for _, small := range []int64{0, 1, v / 2, v - v/max(v, -v)} {
				c := *s
				l := append([]int64{}, *of(s)...)
				l[i] = small
				*of(&c) = l
				out = append(out, &c)
			}
		}
	}
	switch s.c {
	case CombinerContiguous, CombinerVector, CombinerHvector:
		change(func(s *spec) *[]int64 { return &s.ints })
	}
	change(func(s *spec) *[]int64 { return &s.addrs })
	// One block less.
	switch s.c {
	case CombinerHindexed, CombinerStruct:
		for i := range s.addrs {
			c := *s
			c.addrs = without(s.addrs, i)
			c.ints = counted(without(s.ints[1:], i))
			if s.c == CombinerStruct {
				c.kids = without(s.kids, i)
			}
			out = append(out, &c)
		}
	case CombinerHindexedBlock:
		for i := range s.addrs {
			c := *s
			c.addrs = without(s.addrs, i)
			c.ints = []int64{s.ints[0] - 1, s.ints[1]}
			out = append(out, &c)
		}
	case CombinerIndexed:
		n := s.ints[0]
		for i := range int(n) {
			c := *s
			c.ints = counted(without(s.ints[1:1+n], i), without(s.ints[1+n:], i))
			out = append(out, &c)
		}
	}
	return out
}

func without[T any](l []T, i int) []T {
	return append(append([]T{}, l[:i]...), l[i+1:]...)
}
