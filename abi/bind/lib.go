package bind

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/mpi"
)

// Hooks holds the functions that need C.
type Hooks struct {
	// Malloc returns memory of C that is never freed.
	Malloc func(size uintptr) unsafe.Pointer
	// Invoke calls a function of the program: callback is the number of its type in
	// callbacks.csv, words are its arguments. For a parameter that points to a number or
	// handle, the word holds that value, and after the call the value that the function has
	// stored.
	Invoke func(callback int, function uintptr, words []uintptr) int
	// Thread returns a small number of the calling thread that no other thread has at the same
	// time, or a negative number if there is none. nil: threads have no numbers.
	Thread func() int
	// BecomeMain makes the calling thread the main thread of MPI in place of an earlier one, and IsMain
	// reports whether it is that. nil: calls do not come from threads of the program.
	BecomeMain func()
	IsMain     func() bool
	// Lend returns memory of C, which Return frees, for functions of the program: see watched. nil: they get
	// memory of Go.
	Lend   func(size uintptr) unsafe.Pointer
	Return func(unsafe.Pointer)
	// Caller returns the return address in the program of the call that this thread carries
	// out, or 0 if none is recorded. Calls record it in checking mode. It may be nil.
	Caller func() uintptr
	// Fast is the fast path in C; nil: there is none.
	Fast Fast
	// Fault records the address of a faulting access, and whether it was a store. C ends the
	// process by that access when Go returns Fatal. EndByFault ends it where no call of C is
	// left to return to.
	Fault      func(address uintptr, store bool)
	EndByFault func()
	// Leavers counts the threads whose calls a handler of the program leaves by siglongjmp. Leave does not return in
	// such a thread. nil: handlers return.
	Leavers *atomic.Uint32
	Leave   func(now bool) bool
	// Watchdog watches a process in polling mode: proc.Policy.Watchdog. nil: a goroutine does.
	Watchdog proc.Watchdog
	// Variable returns the value of an environment variable as C sees it, "" if it is not set. nil: as Go
	// sees it, which has the environment in which the process began.
	Variable func(name string) string
	// Places is the value of GOMAXPROCS before package abi/oneplace lowered it until MPI_Init.
	// 0: nothing lowered it.
	Places int
	// Several is called before the engine starts if several threads may be in calls at the same time. It may be nil.
	Several func()
}

// Lib is the library in one process.
type Lib struct {
	hooks Hooks

	comms       named[*mpi.Comm]
	groups      table[mpi.Group]
	types       typeTable
	typeRecords typeRecords // guarded by the lock of types
	ops         table[mpi.Op]
	requests    table[mpi.Request]
	messages    table[mpi.Message]
	wins        named[*mpi.Window]
	files       named[*mpi.File]
	infos       table[*mpi.Info]
	sessions    named[*mpi.Session]
	errhandlers errhandlers
	keyvals     keyvals
	attributes  attributes
	destructors destructors
	fortran     fortran
	allOnes     bool // Fortran's true has all bits set: see setBooleans. Constant after prepare
	hooked      requestHooks
	splits      sync.Map // *mpi.File to splitBegun, in checking mode
	generalized sync.Map // handle to mpi.Request, of incomplete generalized requests

	tools   tools
	sources sources
	made    []*makers // in checking mode

	origins    origins
	predefined [lastPredefined - firstPredefined + 1]mpi.Datatype
	flats      [lastPredefined - firstPredefined + 1]*flat // nil for types other than numbers
	basics     [lastPredefined - firstPredefined + 1]basic

	state  atomic.Int32
	world  atomic.Pointer[mpi.Comm] // nil before Init
	parent handle                   // of the processes that have spawned this one; set before state is running

	starting sync.Mutex               // guards prepared, begun and main
	prepared bool                     // prepare was called
	begun    bool                     // begin was called
	main     bool                     // a thread became the main thread of MPI
	open     atomic.Int32             // sessions that are open
	process  atomic.Pointer[mpi.Comm] // stands for the process in sessions, nil before the first
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
	l.sessions.kind, l.files.kind = kindSession, kindFile
	return l
}

// checking reports whether the process is in checking mode.
func checking() bool { return os.Getenv("HALO_CHECK") == "1" }

// procedure describes a procedure of the table. It contains no pointers: the loader relocates
// pointers, and each process has its own copy of every page that the loader writes.
type procedure struct {
	by      call.Number
	text    uint16 // offset in texts of the names of its addresses
	buffers uint8  // length of these: see addresses
	always  bool   // also allowed before Init and after Finalize

	// 1 + the number of the argument that is: the communicator on which errors of the call are
	// raised, the window, file or session on which they are. 0: none.
	comm, win, file, session uint8
}

// implementation carries out a procedure; it is nil for those that C does alone.
type implementation func(l *Lib, a args) error

// String returns the name of p.
func (p *procedure) String() string { return p.by.C() }

// addresses returns the names of the parameters of p that are addresses of the program's
// memory, with "-" for other parameters, in their order. It is "" if there are none.
func (p *procedure) addresses() string { return texts[p.text:][:p.buffers] }

// Call calls a procedure by its number in the table, and returns the error code, or Fatal.
func (l *Lib) Call(number int, large bool, words unsafe.Pointer) int {
	return l.CallIn(0, number, large, words)
}

// CallIn is Call for a caller in a floating-point environment, which affects operations.
func (l *Lib) CallIn(env op.Env, number int, large bool, words unsafe.Pointer) (result int) {
	defer l.caught(number, args{words, large, env}, &result)
	p, do := &procedures[number], calls[number]
	switch {
	case l.state.Load() != running && !p.always && l.open.Load() == 0:
		return code(l.idle(p.by))
	case do == nil:
		return code(l.fail(mpi.ErrUnsupportedOperation, p.by, "C does this without the engine"))
	}
	return code(do(l, args{words, large, env}))
}

// code returns the error code of C for an error.
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

// newError returns an error for which no error handler has been called.
func newError(cl mpi.Class, by call.Number, format string, v ...any) *mpi.Error {
	return &mpi.Error{Class: cl, Call: by.Name(true), Peer: mpi.Undefined, Tag: mpi.Undefined, Detail: fmt.Sprintf(format, v...)}
}

// fail raises an error that belongs to no object.
func (l *Lib) fail(cl mpi.Class, by call.Number, format string, v ...any) error {
	return l.failOn(nil, cl, by, format, v...)
}

// failOn raises an error on a communicator.
func (l *Lib) failOn(c *mpi.Comm, cl mpi.Class, by call.Number, format string, v ...any) error {
	e := newError(cl, by, format, v...)
	if c != nil {
		return c.CallErrhandler(e)
	}
	if !l.usable() {
		return l.outside(e)
	}
	return mpi.CallErrhandler(e)
}

// failIn raises an error of a call on the communicator, window, file or session among its arguments, if
// there is one.
func (l *Lib) failIn(by call.Number, a args, cl mpi.Class, format string, v ...any) error {
	p := find(by.C())
	if p == nil || !l.usable() {
		return l.fail(cl, by, format, v...)
	}
	if p.comm > 0 {
		if c := l.commOf(a.word(int(p.comm) - 1)); c != nil {
			return l.failOn(c, cl, by, format, v...)
		}
	}
	if p.win > 0 {
		if w, ok := l.wins.get(a.word(int(p.win) - 1)); ok {
			return l.failWin(w, cl, by, format, v...)
		}
	}
	if p.file > 0 {
		f, _ := l.files.get(a.word(int(p.file) - 1))
		return l.failFile(f, cl, by, format, v...)
	}
	if p.session > 0 {
		if s, ok := l.sessions.get(a.word(int(p.session) - 1)); ok {
			return s.CallErrhandler(newError(cl, by, format, v...))
		}
	}
	return l.fail(cl, by, format, v...)
}

// failWin raises an error on a window.
func (l *Lib) failWin(w *mpi.Window, cl mpi.Class, by call.Number, format string, v ...any) error {
	return w.CallErrhandler(newError(cl, by, format, v...))
}

// usable reports whether MPI can be used: the world model, or a session.
func (l *Lib) usable() bool { return l.state.Load() == running || l.open.Load() > 0 }

// base returns the communicator that stands for the process in calls without an object: that of
// the process alone, which exists in sessions, too.
func (l *Lib) base() *mpi.Comm {
	if l.state.Load() == running {
		return l.world.Load().Self()
	}
	return l.process.Load()
}

// idle raises the error of a call before Init or after Finalize.
func (l *Lib) idle(by call.Number) error {
	if l.state.Load() == beforeInit {
		return l.outside(newError(mpi.ErrOther, by, "called before MPI_Init and MPI_Session_init"))
	}
	return l.outside(newError(mpi.ErrOther, by, "called after MPI_Finalize"))
}

// outside raises an error while there is no communicator with an error handler. It ends the
// process, unless the initial error handler returns errors.
func (l *Lib) outside(e *mpi.Error) error {
	if os.Getenv("HALO_INITIAL_ERRHANDLER") != "mpi_errors_return" {
		fmt.Fprintln(os.Stderr, e)
		os.Exit(min(max(int(e.Class), 1), 255))
	}
	return e
}

// result is an output parameter: its number and name.
type result struct {
	i    int
	name string
}

// needs is need for several results.
func (l *Lib) needs(by call.Number, a args, results ...result) error {
	for _, r := range results {
		if err := l.need(by, a, r.name, r.i); err != nil {
			return err
		}
	}
	return nil
}

// need raises an error unless argument i is an address to which a result can be stored.
func (l *Lib) need(by call.Number, a args, name string, i int) error {
	if a.result(i) == nil {
		return l.failIn(by, a, mpi.ErrArg, "%s is %#x, which is no address of a result", name, a.word(i))
	}
	return nil
}
