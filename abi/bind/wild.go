package bind

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/mpi"
)

// Fatal is what Call, Await and Wild return instead of an error code when the process has to end
// by the fault that Hooks.Fault has recorded. C ends the process inside the call, so that a core
// dump shows the caller. C has the same number (HALO_FATAL).
const Fatal = -2

// FaultsArePanics turns memory faults in Go code of the calling thread into panics. caught
// recovers such a panic and ends the process.
func FaultsArePanics() { debug.SetPanicOnFault(true) }

// Wild is called by C instead of a call whose buffer, the parameter with the given number, has
// no accessible memory at address. It raises the error and returns its code, or Fatal where
// errors are fatal.
func (l *Lib) Wild(number int, large bool, words unsafe.Pointer, parameter int, name string, address uintptr, store bool) int {
	p, a := &procedures[number], args{words, large, 0}
	e := newError(mpi.ErrBuffer, p.by, "%s", wildText(name, a.word(parameter), address, store))
	c, w := l.concerned(p, a)
	if p.file > 0 {
		f, _ := l.files.get(a.word(int(p.file) - 1))
		if !l.endsProcessOf(f) {
			return code(l.raiseFile(f, e))
		}
		l.endByFault(e, address, store)
		return Fatal
	}
	if l.endsProcess(c, w) {
		l.endByFault(e, address, store)
		return Fatal
	}
	switch {
	case w != nil:
		return code(w.CallErrhandler(e))
	case c != nil:
		return code(c.CallErrhandler(e))
	}
	return code(mpi.CallErrhandler(e))
}

// wildText describes the error of a buffer.
func wildText(name string, buffer, address uintptr, store bool) string {
	access := "read"
	if store {
		access = "written"
	}
	if buffer == address {
		return fmt.Sprintf("%s is %#x, where no memory can be %s", name, address, access)
	}
	return fmt.Sprintf("%s is %#x, and its memory at %#x cannot be %s", name, buffer, address, access)
}

// concerned returns the communicator or window among the arguments of a call; both may be nil.
func (l *Lib) concerned(p *procedure, a args) (*mpi.Comm, *mpi.Window) {
	if p.comm > 0 {
		return l.commOf(a.word(int(p.comm) - 1)), nil
	}
	if p.win > 0 {
		w, _ := l.wins.get(a.word(int(p.win) - 1))
		return nil, w
	}
	return nil, nil
}

// fatal reports whether an error handler ends the process.
func fatal(h mpi.Errhandler, err error) bool {
	return err != nil || h == mpi.ErrorsAreFatal || h == mpi.ErrorsAbort
}

// endsProcessOf is endsProcess for a file, nil for none.
func (l *Lib) endsProcessOf(f *mpi.File) bool {
	if f != nil {
		return fatal(f.Errhandler())
	}
	return fatal(mpi.DefaultFileErrhandler(), nil)
}

// endsProcess reports whether the error handler of a communicator or window, or of errors that
// belong to neither, ends the process.
func (l *Lib) endsProcess(c *mpi.Comm, w *mpi.Window) bool {
	world := l.world.Load()
	switch {
	case w != nil:
		return fatal(w.Errhandler())
	case c != nil:
		return fatal(c.Errhandler())
	case world == nil:
		return true
	}
	return fatal(world.Self().Errhandler()) && fatal(world.Errhandler())
}

// endByFault prints why the process ends, and tells C the fault by which to end it.
func (l *Lib) endByFault(e error, address uintptr, store bool) {
	rank := ""
	if world := l.world.Load(); world != nil {
		rank = fmt.Sprintf("rank %d: ", world.Rank())
	}
	fmt.Fprintf(os.Stderr, "%s%v\n", rank, e)
	l.hooks.Fault(address, store)
}

// caught is deferred by the functions that C calls. A fault while Go accesses memory of the
// program ends the process, like a fault that C finds. number is negative where the procedure is
// not known. caught calls no error handler, since the engine lock may be held. If GOTRACEBACK is
// set, it panics again, so that Go prints its traces.
func (l *Lib) caught(number int, a args, result *int) {
	r := recover()
	if r == nil {
		return
	}
	address, ok := faultAddress(r)
	if !ok || os.Getenv("GOTRACEBACK") != "" {
		panic(r)
	}
	by := call.AnyCollective
	if number >= 0 {
		by = procedures[number].by
	}
	store, access := readable(address), "read"
	if store {
		access = "written"
	}
	detail := fmt.Sprintf("memory at %#x, which the call accesses, cannot be %s", address, access)
	if address == 0 {
		detail = "the call accesses an address that no memory can have"
	}
	buffer, at := nearest(number, a, address)
	if base, exposed := l.exposed(address, access); exposed != nil && at < base {
		// Operations of other processes access this memory, whatever call this process is in.
		l.endByFault(exposed, address, store)
		*result = Fatal
		return
	}
	if buffer != "" {
		detail = fmt.Sprintf("%s is %#x, and memory at %#x cannot be %s", buffer, at, address, access)
	}
	l.endByFault(newError(mpi.ErrBuffer, by, "%s", detail), address, store)
	*result = Fatal
}

// exposed returns the error of an access to memory of a window that has been unmapped or is not
// writable, and the base address of that memory. e is nil if no window contains the address.
// exposed does not take the engine lock, which may be held.
func (l *Lib) exposed(address uintptr, access string) (base uintptr, e error) {
	l.wins.handles.Range(func(key, _ any) bool {
		w := key.(*mpi.Window)
		mem := w.Untyped().Local()
		from := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
		if address-from >= uintptr(len(mem)) {
			return true
		}
		name := ""
		if n := w.Name(); n != "" {
			name = fmt.Sprintf(" %q", n)
		}
		base = from
		e = fmt.Errorf("mpi: memory at %#x cannot be %s: byte %d of the %d that this rank exposes at %#x in window%s, where it must stay until MPI_Win_free (%v)",
			address, access, address-from, len(mem), from, name, mpi.ErrBuffer)
		return false
	})
	return base, e
}

// nearest returns the buffer among the arguments of a call that begins at the highest address
// not above the given one; name is "" if there is none.
func nearest(number int, a args, address uintptr) (name string, at uintptr) {
	if number < 0 {
		return "", 0
	}
	for i, field := range strings.Fields(procedures[number].addresses()) {
		if field == "-" {
			continue
		}
		if w := a.word(i); w >= firstPage && w <= address && w > at {
			name, at = field, w
		}
	}
	return name, at
}

// readable reports whether memory at an address can be read. If it can, a faulting access to it
// was a store.
func readable(address uintptr) bool { return sys.Readable(unsafe.Slice((*byte)(pointer(address)), 1)) }

// faultAddress returns the address of a fault that has become a panic.
func faultAddress(r any) (uintptr, bool) {
	e, ok := r.(runtime.Error)
	if !ok {
		return 0, false
	}
	at, ok := e.(interface{ Addr() uintptr })
	if !ok {
		return 0, false
	}
	return at.Addr(), true
}

// ServiceFault ends the process after a fault in a goroutine of the engine: in memory of a
// window, or of an operation in progress.
func (l *Lib) ServiceFault(address uintptr) {
	store, access := readable(address), "read"
	if store {
		access = "written"
	}
	_, e := l.exposed(address, access)
	if e == nil {
		e = fmt.Errorf("mpi: memory at %#x, of a window or of an operation that is under way, cannot be %s (%v)", address, access, mpi.ErrBuffer)
	}
	l.endByFault(e, address, store)
	l.hooks.EndByFault()
}
