package offheap

import "runtime"

// Owned returns a zeroed T, as New does, that is freed when the garbage collector finds that nothing in
// Go reaches its owner any more. So while anything refers to the owner, the record is not allocated
// again. T contains no pointer to its owner.
func Owned[T, O any](owner *O) *T {
	r := New[T]()
	runtime.AddCleanup(owner, Free[T], r)
	return r
}

// OwnedBytes returns n zeroed bytes, as Bytes does, that are freed as those of Owned.
func OwnedBytes[O any](owner *O, n int) []byte {
	b := Bytes(n)
	runtime.AddCleanup(owner, FreeBytes, b)
	return b
}
