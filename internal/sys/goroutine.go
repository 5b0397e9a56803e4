//go:build amd64 || arm64

package sys

// Goroutine identifies the calling goroutine among those that live: the address of what the
// runtime knows of it, which is never used as a pointer. A thread of C keeps its own as long as
// it lives. It is 0 where it cannot be told.
func Goroutine() uintptr
