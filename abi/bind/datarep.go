package bind

import (
	"fmt"
	"math"
	"runtime"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// conversionFnNull is MPI_CONVERSION_FN_NULL.
const conversionFnNull uintptr = 0

// registerDatarep is MPI_Register_datarep and MPI_Register_datarep_c, which differ in the type of the
// count that conversion functions get.
func (l *Lib) registerDatarep(a args) error {
	extent, state, large := a.word(3), a.word(4), a.large
	if pointer(extent) == nil {
		return l.failFile(nil, mpi.ErrArg, call.RegisterDatarep, "function at %#x", extent)
	}
	convert := func(fn uintptr) func(b mpi.Buffer, file []byte, count, position int) error {
		if fn == conversionFnNull {
			return nil
		}
		return func(b mpi.Buffer, file []byte, count, position int) error {
			return l.convert(fn, state, large, b, file, count, position)
		}
	}
	return mpi.RegisterDatarep(l.base(), text(a.word(0)), mpi.Datarep{
		Extent: func(basic mpi.Datatype) (int, error) {
			words := []uintptr{l.addType(basic), 0, state}
			if code := l.hooks.Invoke(callDatarep_extent_function, extent, words); code != 0 {
				return 0, mpi.Class(code)
			}
			return int(words[1]), nil
		},
		Read: convert(a.word(1)), Write: convert(a.word(2)),
	})
}

// convert calls a conversion function of the program. The function gets a handle of the type, which
// ends with the call unless the program has one.
func (l *Lib) convert(fn, state uintptr, large bool, b mpi.Buffer, file []byte, count, position int) error {
	callback := callDatarep_conversion_function
	if large {
		callback = callDatarep_conversion_function_c
	} else if count > math.MaxInt32 {
		return fmt.Errorf("%d elements, and the function was registered by MPI_Register_datarep, not by MPI_Register_datarep_c", count)
	}
	var code int
	data := l.watch(file)
	l.types.lend(b.Datatype(), func(h handle) {
		code = l.hooks.Invoke(callback, fn, []uintptr{engine.Origin(b), h, uintptr(count), data.address(), uintptr(position), state})
	})
	data.end(l)
	runtime.KeepAlive(file)
	if code != 0 {
		return mpi.Class(code)
	}
	return nil
}
