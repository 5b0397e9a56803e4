package bind

import (
	"runtime"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// startGrequest is MPI_Grequest_start.
func (l *Lib) startGrequest(a args) error {
	if err := l.need(call.GrequestStart, a, "request", 4); err != nil {
		return err
	}
	for i := range 3 {
		if err := l.function(call.GrequestStart, a.word(i)); err != nil {
			return err
		}
	}
	query, free, cancel, extra := a.word(0), a.word(1), a.word(2), a.word(3)
	answer := func(code int) error {
		if code != 0 {
			return mpi.Class(code)
		}
		return nil
	}
	q := l.base().StartGrequest(mpi.Grequest{
		Query: func(st *mpi.Status) error {
			s := new(status)
			*s = empty
			var pins runtime.Pinner
			pins.Pin(s)
			defer pins.Unpin()
			told := l.watch(unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s)))
			code := l.hooks.Invoke(callGrequest_query_function, query, []uintptr{extra, told.address()})
			told.end(l)
			*st = s.load()
			return answer(code)
		},
		Free: func() error { return answer(l.hooks.Invoke(callGrequest_free_function, free, []uintptr{extra})) },
		Cancel: func(complete bool) error {
			words := []uintptr{extra, 0}
			if complete {
				words[1] = 1
			}
			return answer(l.hooks.Invoke(callGrequest_cancel_function, cancel, words))
		},
	})
	if err := l.setRequest(a, 4, q); err != nil {
		return err
	}
	l.generalized.Store(*(*handle)(a.result(4)), q)
	return nil
}

// completeGrequest is MPI_Grequest_complete. It accepts a handle whose request has been freed,
// because programs keep a copy of the handle for this call.
func (l *Lib) completeGrequest(h handle) error {
	q, ok := l.generalized.LoadAndDelete(h)
	if !ok {
		return l.fail(mpi.ErrRequest, call.GrequestComplete, "%#x is no generalized request that is to be completed", h)
	}
	return q.(mpi.Request).Complete()
}
