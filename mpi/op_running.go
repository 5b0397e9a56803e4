package mpi

import (
	"runtime"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
)

// communicates reports whether a call communicates, or is collective in the same way, so that
// user-defined operations must not make it.
func communicates(k call.Number) bool {
	switch k {
	case call.CommDup, call.CommDupWithInfo, call.CommIdup, call.CommIdupWithInfo, call.CommSplit, call.CommSplitType, call.CommCreate, call.CommCreateGroup,
		call.CommFree, call.CommDisconnect, call.CartCreate, call.CartSub, call.GraphCreate, call.DistGraphCreate, call.DistGraphCreateAdjacent:
		return true
	}
	return k.Is(call.Message | call.Collective | call.Window)
}

// operationFrame is a function that is on the stack while a user-defined operation runs.
const operationFrame = "internal/op.Recovered"

// inOperation reports whether the goroutine runs a user-defined operation. It searches the
// stack, which is affordable only in checking mode.
func inOperation() bool {
	var list [64]uintptr
	for skip := 2; ; skip += len(list) {
		n := runtime.Callers(skip, list[:])
		if n == 0 {
			return false
		}
		for frames := runtime.CallersFrames(list[:n]); ; {
			f, more := frames.Next()
			if strings.HasSuffix(f.Function, operationFrame) {
				return true
			}
			if !more {
				break
			}
		}
	}
}
