package mpi

import (
	"unsafe"
)

// Elem is the set of element types on which predefined operations are defined: booleans and
// numbers, types defined as these, ValueIndex, and Sync. They correspond to the standard's basic
// datatypes. Messages, and collectives that only move data, take slices of any plain data: all
// types that TypeOf accepts, such as structs and arrays of numbers.
//
// C: MPI_Datatype, section 3.2.2.
type Elem interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128 | pairs | Sync
}

// sizeOf is the size of an element in bytes.
func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// packedSize is the number of bytes that an element of plain data takes in a message.
func packedSize[T any]() (int64, error) {
	if isNumber[T]() {
		return int64(sizeOf[T]()), nil
	}
	t, err := golang[T]()
	if err != nil {
		return 0, err
	}
	return t.Size(), nil
}
