package mpi

import (
	"runtime"
	"strings"
)

// communicates reports whether the call communicates, or is collective in the same way, so that
// user-defined operations must not make it.
func (k call) communicates() bool {
	switch k {
	case callDup, callDupWithInfo, callIdup, callIdupWithInfo, callSplit, callSplitType, callCreate, callCreateGroup,
		callFree, callDisconnect, callCartCreate, callCartSub, callGraphCreate, callDistGraphCreate, callDistGraphCreateAdjacent:
		return true
	}
	return k <= callImprobe || k >= callCollective || k.oneSided()
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
