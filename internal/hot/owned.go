package hot

import "runtime"

// Owned is New, of a record that is freed when nothing in Go reaches its owner any more, as the
// collector finds out. So whoever holds the owner finds the record as the owner has left it, never
// another one. T holds no pointer to its owner.
func Owned[T, O any](owner *O) *T {
	r := New[T]()
	runtime.AddCleanup(owner, Free[T], r)
	return r
}

// OwnedBytes is Owned of n bytes.
func OwnedBytes[O any](owner *O, n int) []byte {
	b := Bytes(n)
	runtime.AddCleanup(owner, FreeBytes, b)
	return b
}
