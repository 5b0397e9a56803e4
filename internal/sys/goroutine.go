//go:build amd64 || arm64

package sys

// Goroutine returns a number that identifies the calling goroutine among those that exist: the address
// of the runtime's record of it, which is never used as a pointer. A thread of C has the same number as
// long as it exists. It is 0 on platforms where it is not known.
func Goroutine() uintptr
