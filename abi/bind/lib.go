// Package bind is what the symbols of the C library call: it takes arguments as C has them,
// calls package mpi, and stores the results. It knows no C compiler; what only that can do,
// such as calling functions of the program, is in Hooks.
//
// The functions of the procedures are generated from the table of package abi; what is
// written by hand is what C has and Go has not: handles, statuses in memory of the program,
// MPI_IN_PLACE, attributes that are addresses.
package bind

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/mpi"
)

// Hooks are what only C can do.
type Hooks struct {
	// Malloc returns memory of C that stays until the end.
	Malloc func(size uintptr) unsafe.Pointer
	// Invoke calls a function of the program: callback is its type's number in
	// callbacks.csv, words its arguments. Parameters that point to a number or handle
	// have that as word, and it is what the function has made of it afterwards.
	Invoke func(callback int, function uintptr, words []uintptr) int
	// Thread is a small number of the calling thread, which no other one has at the same
	// time, below 0 if there is none; nil: threads are all alike.
	Thread func() int
	// Caller is where in the program the call returns to that this thread is carrying out, 0 if
	// none is noted: they are in the checking mode. nil: nothing is.
	Caller func() uintptr
	// Fast is what does without Go what it can; nil: nothing does.
	Fast Fast
	// Fault takes the address of an access, a store or not, by which the process has to end as
	// soon as C has Fatal from Go, and EndByFault ends it where no call is to return to.
	Fault      func(address uintptr, store bool)
	EndByFault func()
	// Places is what GOMAXPROCS would be from the start if it had not been lowered until MPI_Init:
	// see package abi/oneplace. 0: it has not.
	Places int
}

// Lib is the library in one process.
type Lib struct {
	hooks Hooks

	comms       named[*mpi.Comm]
	groups      table[mpi.Group]
	types       typeTable
	typeRecords typeRecords // under the lock of types
	ops         table[mpi.Op]
	requests    table[mpi.Request]
	messages    table[mpi.Message]
	wins        named[*mpi.Window]
	infos       table[*mpi.Info]
	syncs       named[mpi.Sync] // that Fortran has numbers of
	errhandlers errhandlers
	keyvals     keyvals
	attributes  predefined
	fortran     fortran
	generalized sync.Map // handle to mpi.Request, of those that are not complete

	tools   tools
	sources sources
	made    []*makers // in the checking mode

	origins    origins
	predefined [lastPredefined - firstPredefined + 1]mpi.Datatype
	flats      [lastPredefined - firstPredefined + 1]*flat // nil of those that are no numbers
	basics     [lastPredefined - firstPredefined + 1]basic

	state atomic.Int32
	world atomic.Pointer[mpi.Comm] // nil before Init
}

// The states of the library.
const (
	beforeInit = iota
	running
	finalized
)

// New makes the library.
func New(h Hooks) *Lib {
	l := &Lib{hooks: h}
	l.comms.kind, l.groups.kind, l.types.kind = kindComm, kindGroup, kindType
	l.ops.kind, l.requests.kind, l.messages.kind = kindOp, kindRequest, kindMessage
	l.wins.kind, l.infos.kind, l.errhandlers.kind = kindWin, kindInfo, kindErrhandler
	l.tools.sessions.kind = kindSession
	l.syncs.kind = kindSync
	return l
}

// checking reports whether the process is in the checking mode.
func checking() bool { return os.Getenv("HALO_CHECK") == "1" }

// procedure is one of the standard. It has no pointers: the loader writes into each page of the
// library that has some, and each process has its own copy of such a page.
type procedure struct {
	text          uint16 // where its name begins in texts
	name, buffers uint8  // the length of the name, and of what follows it: see addresses
	always        bool   // also before Init and after Finalize

	// 1 + the number of the argument that is the communicator or window which hears of errors
	// of the call itself, 0 if none is; and of the handler for what is to be made.
	comm, win, handler uint8

	makes uint8 // of what the engine does not have: the handles that are results, in outcomes
}

// call is what a procedure does, nil of those that the engine does not have yet.
type call func(l *Lib, a args) error

// String is the name of p.
func (p *procedure) String() string { return texts[p.text:][:p.name] }

// addresses are the names of the parameters of p that are addresses of the program's memory, "-"
// for others, in their order, "" if there are none.
func (p *procedure) addresses() string { return texts[int(p.text)+int(p.name):][:p.buffers] }

// made is an argument that says where a handle is to go, and the null handle of its kind.
type made struct {
	i    int
	null handle
}

// Call calls a procedure by its number in the table, and returns the error code, or Fatal.
func (l *Lib) Call(number int, large bool, words unsafe.Pointer) int {
	return l.CallIn(0, number, large, words)
}

// CallIn is Call by a caller whose floating-point environment decides about operations.
func (l *Lib) CallIn(env op.Env, number int, large bool, words unsafe.Pointer) (result int) {
	defer l.caught(number, args{words, large, env}, &result)
	p, do := &procedures[number], calls[number]
	switch {
	case l.state.Load() != running && !p.always:
		return code(l.idle(p.String()))
	case do == nil:
		return code(l.unsupported(p, args{words, large, env}))
	}
	return code(do(l, args{words, large, env}))
}

// code is what C gets for an error.
func code(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := err.(*mpi.Error); ok {
		return int(e.Class)
	}
	if c, ok := err.(mpi.Class); ok {
		return int(c)
	}
	return int(mpi.ErrOther)
}

// newError is an error that no handler has seen.
func newError(cl mpi.Class, call, format string, v ...any) *mpi.Error {
	return &mpi.Error{Class: cl, Call: call, Peer: mpi.Undefined, Tag: mpi.Undefined, Detail: fmt.Sprintf(format, v...)}
}

// fail raises an error that belongs to no object.
func (l *Lib) fail(cl mpi.Class, call, format string, v ...any) error {
	return l.failOn(nil, cl, call, format, v...)
}

// failOn raises an error of a communicator.
func (l *Lib) failOn(c *mpi.Comm, cl mpi.Class, call, format string, v ...any) error {
	e := newError(cl, call, format, v...)
	if c != nil {
		return c.CallErrhandler(e)
	}
	if l.world.Load() == nil || l.state.Load() != running {
		return l.outside(e)
	}
	return mpi.CallErrhandler(e)
}

// failIn raises an error of a call: of the communicator or window among its arguments, if
// there is one.
func (l *Lib) failIn(call string, a args, cl mpi.Class, format string, v ...any) error {
	p := find(call)
	if p == nil || l.world.Load() == nil {
		return l.fail(cl, call, format, v...)
	}
	if p.comm > 0 {
		if c := l.commOf(a.word(int(p.comm) - 1)); c != nil {
			return l.failOn(c, cl, call, format, v...)
		}
	}
	if p.win > 0 {
		if w, ok := l.wins.get(a.word(int(p.win) - 1)); ok {
			return l.failWin(w, cl, call, format, v...)
		}
	}
	return l.fail(cl, call, format, v...)
}

// failWin raises an error of a window.
func (l *Lib) failWin(w *mpi.Window, cl mpi.Class, call, format string, v ...any) error {
	return w.CallErrhandler(newError(cl, call, format, v...))
}

// idle is the error of a call before Init or after Finalize.
func (l *Lib) idle(name string) error {
	if l.state.Load() == beforeInit {
		return l.outside(newError(mpi.ErrOther, name, "called before MPI_Init"))
	}
	return l.outside(newError(mpi.ErrOther, name, "called after MPI_Finalize"))
}

// outside raises an error where there is no communicator whose handler could be asked: it is
// the end of the process, unless the first handler was chosen to return errors.
func (l *Lib) outside(e *mpi.Error) error {
	if os.Getenv("HALO_INITIAL_ERRHANDLER") != "mpi_errors_return" {
		fmt.Fprintln(os.Stderr, e)
		os.Exit(min(max(int(e.Class), 1), 255))
	}
	return e
}

// result is a parameter that says where a result is to go, by its number and name.
type result struct {
	i    int
	name string
}

// needs is need for several results.
func (l *Lib) needs(call string, a args, results ...result) error {
	for _, r := range results {
		if err := l.need(call, a, r.name, r.i); err != nil {
			return err
		}
	}
	return nil
}

// need fails unless a result is wanted somewhere.
func (l *Lib) need(call string, a args, name string, i int) error {
	if a.result(i) == nil {
		return l.failIn(call, a, mpi.ErrArg, "%s is %#x, which is no address of a result", name, a.word(i))
	}
	return nil
}
