package dtypetest

import (
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Generator makes random specs. The zero Generator uses basic types of all sizes and small
// counts.
type Generator struct {
	// Basics are the basic types to use, nil for those of AllSizes.
	Basics []dtype.ID
	// If Wide is above 1, each single element becomes a run of Least to Wide elements, and
	// displacements in bytes are larger by the factor Wide.
	Wide, Least int64
}

// AllSizes returns basic types of all sizes, and pair types with padding.
func AllSizes() []dtype.ID {
	return []dtype.ID{dtype.Int8, dtype.Char, dtype.Int16, dtype.Int, dtype.Float, dtype.Double, dtype.Long, dtype.Wchar,
		dtype.CDoubleComplex, dtype.LongDouble, dtype.Complex32, dtype.Byte, dtype.DoubleInt, dtype.ShortInt,
		dtype.Integer16, dtype.CBool, dtype.FortranReal, dtype.Real2}
}

// Spec makes a spec of some nesting depth. Its layout may overlap, be empty, reach before
// displacement 0, and have any bounds.
func (g Generator) Spec(r *rand.Rand, depth int) *Spec {
	if len(g.Basics) == 0 {
		g.Basics = AllSizes()
	}
	g.Wide, g.Least = max(g.Wide, 1), max(g.Least, 1)
	return g.spec(r, depth)
}

func (g *Generator) spec(r *rand.Rand, depth int) *Spec {
	if depth == 0 || r.IntN(12) == 0 {
		basic := Named(g.Basics[r.IntN(len(g.Basics))])
		if g.Wide > 1 {
			return Contiguous(g.Least+r.Int64N(g.Wide-g.Least+1), basic)
		}
		return basic
	}
	between := func(lo, hi int) int64 { return int64(lo + r.IntN(hi-lo+1)) }
	many := func(n int64, lo, hi int) []int64 {
		v := make([]int64, n)
		for i := range v {
			v[i] = between(lo, hi)
		}
		return v
	}
	far := int(g.Wide) // for displacements in bytes
	s := &Spec{Combiner: dtype.CombinerDup + dtype.Combiner(r.IntN(12))}
	if s.Combiner == dtype.CombinerF90Real || r.IntN(8) == 0 {
		s.Combiner = dtype.CombinerResized
	}
	kid := func() *Spec { return g.spec(r, depth-1) }
	s.Kids = []*Spec{kid()}
	n := between(0, 4)
	switch s.Combiner {
	case dtype.CombinerContiguous:
		s.Ints = []int64{n}
	case dtype.CombinerVector:
		s.Ints = []int64{n, between(0, 3), between(-5, 5)}
	case dtype.CombinerHvector:
		s.Ints, s.Addrs = []int64{n, between(0, 3)}, many(1, -90*far, 90*far)
	case dtype.CombinerIndexed:
		s.Ints = counted(many(n, 0, 3), many(n, -6, 6))
		if r.IntN(2) == 0 {
			s.Ints = counted(many(n, 0, 3), rising(r, n, 5))
		}
	case dtype.CombinerHindexed:
		s.Ints, s.Addrs = counted(many(n, 0, 3)), many(n, -200*far, 200*far)
	case dtype.CombinerIndexedBlock:
		s.Ints = append([]int64{n, between(0, 3)}, rising(r, n, 4)...)
	case dtype.CombinerHindexedBlock:
		s.Ints, s.Addrs = []int64{n, between(0, 3)}, many(n, -200*far, 200*far)
	case dtype.CombinerStruct:
		s.Ints, s.Addrs = counted(many(n, 0, 3)), rising(r, n, 80*far)
		s.Kids = nil
		for range n {
			s.Kids = append(s.Kids, kid())
		}
	case dtype.CombinerSubarray:
		nd := between(1, 3)
		sizes := many(nd, 1, 4)
		subs, starts := make([]int64, nd), make([]int64, nd)
		for i := range sizes {
			subs[i] = between(1, int(sizes[i]))
			starts[i] = between(0, int(sizes[i]-subs[i]))
		}
		s.Ints = append(counted(sizes, subs, starts), int64(order(r)))
	case dtype.CombinerDarray:
		nd := between(1, 3)
		sizes, kinds, args, procs := many(nd, 1, 5), many(nd, 16, 18), make([]int64, nd), many(nd, 1, 3)
		size := int64(1)
		for i := range sizes {
			args[i] = dtype.DistributeDefault
			switch dtype.Distribution(kinds[i]) {
			case dtype.DistributeNone:
				procs[i] = 1
			case dtype.DistributeBlock:
				if r.IntN(2) == 0 {
					args[i] = (sizes[i]-1)/procs[i] + between(1, 2)
				}
			case dtype.DistributeCyclic:
				if r.IntN(2) == 0 {
					args[i] = between(1, 3)
				}
			}
			size *= procs[i]
		}
		s.Ints = darray(size, between(0, int(size-1)), sizes, kinds, args, procs, order(r))
	case dtype.CombinerResized:
		s.Addrs = []int64{between(-20*far, 20*far), between(-30*far, 120*far)}
	}
	return s
}

// darray returns the integer arguments of a darray.
func darray(size, rank int64, sizes, kinds, args, procs []int64, o dtype.Order) []int64 {
	ints := append([]int64{size, rank}, counted(sizes, kinds, args, procs)...)
	return append(ints, int64(o))
}

// FromBytes returns a generator for fuzzing whose numbers data determines: each uses one byte of
// data; after the end of data they are pseudo-random with a seed from data.
func FromBytes(data []byte) *rand.Rand { return rand.New(&byteSource{rest: data, then: seed(data)}) }

type byteSource struct {
	rest []byte
	then *rand.PCG
}

func seed(data []byte) *rand.PCG {
	s := uint64(len(data))
	for _, b := range data {
		s = (s ^ uint64(b)) * 0x9e3779b97f4a7c15
	}
	return rand.NewPCG(s, 1)
}

// Uint64 implements rand.Source. It repeats the byte, because some draws use the high bits of a number
// and others the low ones.
func (s *byteSource) Uint64() uint64 {
	if len(s.rest) == 0 {
		return s.then.Uint64()
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return uint64(b) * 0x0101010101010101
}

// rising makes displacements of blocks that often do not overlap, and often are adjacent.
func rising(r *rand.Rand, n int64, step int) []int64 {
	v := make([]int64, n)
	at := int64(r.IntN(5) - 2)
	for i := range v {
		v[i] = at
		at += int64(1 + r.IntN(step))
	}
	return v
}

func order(r *rand.Rand) dtype.Order {
	if r.IntN(2) == 0 {
		return dtype.OrderC
	}
	return dtype.OrderFortran
}
