package dtype

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
)

// Struct makes blocklengths[i] copies of types[i] at displs[i] bytes, for each i.
func Struct(blocklengths, displs []int64, types []*Type) (*Type, error) {
	if err := checkBlocks(blocklengths, displs); err != nil {
		return nil, err
	}
	if len(types) != len(displs) {
		return nil, class.Errorf(class.Arg, "%d types, but %d displacements", len(types), len(displs))
	}
	for i, old := range types {
		if old == nil {
			return nil, class.Errorf(class.Type, "type at index %d is MPI_DATATYPE_NULL", i)
		}
		if err := old.derivable(); err != nil {
			return nil, class.Errorf(class.Type, "type at index %d: %v", i, err)
		}
	}
	made := call{CombinerStruct, counted(blocklengths), slices.Clone(displs), slices.Clone(types)}
	return structure(made, blocklengths, displs, types)
}

func structure(made call, blocklengths, displs []int64, types []*Type) (*Type, error) {
	var b bounds
	parts := make([]sigPart, 0, len(types))
	for i, old := range types {
		b.grid(&old.lay, displs[i], 1, 0, blocklengths[i], old.lay.extent())
		parts = append(parts, sigPart{blocklengths[i], old.sig})
	}
	s := &sig{}
	s.sum(&b.checked, parts)
	lay, err := b.done(made.combiner)
	if err != nil {
		return nil, err
	}
	return newType(made, lay, s), nil
}
