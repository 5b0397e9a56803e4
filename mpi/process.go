package mpi

import (
	"errors"
	"fmt"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/callsite"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/joined"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/world"
)

// Version and Subversion are the version of the standard that Halo implements; the package
// documentation lists what is missing.
//
// C: MPI_VERSION and MPI_SUBVERSION, section 9.1.1.
const (
	Version    = 5
	Subversion = 0
)

// ThreadLevel is a level of thread support.
//
// C: MPI_THREAD_SINGLE and so on, section 11.2.2.
type ThreadLevel int

// The levels of thread support. Halo always provides ThreadMultiple: any goroutine may call any
// function at any time.
//
// C: MPI_THREAD_SINGLE and so on, section 11.2.2.
const (
	ThreadSingle     ThreadLevel = 0
	ThreadFunneled   ThreadLevel = 1024
	ThreadSerialized ThreadLevel = 2048
	ThreadMultiple   ThreadLevel = 4096
)

// process is the state of this OS process as one rank of a job. The mutex is not held while
// callbacks and error handlers run.
type process struct {
	mu        sync.Mutex
	w         *world.World // nil before Init and the first OpenSession
	engine    *engine
	world     *Comm // nil before Init
	self      atomic.Pointer[Comm]
	first     atomic.Pointer[errhandler] // set by InitErrhandler
	files     atomic.Pointer[errhandler] // set by SetDefaultFileErrhandler
	datareps  datareps
	names     atomic.Pointer[func(call.Number, string) string] // set by NameCalls; pairs with nothing: set before there are errors
	locator   atomic.Pointer[callsite.Locator]                 // set by LocateCalls; pairs with nothing: set before there are calls
	locked    atomic.Bool                                      // LockedThreads was called
	several   atomic.Bool                                      // its arguments: this and places
	places    atomic.Int32
	texts     atomic.Pointer[func(*Error)]          // set by DescribeErrors; pairs with nothing, like names
	fault     atomic.Pointer[func(address uintptr)] // set by OnFault
	leavers   atomic.Pointer[atomic.Uint32]         // set by OnLeave, and leave
	leave     atomic.Pointer[func(now bool) bool]
	watchdog  proc.Watchdog                       // set by LockedThreads, before the others
	getenv    atomic.Pointer[func(string) string] // set by Environment; pairs with nothing, like names
	ending    bool                                // Finalize is running or has completed
	fortran   fortranSizes
	finalized bool
}

var current process

// Init joins the job that this process was started in, or makes a world of one process, and
// returns the communicator of all ranks. Collective over the job. ErrOther if it was called
// before in this process; ErrArg if the environment names an error handler that does not exist:
// see Errhandler.
//
// It raises GOMAXPROCS by one, for the goroutines that serve other ranks while this one
// computes. If the node has more than 8 ranks for each core, it sets GOMAXPROCS to 1 instead,
// unless the environment contains GOMAXPROCS.
//
// C: MPI_Init and MPI_Init_thread, section 11.2.
func Init() (*Comm, error) {
	c, err := initialize()
	return c, raise(err)
}

// InitErrhandler is Init with h instead of ErrorsReturn as the error handler of the first
// communicators and of all windows. It exists for bindings for other languages: in C the initial
// handler is ErrorsAreFatal. The environment variable of Errhandler takes precedence.
// ErrErrhandler if h is null.
//
// C: MPI_Init and MPI_Init_thread, section 11.2.
func (internals) InitErrhandler(h Errhandler) (*Comm, error) {
	if h.h == nil {
		return nil, fail(ErrErrhandler, call.InitErrhandler, nil, "error handler is null")
	}
	current.first.Store(h.h)
	return Init()
}

// FirstErrhandler is what InitErrhandler does before it calls Init, for a process that begins with
// a session.
//
// C: MPI_Session_init, section 11.3.1.
func (internals) FirstErrhandler(h Errhandler) { current.first.CompareAndSwap(nil, h.h) }

// ProcessComm returns a communicator that stands for this process alone in calls that take one but
// concern the process, such as AllocMem, for bindings for other languages, in which these calls
// take none. OpenSession or Init must have been called. Nobody communicates on it.
//
// C: none; MPI_Alloc_mem and the like have no communicator.
func (internals) ProcessComm() *Comm {
	current.mu.Lock()
	defer current.mu.Unlock()
	c := &Comm{w: current.w, core: current.w.Self.Unnamed(), fixed: true}
	c.self = c
	c.own = &own{engine: current.engine, kinds: defaultKinds, always: true}
	c.core.Name.Store(new(string))
	c.handler.Store(initialErrhandler())
	return c
}

// LockedThreads tells Halo before Init that the goroutines that will call MPI are locked to
// threads (runtime.LockOSThread), as all goroutines of calls from C are. Calls then sleep, wake
// each other and yield by means of the operating system, since the Go scheduler needs two
// threads to switch to or from a locked goroutine. If several such threads wait at the same
// time, GOMAXPROCS grows so that each can continue. After Init LockedThreads has no effect.
//
// If several is false, at most one such thread is in a call at a time. Init then sets
// GOMAXPROCS, unless the environment has it, to what this thread and the goroutines that serve
// other ranks need, 2 or 3, since threads of other languages compute without using up
// GOMAXPROCS. More threads may still make calls, but they wait for each other.
//
// places is the GOMAXPROCS that the program had before it lowered it, which makes its start take
// less memory; Init then bases its choice on places. 0 means that the program has not lowered
// it.
//
// watchdog, unless it is nil, watches the process in the other language: see proc.Policy.Watchdog.
//
// C: MPI_Init and MPI_Init_thread, section 11.2.
func (internals) LockedThreads(several bool, places int, watchdog proc.Watchdog) {
	current.watchdog = watchdog
	current.several.Store(several)
	current.places.Store(int32(places))
	current.locked.Store(true)
}

// OnFault sets, before Init, a function that is called when a goroutine of the engine accesses
// an address without memory, in a window or in a buffer of a pending operation. The function
// must not return, and the engine's lock may be held when it is called. Without it the Go
// runtime ends the process with stack traces. It exists for libraries whose programs pass
// addresses. After Init it has no effect.
//
// C: none; what a C program sees is SIGSEGV.
func (internals) OnFault(f func(address uintptr)) { current.fault.Store(&f) }

// OnLeave sets, before Init, how a thread leaves a call for good because a handler of a signal wants to: a call that
// waits looks whether leavers is not 0. leave(false) reports whether this thread is one that wants to; leave(true), which is
// called without a lock, does not return then. It exists for libraries in C, whose programs use siglongjmp. After Init it has no effect.
//
// C: none; what a C program sees is siglongjmp.
func (internals) OnLeave(leavers *atomic.Uint32, leave func(now bool) bool) {
	current.leavers.Store(leavers)
	current.leave.Store(&leave)
}

// initialize is Init that does not raise its error.
func initialize() (*Comm, *Error) {
	current.mu.Lock()
	defer current.mu.Unlock()
	if current.world != nil {
		return nil, newError(ErrOther, call.Init, nil, "already initialised: Init may be called once in a process")
	}
	if err := checkInitialErrhandler(call.Init); err != nil {
		return nil, err
	}
	err := current.open(true)
	if err == nil {
		err = current.w.Join()
	}
	if err != nil {
		return nil, initError(err)
	}
	current.world = firstComms(current.w, current.engine)
	current.self.Store(current.world.self)
	return current.world, nil
}

// open connects the process to its job, unless it is connected already. world says that it is
// about to join the world model. The caller holds mu.
func (p *process) open(joins bool) error {
	if p.w != nil {
		return nil
	}
	b, err := joined.Connect(p.names.Load() != nil, joins) // only bindings for C set names
	if err != nil {
		return err
	}
	var fault func(address uintptr)
	var leave func(now bool) bool
	if f := p.leave.Load(); f != nil {
		leave = *f
	}
	if f := p.fault.Load(); f != nil {
		fault = *f
	}
	w, err := world.Open(b, world.Callers{
		Locked: p.locked.Load(), Several: p.several.Load(), Places: int(p.places.Load()), Fault: fault, Leavers: p.leavers.Load(), Leave: leave,
		Watchdog: p.watchdog,
	})
	if err != nil {
		return err
	}
	if os.Getenv(envVerbose) == "1" {
		w.Proc.Lock()
		w.Proc.Report(verbosely)
		if n := w.Proc.Node(); n != nil {
			n.Report(verbosely)
		}
		w.Proc.Unlock()
	}
	p.w, p.engine = w, newEngine(w)
	return nil
}

func initError(err error) *Error {
	c := ErrOther
	var known *class.Error
	if errors.As(err, &known) {
		c = Class(known.Class)
	}
	e := newError(c, call.Init, nil, "%v", err)
	e.cause = err
	return e
}

// Finalize ends the use of MPI: no call that communicates may follow. Collective over the job.
// All operations must be complete: if there are active requests the error is ErrPending, and
// Finalize has done nothing. First it deletes the attributes of self, the last set first; if a
// callback fails, Finalize returns its error.
//
// C: MPI_Finalize, section 11.2.2.
func Finalize() error {
	current.mu.Lock()
	c, again := current.world, current.ending
	current.ending = c != nil
	current.mu.Unlock()
	switch {
	case c == nil:
		return fail(ErrOther, call.Finalize, nil, "called before Init")
	case again:
		return fail(ErrOther, call.Finalize, nil, "called twice")
	}
	err := c.finalize()
	current.mu.Lock()
	current.finalized, current.ending = err == nil, err == nil
	current.mu.Unlock()
	return err
}

// finalize ends the world of c. It deletes the attributes of self first, while MPI can still be
// used.
func (c *Comm) finalize() error {
	err := c.w.Pending(c.w.Model())
	if err != nil {
		c.reportLeftovers(true)
	} else {
		err = c.w.RMA.OpenEpochs(c.w.Model())
	}
	if err == nil {
		err = c.w.Coll.Idle(c.core, call.Finalize)
	}
	if err == nil {
		if err := c.self.attrs.clear(c.self, call.Finalize); err != nil {
			return err
		}
		if e := c.self.left.openFile(c); e != nil { // which a callback above may have closed
			return e.raised()
		}
		c.reportLeftovers(false)
		err = c.w.Close()
	}
	if err != nil {
		return wrap(err, call.Finalize, c, Undefined, Undefined)
	}
	return nil
}

// Initialized reports whether Init has been called.
//
// C: MPI_Initialized, section 11.4.1.
func Initialized() bool {
	current.mu.Lock()
	defer current.mu.Unlock()
	return current.world != nil
}

// Finalized reports whether Finalize has completed.
//
// C: MPI_Finalized, section 11.4.1.
func Finalized() bool {
	current.mu.Lock()
	defer current.mu.Unlock()
	return current.finalized
}

// Main is the simplest main function of a program: it calls Init, fn with the world, and
// Finalize. If one of them fails, Main prints the error and ends the whole job with status 1.
//
// C: MPI_Init, MPI_Finalize and MPI_Abort, sections 11.2 and 9.5.
func Main(fn func(world *Comm) error) {
	c, err := Init()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	err = fn(c)
	if err == nil {
		err = Finalize()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", c.Rank(), err)
		c.w.Abort(1, boot.ErrorAbove)
	}
}

// Self is the communicator that contains only the calling process.
//
// C: MPI_COMM_SELF, section 7.2.4.
func (c *Comm) Self() *Comm { return c.self }

// GetVersion returns the version of the standard that Halo implements.
//
// C: MPI_Get_version, section 9.1.1.
func GetVersion() (version, subversion int) { return Version, Subversion }

// GetLibraryVersion describes this library.
//
// C: MPI_Get_library_version, section 9.1.1.
func GetLibraryVersion() string {
	return fmt.Sprintf("Halo, MPI %d.%d in Go (%s %s/%s)", Version, Subversion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// GetProcessorName names the machine that the process runs on.
//
// C: MPI_Get_processor_name, section 9.1.2.
func GetProcessorName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// QueryThread returns the level of thread support, always ThreadMultiple.
//
// C: MPI_Query_thread, section 11.2.2.
func QueryThread() ThreadLevel { return ThreadMultiple }

// IsThreadMain returns true: goroutines have no identity, and each may make any call. In C and Fortran
// MPI_Is_thread_main is true in the thread that has initialised MPI only.
//
// C: MPI_Is_thread_main, section 11.2.2.
func IsThreadMain() bool { return true }

// started is the origin of Wtime; it never changes.
var started = time.Now()

// Wtime is the time in seconds since some moment in the past, which does not change during the
// life of the process and differs between processes.
//
// C: MPI_Wtime, section 9.6.
func Wtime() float64 { return time.Since(started).Seconds() }

// Wtick is the resolution of Wtime in seconds.
//
// C: MPI_Wtick, section 9.6.
func Wtick() float64 { return 1e-9 }
