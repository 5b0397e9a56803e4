package bind

import (
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/cname"
)

// entry is the beginning of the name of the functions that Call calls: all are generated.
const entry = "abi/bind.doMPI"

// nameOf is the name in C of the call of package mpi that has failed: of the procedure that
// the program has called, unless that only waits for what another one has started. Which
// one the program has called stands on the stack: so that calls which succeed need not note
// it.
func nameOf(call string) string {
	if strings.HasPrefix(call, "MPI_") || strings.HasPrefix(call, "MPIX_") {
		return call
	}
	entered := enteredAt()
	if strings.Contains(cname.Plain(entered), strings.ToLower(call)) {
		return entered
	}
	if name := cname.Find(call); name != "" {
		return name
	}
	if entered != "" {
		return entered
	}
	return call
}

// nameInC is the procedure that means a call of package mpi, or what it is given if there is
// none: of a window, where other objects have calls of that name.
func nameInC(call string) string {
	if name := cname.Find("win" + call); name != "" {
		return name
	}
	if name := cname.Find(call); name != "" {
		return name
	}
	return call
}

// enteredAt is the procedure that the goroutine is in, the innermost one if a function of
// the program has called another; "" if it is in none.
func enteredAt() string {
	var list [64]uintptr
	for skip := 2; ; skip += len(list) {
		n := runtime.Callers(skip, list[:])
		if n == 0 {
			return ""
		}
		for frames := runtime.CallersFrames(list[:n]); ; {
			f, more := frames.Next()
			if i := strings.Index(f.Function, entry); i >= 0 {
				return f.Function[i+len(entry)-len("MPI"):]
			}
			if name := methods()[f.Function]; name != "" {
				return name
			}
			if !more {
				break
			}
		}
	}
}

// methods are the procedures that are methods of Lib, without a function that is named after
// them, by the names of the methods. One that several procedures share is left out.
var methods = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for i, do := range calls {
		if do != nil {
			method := runtime.FuncForPC(reflect.ValueOf(do).Pointer()).Name()
			if _, shared := names[method]; shared {
				names[method] = ""
			} else if strings.Contains(method, "(*Lib)") {
				names[method] = procedures[i].String()
			}
		}
	}
	return names
})
