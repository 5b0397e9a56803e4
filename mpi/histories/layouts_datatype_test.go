package histories_test

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/mpi"
)

// datatypeOf makes the type of a spec, and frees the types that it was made from.
func datatypeOf(s *dtypetest.Spec) (mpi.Datatype, error) {
	if s.Combiner == dtype.CombinerNamed {
		return mpi.Predefined(types.Type(s.ID).Name())
	}
	var kids []mpi.Datatype
	for _, k := range s.Kids {
		d, err := datatypeOf(k)
		if err != nil {
			return d, err
		}
		kids = append(kids, d)
	}
	made, err := construct(s, kids)
	for i := range kids {
		if s.Kids[i].Combiner != dtype.CombinerNamed && err == nil {
			err = kids[i].Free()
		}
	}
	return made, err
}

// construct calls the constructor that a spec names; d are the types of the spec's children.
func construct(s *dtypetest.Spec, d []mpi.Datatype) (mpi.Datatype, error) {
	i, a := ints(s.Ints), ints(s.Addrs)
	switch s.Combiner {
	case dtype.CombinerDup:
		return d[0].Dup()
	case dtype.CombinerContiguous:
		return mpi.TypeContiguous(i[0], d[0])
	case dtype.CombinerVector:
		return mpi.TypeVector(i[0], i[1], i[2], d[0])
	case dtype.CombinerHvector:
		return mpi.TypeHvector(i[0], i[1], a[0], d[0])
	case dtype.CombinerIndexed:
		return mpi.TypeIndexed(i[1:1+i[0]], i[1+i[0]:], d[0])
	case dtype.CombinerHindexed:
		return mpi.TypeHindexed(i[1:], a, d[0])
	case dtype.CombinerIndexedBlock:
		return mpi.TypeIndexedBlock(i[1], i[2:], d[0])
	case dtype.CombinerHindexedBlock:
		return mpi.TypeHindexedBlock(i[1], a, d[0])
	case dtype.CombinerStruct:
		return mpi.TypeStruct(i[1:], a, d)
	case dtype.CombinerSubarray:
		n := i[0]
		return mpi.TypeSubarray(i[1:1+n], i[1+n:1+2*n], i[1+2*n:1+3*n], mpi.Order(i[1+3*n]), d[0])
	case dtype.CombinerDarray:
		n := i[2]
		dims := make([]mpi.Distribute, n)
		for k := range dims {
			dims[k] = mpi.Distribute{Size: i[3+k], Kind: mpi.Distribution(i[3+n+k]), Arg: i[3+2*n+k], Procs: i[3+3*n+k]}
		}
		return mpi.TypeDarray(i[0], i[1], dims, mpi.Order(i[3+4*n]), d[0])
	case dtype.CombinerResized:
		return mpi.TypeResized(d[0], a[0], a[1])
	}
	return mpi.Datatype{}, fmt.Errorf("specs have no combiner %v", s.Combiner)
}

func ints(list []int64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}
