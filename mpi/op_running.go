package mpi

import (
	"runtime"
	"strings"
)

// communicates reports whether the call is communication, or collective in the way of
// it, and so not for operations of reductions.
func (k call) communicates() bool {
	switch k {
	case callDup, callDupWithInfo, callIdup, callIdupWithInfo, callSplit, callSplitType, callCreate, callCreateGroup,
		callFree, callDisconnect:
		return true
	}
	return k <= callImprobe || k >= callCollective || k.oneSided()
}

// operationFrame is in the stack of what an operation of a program calls.
const operationFrame = "internal/op.Recovered"

// inOperation reports whether the goroutine runs an operation of a program. It looks
// through the stack: for the checking mode.
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
