package bind

import (
	"cmp"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/cname"
)

// entry is the prefix of the names of the generated functions that Call calls. The name of the procedure
// follows it, with the MPI that ends the prefix.
const entry = "abi/bind.doMPI"

// nameOf returns the name in C of a call of package mpi that has failed: the procedure that the
// program has called, unless that procedure only waits for an operation that another one has
// started. nameOf finds the procedure on the stack, so that successful calls need not record
// it. An error that a library has made keeps its name.
func nameOf(by call.Number, name string) string {
	if by == call.None {
		return name
	}
	entered := enteredAt()
	if strings.Contains(cname.Plain(entered), strings.ToLower(name)) {
		return entered
	}
	return cmp.Or(by.C(), entered, name)
}

// enteredAt returns the procedure that the goroutine is in, or "" if it is in none. If a
// callback of the program has called another procedure, it returns that one.
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

// methods maps the names of methods of Lib that implement a procedure directly, without a
// generated function, to the procedures. A method that several procedures share maps to "".
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
