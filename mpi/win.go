package mpi

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	heap "github.com/halo-mpi/halo/internal/memory"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// Window is memory that each member of a communicator has opened to the others, for
// Put, Get, Accumulate and their like: one-sided communication, in which the target's
// program takes no part, whatever it does meanwhile. Copies of the pointer mean the
// same window. Operations are methods of Win, for elements of one type, and of Untyped, for Buffers.
//
// Memory may be accessed in epochs, between two calls that synchronise. There are three
// ways:
//
//	Fence                              all members at once
//	Post, Start, Complete, Wait        groups of targets and origins
//	Lock, Unlock, LockAll, UnlockAll   the origin alone; with Flush in between
//
// An operation that returns has begun. It is complete when the call returns that ends
// the epoch, or a Flush: until then the memory at the origin belongs to it, and what
// it has fetched is not there.
//
// Of conflicting accesses, a put and any other access to the same memory, the outcome
// is undefined. Accumulate, GetAccumulate, FetchAndOp and CompareAndSwap on elements of
// one type may conflict with each other: each element is updated as a whole, and those
// of one origin in the order of the calls.
//
// What is wrong with arguments, and with the epoch (ErrRMASync), is an error of the call
// that changes nothing at the target. What can only be found at the target may be that
// of the call that completes the operation.
//
// C: MPI_Win, section 12.2.
type Window struct {
	v *rma.View
	w *world.World
	// c stands for the window where others deal with communicators: in requests, errors and
	// error handlers. Nobody can send on it.
	c       *Comm
	attrs   attributes
	lists   [2]atomic.Pointer[rankList] // of Post and Start, the last that each was given
	threads threadList

	align     int64       // of its own memory, as info has it
	noncontig atomic.Bool // so are the members' shares of shared memory; last set by SetInfo, read by Info
}

// Win is a Window of elements of T, a type that TypeOf accepts: what its methods move
// are slices, and displacements count elements, as far as the displacement unit of the
// target is the size of T. It is a small value, and all methods of Window are its, too: none of
// its own has the name of one of Window. Any window can be seen so: Win[float64]{Window: w}.
//
// C: MPI_Win, section 12.2.
type Win[T any] struct{ *Window }

// Untyped is a Window for data of any layout: its methods move Buffers, and say what elements
// they are at the target. It is a small value, and all methods of Window are its, too, as with Win.
//
// C: MPI_Win, section 12.2.
type Untyped struct{ *Window }

// Untyped is w for data of any layout.
//
// C: MPI_Win, section 12.2.
func (w *Window) Untyped() Untyped { return Untyped{w} }

// newWindow is the window of a view that the engine has just made for members of c.
func newWindow(c *Comm, v *rma.View, s *rma.Spec) *Window {
	w := &Window{v: v, w: c.w, c: &Comm{w: c.w, core: v.Comm(), self: c.self}, align: s.Align}
	w.noncontig.Store(s.Noncontig)
	if w.align == 0 {
		w.align = heap.Align
	}
	w.c.win = w
	w.c.core.Name.Store(new(string))
	w.c.handler.Store(initialErrhandler())
	if w.checks() {
		v.Checker().Made(located(""))
	}
	if l := c.self.left; l != nil {
		l.window(w)
	}
	return w
}

// Name is the name given by SetName, empty if none was.
//
// C: MPI_Win_get_name, section 7.8.
func (w *Window) Name() string {
	if w == nil {
		return ""
	}
	return w.c.Name()
}

// SetName names the window in this process, for errors and tools. At most 127 bytes;
// it is local and has no other effect. A longer one is ErrArg.
//
// C: MPI_Win_set_name, section 7.8.
func (w *Window) SetName(name string) error {
	if err := w.usable(callSetName); err != nil {
		return err
	}
	if len(name) > maxName {
		return fail(ErrArg, callSetName.String(), w.c, "name of %d bytes, the limit is %d", len(name), maxName)
	}
	w.c.core.Name.Store(&name)
	return nil
}

// Group is the group of the window's members: that of the communicator that it was
// made of.
//
// C: MPI_Win_get_group, section 12.2.6.
func (w *Window) Group() (Group, error) {
	if err := w.usable(callGroup); err != nil {
		return Group{}, err
	}
	return Group{w.c.core.Members, w.c.self}, nil
}

// Free gives the window up, and the memory that it has brought: no call on it may
// follow in this process, and no access to the memory of others. It waits until all
// members are in it, so that every operation has come to its end. Its attributes are
// deleted first, the last set one before the others; if a callback fails, so does Free,
// and the window lives on with that attribute and those before it. With an open epoch it
// is ErrRMASync, and nothing has happened. If a member has died it is ErrProcFailed, and
// the window is gone all the same. Collective over the window.
//
// C: MPI_Win_free, section 12.2.5.
func (w *Window) Free() error {
	if err := w.usable(callFree); err != nil {
		return err
	}
	if w.c.win != w {
		return fail(ErrWin, callFree.String(), w.c, "the window of a thread is freed with the window it was made from")
	}
	if err := w.v.Idle(); err != nil {
		if w.checks() {
			err = w.v.Checker().Open(err)
		}
		return w.failed(err, callFree, Undefined)
	}
	if err := w.attrs.clear(w, callFree); err != nil {
		return err
	}
	w.endThreads()
	var failed error
	if err := w.v.Free(); err != nil {
		e := w.failed(err, callFree, Undefined)
		var busy *coll.Clash
		if e.Class == ErrRMASync || e.Class == ErrRequest || errors.As(err, &busy) { // another goroutine has begun an epoch, to wait, or a Free
			return e
		}
		failed = e
	}
	w.c.freed.Store(true)
	return failed
}

// usable reports why calls on w are not possible, nil if they are. The shortest ways
// do not ask: on a window that has been freed no epoch is open.
func (w *Window) usable(k call) *Error {
	switch {
	case w == nil:
		return fail(ErrWin, k.String(), nil, "window is nil")
	case w.c.freed.Load():
		return fail(ErrWin, k.String(), w.c, "window has been freed")
	case w.w.SlowPath():
		return w.c.usableSlowPath(k)
	}
	return nil
}

// slowPath reports that the fast path of a call must not be taken.
func (w *Window) slowPath() bool { return w == nil || w.w.SlowPath() }

// failed is what a call on w returns that the engine refuses, or whose arguments are
// wrong; target is Undefined if it has none.
func (w *Window) failed(err error, k call, target int) *Error {
	if e := w.usable(k); e != nil {
		return e
	}
	return describe(err, k, w.c, target, Undefined).raised()
}

// done is what a call returns that the engine has carried out, or refused.
func (w *Window) done(err error, k call, target int) error {
	if err == nil {
		return nil
	}
	return w.failed(err, k, target)
}

// wrong is an error of a class, still to be described.
func wrong(c Class, format string, args ...any) error {
	return &class.Error{Class: class.Class(c), Text: fmt.Sprintf(format, args...)}
}
