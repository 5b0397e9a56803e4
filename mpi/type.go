package mpi

import (
	"strconv"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// constructor is a call that makes a type from others.
type constructor call.Number

// of calls the engine with the engine's type of old.
func (k constructor) of(old Datatype, construct func(old *dtype.Type) (*dtype.Type, error)) (Datatype, error) {
	t, err := old.use(call.Number(k))
	if err != nil {
		return Datatype{}, err
	}
	return k.make(construct(t))
}

// make turns the result of a constructor of the engine into the result of the call.
func (k constructor) make(t *dtype.Type, err error) (Datatype, error) {
	if err != nil {
		return Datatype{}, typesError(call.Number(k), err)
	}
	return Datatype{&datatype{t: t}}, nil
}

// once is make for types that have only one handle.
func (k constructor) once(t *dtype.Type, err error) (Datatype, error) {
	if err != nil {
		return Datatype{}, typesError(call.Number(k), err)
	}
	return types().lasting(t), nil
}

// wide converts counts or displacements to the engine's type. The engine copies lists that it
// keeps.
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

// TypeContiguous makes a type of count adjacent elements of old.
//
// All calls that make types return ErrCount for a negative count, ErrArg for other invalid
// arguments, and ErrValueTooLarge if sizes exceed 64 bits. The new type is not committed. Counts
// are int, which has 64 bits, so that there is no second form for large counts.
//
// C: MPI_Type_contiguous, section 5.1.2.
func TypeContiguous(count int, old Datatype) (Datatype, error) {
	return constructor(call.TypeContiguous).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Contiguous(int64(count), old)
	})
}

// TypeVector makes a type of count blocks of blocklength elements of old, which begin stride
// elements apart; one example is a column of a matrix. The stride may be negative.
//
// C: MPI_Type_vector, section 5.1.2.
func TypeVector(count, blocklength, stride int, old Datatype) (Datatype, error) {
	return constructor(call.TypeVector).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Vector(int64(count), int64(blocklength), int64(stride), old)
	})
}

// TypeHvector is TypeVector with the stride in bytes.
//
// C: MPI_Type_create_hvector, section 5.1.2.
func TypeHvector(count, blocklength, stride int, old Datatype) (Datatype, error) {
	return constructor(call.TypeCreateHvector).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Hvector(int64(count), int64(blocklength), int64(stride), old)
	})
}

// TypeIndexed makes a type of blocks: block i has blocklengths[i] elements of old and begins at
// element displs[i].
//
// C: MPI_Type_indexed, section 5.1.2.
func TypeIndexed(blocklengths, displs []int, old Datatype) (Datatype, error) {
	return constructor(call.TypeIndexed).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Indexed(wide(blocklengths), wide(displs), old)
	})
}

// TypeHindexed is TypeIndexed with the displacements in bytes.
//
// C: MPI_Type_create_hindexed, section 5.1.2.
func TypeHindexed(blocklengths, displs []int, old Datatype) (Datatype, error) {
	return constructor(call.TypeCreateHindexed).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Hindexed(wide(blocklengths), wide(displs), old)
	})
}

// TypeIndexedBlock is TypeIndexed with blocks of the same length.
//
// C: MPI_Type_create_indexed_block, section 5.1.2.
func TypeIndexedBlock(blocklength int, displs []int, old Datatype) (Datatype, error) {
	return constructor(call.TypeCreateIndexedBlock).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.IndexedBlock(int64(blocklength), wide(displs), old)
	})
}

// TypeHindexedBlock is TypeIndexedBlock with the displacements in bytes.
//
// C: MPI_Type_create_hindexed_block, section 5.1.2.
func TypeHindexedBlock(blocklength int, displs []int, old Datatype) (Datatype, error) {
	return constructor(call.TypeCreateHindexedBlock).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.HindexedBlock(int64(blocklength), wide(displs), old)
	})
}

// TypeStruct makes a type of blocks: block i has blocklengths[i] elements of types[i] and begins
// at byte displs[i]. For structs of Go use TypeOf.
//
// C: MPI_Type_create_struct, section 5.1.2.
func TypeStruct(blocklengths, displs []int, types []Datatype) (Datatype, error) {
	const by = constructor(call.TypeCreateStruct)
	olds := make([]*dtype.Type, len(types))
	for i, d := range types {
		t, err := d.engine()
		if err != nil {
			return Datatype{}, typesError(call.Number(by), class.Errorf(class.Type, "datatype at index %d: %v", i, err))
		}
		olds[i] = t
	}
	return by.make(dtype.Struct(wide(blocklengths), wide(displs), olds))
}

// TypeResized makes a copy of old with other bounds: its elements are extent bytes apart,
// whatever the size of their data, and have lower bound lb, in bytes.
//
// C: MPI_Type_create_resized, section 5.1.7.
func TypeResized(old Datatype, lb, extent int) (Datatype, error) {
	return constructor(call.TypeCreateResized).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Resized(old, int64(lb), int64(extent))
	})
}
