package mpi

import (
	"errors"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// Window is memory that each member of a communicator makes accessible to the others for
// one-sided communication: Put, Get, Accumulate and the like, in which the target's program
// takes no part. Copies of the pointer refer to the same window. The operations are methods of
// Win, for elements of one type, and of Untyped, for Buffers.
//
// Memory may be accessed in epochs, between two calls that synchronise. There are three ways:
//
//	Fence                              all members at once
//	Post, Start, Complete, Wait        groups of targets and origins
//	Lock, Unlock, LockAll, UnlockAll   the origin alone; with Flush in between
//
// An operation that returns has only begun. It is complete when a Flush, or the call that ends
// the epoch, returns. Until then the program must not change its origin memory, and its results
// are undefined.
//
// The result of conflicting accesses, a put and any other access to the same memory, is
// undefined. Accumulate, GetAccumulate, FetchAndOp and CompareAndSwap on elements of one type
// may conflict with each other: each element is updated atomically, and the updates of one
// origin in the order of its calls.
//
// A call with an invalid argument, or outside of an epoch (ErrRMASync), returns an error and
// changes nothing at the target. Errors that only the target can detect may be returned by the
// call that completes the operation.
//
// C: MPI_Win, section 12.2.
type Window struct {
	v *rma.View
	w *world.World
	// c stands for the window in code that handles communicators: requests, errors and error
	// handlers. No messages are sent on it.
	c       *Comm
	attrs   attributes
	lists   [2]atomic.Pointer[rankList] // last arguments of Post and of Start
	threads threadList

	align     int64       // of this process's memory, for Info
	noncontig atomic.Bool // whether shares of shared memory may be apart, for Info; set by SetInfo, read by Info
	asserted  assertedKinds
}

// Win is a Window of elements of T, a type that TypeOf accepts. Its methods move slices.
// Displacements are in elements if the displacement unit of the target is the size of T. Win is
// a small value and has all methods of Window; none of its own has the name of a method of
// Window. Any window can be used as a Win: Win[float64]{Window: w}.
//
// C: MPI_Win, section 12.2.
type Win[T any] struct{ *Window }

// Untyped is a Window for data of any layout: its methods move Buffers, and take the datatype of
// the elements at the target. Like Win it is a small value and has all methods of Window.
//
// C: MPI_Win, section 12.2.
type Untyped struct{ *Window }

// Untyped is w as a window for data of any layout.
//
// C: MPI_Win, section 12.2.
func (w *Window) Untyped() Untyped { return Untyped{w} }

// newWindow makes the window of a view that the engine has made for members of c.
func newWindow(c *Comm, v *rma.View, s *rma.Spec) *Window {
	w := &Window{v: v, w: c.w, c: &Comm{w: c.w, core: v.Comm(), self: c.self}, align: s.Align}
	w.noncontig.Store(s.Noncontig)
	if w.align == 0 {
		w.align = store.Align
	}
	w.c.win = w
	w.c.core.Name.Store(new(string))
	w.c.handler.Store(initialErrhandler())
	if w.checks() {
		v.Checker().Made(located(call.None))
	}
	w.enter()
	return w
}

// enter records a window where that is needed.
func (w *Window) enter() {
	if l := w.c.self.left; l != nil {
		l.window(w)
	}
	if s := w.c.self.session; s != nil {
		s.addWindow(w)
	}
}

// Name is the name that SetName gave, or empty if it was not called.
//
// C: MPI_Win_get_name, section 7.8.
func (w *Window) Name() string {
	if w == nil {
		return ""
	}
	return w.c.Name()
}

// SetName names the window in this process, for errors and tools. The name has at most 127
// bytes. The call is local and has no other effect. ErrArg if the name is longer.
//
// C: MPI_Win_set_name, section 7.8.
func (w *Window) SetName(name string) error {
	if err := w.usable(call.WinSetName); err != nil {
		return err
	}
	if len(name) > maxName {
		return fail(ErrArg, call.WinSetName, w.c, "name of %d bytes, the limit is %d", len(name), maxName)
	}
	w.c.core.Name.Store(&name)
	return nil
}

// Group is the group of the window's members, which is that of the communicator that the window
// was made from.
//
// C: MPI_Win_get_group, section 12.2.6.
func (w *Window) Group() (Group, error) {
	if err := w.usable(call.WinGetGroup); err != nil {
		return Group{}, err
	}
	return w.c.group(w.c.core.Members), nil
}

// Free frees the window and the memory that it allocated: no call on it may follow in this
// process, and no access to the memory of other members. It waits until all members have called
// it, so that every operation is complete. First it deletes the attributes, the last set first.
// If a callback fails, Free returns its error and the window remains, with that attribute and
// those set before it. ErrRMASync, without any effect, if an epoch is open. ErrProcFailed if a
// member has died; the window is freed nevertheless. Collective over the window.
//
// C: MPI_Win_free, section 12.2.5.
func (w *Window) Free() error {
	if err := w.usable(call.WinFree); err != nil {
		return err
	}
	if w.c.win != w {
		return fail(ErrWin, call.WinFree, w.c, "the window of a thread is freed with the window it was made from")
	}
	if err := w.v.Idle(); err != nil {
		if w.checks() {
			err = w.v.Checker().Open(err)
		}
		return w.failed(err, call.WinFree, Undefined)
	}
	if err := w.attrs.clear(w, call.WinFree); err != nil {
		return err
	}
	w.endThreads()
	var failed error
	if err := w.v.Free(); err != nil {
		e := w.failed(err, call.WinFree, Undefined)
		var busy *coll.Clash
		if e.Class == ErrRMASync || e.Class == ErrRequest || errors.As(err, &busy) { // another goroutine has begun an epoch, a wait, or a Free
			return e
		}
		failed = e
	}
	w.c.freed.Store(true)
	if s := w.c.self.session; s != nil {
		s.removeWindow(w)
	}
	return failed
}

// usable returns the error of a call on w if w cannot be used, else nil. The fastest paths do
// not call it, since a freed window has no open epoch.
func (w *Window) usable(k call.Number) *Error {
	switch {
	case w == nil:
		return fail(ErrWin, k, nil, "window is nil")
	case w.c.freed.Load() && w.c.self.session.over():
		return failGone(ErrWin, k, w.c, "the session of the window has been finalized")
	case w.c.freed.Load() && (w.c.handling.Load() == 0 || communicates(k)):
		return failGone(ErrWin, k, w.c, "window has been freed")
	case w.w.SlowPath():
		return w.c.usableSlowPath(k)
	}
	return nil
}

// slowPath reports whether a call must not take its fast path.
func (w *Window) slowPath() bool { return w == nil || w.w.SlowPath() }

// failed is the error of a call on w that the engine refuses or whose arguments are invalid;
// target is Undefined if the call has none.
func (w *Window) failed(err error, k call.Number, target int) *Error {
	if e := w.usable(k); e != nil {
		return e
	}
	return describe(err, k, w.c, target, Undefined).raised()
}

// done is the result of a call that the engine has carried out or refused.
func (w *Window) done(err error, k call.Number, target int) error {
	if err == nil {
		return nil
	}
	return w.failed(err, k, target)
}
