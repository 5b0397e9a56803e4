package mpi

import "unsafe"

// Elem is the set of element types of messages: Go's booleans and numbers, and
// types made of them, ValueIndex, and Sync. They take the place of the standard's basic
// datatypes.
//
// C: MPI_Datatype, section 3.2.2.
type Elem interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128 | pairs | Sync
}

// bytesOf is the memory of a slice.
func bytesOf[T Elem](s []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(t))
}

// sizeOf is the size of an element in bytes.
func sizeOf[T Elem]() int {
	var t T
	return int(unsafe.Sizeof(t))
}
