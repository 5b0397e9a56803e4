//go:build amd64 || arm64

package sys

// GrowStack makes the stack of the calling goroutine larger than 300000 bytes, without touching it: the function has a
// frame of that size, which it does not use. The stack stays as large only where the runtime shrinks none
// (GODEBUG=gcshrinkstackoff=1).
func GrowStack()
