package mpi

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// constructor is the name of a call that makes types of others.
type constructor string

// of calls the engine with the type that old is.
func (call constructor) of(old Datatype, construct func(old *dtype.Type) (*dtype.Type, error)) (Datatype, error) {
	t, err := old.use(string(call))
	if err != nil {
		return Datatype{}, err
	}
	return call.make(construct(t))
}

// make is what a constructor of the engine returns, made a result of the call.
func (call constructor) make(t *dtype.Type, err error) (Datatype, error) {
	if err != nil {
		return Datatype{}, typesError(string(call), err)
	}
	return Datatype{&datatype{t: t}}, nil
}

// once is make for types that exist once.
func (call constructor) once(t *dtype.Type, err error) (Datatype, error) {
	if err != nil {
		return Datatype{}, typesError(string(call), err)
	}
	return types().lasting(t), nil
}

// wide is counts or displacements as the engine has them, which copies what it keeps.
func wide(list []int) []int64 {
	if strconv.IntSize == 64 {
		return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
	}
	w := make([]int64, len(list))
	for i, v := range list {
		w[i] = int64(v)
	}
	return w
}

// TypeContiguous makes a type of count elements of old, one behind the other. Here
// as in all calls that make types, a negative count is ErrCount, other arguments
// that cannot be are ErrArg, and what does not fit 64 bits is ErrValueTooLarge. The
// new type is still to be committed. Counts are int, which has 64 bits: there is
// no need for a second form with large counts.
//
// C: MPI_Type_contiguous, section 5.1.2.
func TypeContiguous(count int, old Datatype) (Datatype, error) {
	return constructor("TypeContiguous").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Contiguous(int64(count), old)
	})
}

// TypeVector makes a type of count blocks of blocklength elements of old, whose
// beginnings are stride elements apart: a column of a matrix, for one. The stride
// may be negative.
//
// C: MPI_Type_vector, section 5.1.2.
func TypeVector(count, blocklength, stride int, old Datatype) (Datatype, error) {
	return constructor("TypeVector").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Vector(int64(count), int64(blocklength), int64(stride), old)
	})
}

// TypeHvector is TypeVector with the stride in bytes.
//
// C: MPI_Type_create_hvector, section 5.1.2.
func TypeHvector(count, blocklength, stride int, old Datatype) (Datatype, error) {
	return constructor("TypeHvector").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Hvector(int64(count), int64(blocklength), int64(stride), old)
	})
}

// TypeIndexed makes a type of blocks, the i-th of blocklengths[i] elements of old
// from element displs[i] on.
//
// C: MPI_Type_indexed, section 5.1.2.
func TypeIndexed(blocklengths, displs []int, old Datatype) (Datatype, error) {
	return constructor("TypeIndexed").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Indexed(wide(blocklengths), wide(displs), old)
	})
}

// TypeHindexed is TypeIndexed with the displacements in bytes.
//
// C: MPI_Type_create_hindexed, section 5.1.2.
func TypeHindexed(blocklengths, displs []int, old Datatype) (Datatype, error) {
	return constructor("TypeHindexed").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Hindexed(wide(blocklengths), wide(displs), old)
	})
}

// TypeIndexedBlock is TypeIndexed with blocks that are all of one length.
//
// C: MPI_Type_create_indexed_block, section 5.1.2.
func TypeIndexedBlock(blocklength int, displs []int, old Datatype) (Datatype, error) {
	return constructor("TypeIndexedBlock").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.IndexedBlock(int64(blocklength), wide(displs), old)
	})
}

// TypeHindexedBlock is TypeIndexedBlock with the displacements in bytes.
//
// C: MPI_Type_create_hindexed_block, section 5.1.2.
func TypeHindexedBlock(blocklength int, displs []int, old Datatype) (Datatype, error) {
	return constructor("TypeHindexedBlock").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.HindexedBlock(int64(blocklength), wide(displs), old)
	})
}

// TypeStruct makes a type of blocks, the i-th of blocklengths[i] elements of types[i]
// from byte displs[i] on. For structs of Go there is TypeOf.
//
// C: MPI_Type_create_struct, section 5.1.2.
func TypeStruct(blocklengths, displs []int, types []Datatype) (Datatype, error) {
	const call = constructor("TypeStruct")
	olds := make([]*dtype.Type, len(types))
	for i, d := range types {
		t, err := d.engine()
		if err != nil {
			return Datatype{}, typesError(string(call), &class.Error{Class: class.Type, Text: fmt.Sprintf("datatype at index %d: %v", i, err)})
		}
		olds[i] = t
	}
	return call.make(dtype.Struct(wide(blocklengths), wide(displs), olds))
}

// TypeResized makes a type like old, but with other bounds: elements of it are
// extent bytes apart, however much data they hold, and the first begins at lb.
//
// C: MPI_Type_create_resized, section 5.1.7.
func TypeResized(old Datatype, lb, extent int) (Datatype, error) {
	return constructor("TypeResized").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Resized(old, int64(lb), int64(extent))
	})
}
