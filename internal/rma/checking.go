package rma

import (
	"cmp"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/check"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// Checking mode: package check compares accesses, this file connects it to windows, and
// question.go carries its questions. Window.check is nil unless all members check.

// Check makes this process check one-sided communication with those processes of the job that check,
// too. It is called before anything is sent.
func (e *Engine) Check(checkers []bool) { e.checkers = checkers }

// Locate makes reports describe calls by l. It is called before anything is checked, with the lock held.
func (e *Engine) Locate(l check.Locator) { e.locator = l }

// checksAll reports whether all members of c check, this process among them.
func (e *Engine) checksAll(c *comm.Comm) bool {
	return e.checkers != nil && !slices.ContainsFunc(c.Members, func(m int32) bool { return !e.checkers.Has(int(m)) })
}

// checker returns the checker of a window with the members of c, nil unless all check.
func (w *Window) checker(c *comm.Comm) *check.Window {
	if !w.e.checksAll(c) {
		return nil
	}
	return check.New(w.e.p, checkedWindow{w}, w.flavor == Dynamic, w.e.locator)
}

// Checks reports whether accesses by this view are checked: not those by a memory handle.
func (v *View) Checks() bool { return v.w.check != nil && v.handle == nil }

// ChecksSync reports whether synchronisation by this view is followed: that by a memory handle
// is, as far as it completes operations of the window, which none of thread scope does.
func (v *View) ChecksSync() bool {
	return v.w.check != nil && (v.handle == nil || !v.Options().Thread)
}

// Checker is what checks the accesses of a view for which Checks is true.
func (v *View) Checker() *check.Window { return v.w.check }

// DoChecked is Do in checking mode. It compares the operation with those of others first, and issues
// it only if they do not conflict. An operation that is Remote is not compared: the program may tell
// others that its request is complete, and the checker does not see that.
func (v *View) DoChecked(call check.Call, o *operation.Op, rank int) (*p2p.Request, error) {
	if o.Done == operation.Remote {
		return v.Do(o, rank)
	}
	p, err := v.begin(call, o, rank)
	if err != nil {
		return nil, err
	}
	o.Result = p.Redirect(o.Result)
	r, err := v.Do(o, rank)
	p.Issued(r, err)
	return r, err
}

// begin compares an operation with those of others. It returns nil for one that does nothing or
// fails. It takes the lock, and waits for the target.
func (v *View) begin(call check.Call, x *operation.Op, rank int) (*check.Pending, error) {
	w, size := v.w, x.Size()
	if rank == ProcNull || size == 0 || x.Disp < 0 && w.flavor != Dynamic {
		return nil, nil
	}
	if x.Atomic() && (x.Elem.Size() == 0 || size%int64(x.Elem.Size()) != 0) {
		return nil, nil
	}
	t, err := w.target(rank)
	if err != nil {
		return nil, nil
	}
	epoch := w.epochOf(t)
	lo, hi, err := x.Place.Span(size)
	if epoch == check.NoEpoch || x.Done != operation.None && epoch != check.Lock || err != nil || w.live() != nil {
		return nil, nil
	}
	off, err := t.offset(x.Disp, lo, hi)
	if err != nil {
		return nil, w.check.OutOfRange(call, err)
	}
	a := &check.Access{
		Call: call, Target: rank, Kind: accessKind(x), Epoch: epoch, Op: x.Fn.Bare(), Elem: x.Elem, SameOp: v.Options().SameOp,
		Request: x.Done != operation.None, Notifies: x.Notify != 0, InOrder: v.inOrder(),
		Offset: off, Size: size, Type: x.Place.Type, Count: x.Place.Count,
	}
	if x.Sends() {
		a.Sent = append(a.Sent, x.Origin)
		if x.Compare != nil {
			a.Sent = append(a.Sent, mem.Of(x.Compare))
		}
	}
	if x.Fetches() {
		a.Fetched = x.Result
	}
	return w.check.Begin(a)
}

// accessKind is what an operation does, for the checker.
func accessKind(o *operation.Op) check.Kind {
	switch o.Kind {
	case operation.Put:
		return check.Put
	case operation.Get:
		return check.Get
	}
	return check.Accumulate
}

// epochOf is the kind of epoch that an access of t belongs to, as far as the access is legal.
func (w *Window) epochOf(t *target) check.Epoch {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.epoch() == epochFence:
		return check.Fence
	case w.epoch() == epochStart && t.rec.Gate.Load() != gateClosed:
		return check.Start
	case w.epoch() == epochLockAll || w.epoch() == epochLock && t.rec.Held == heldLocked:
		return check.Lock
	}
	return check.NoEpoch
}

// covered is a rank, or AllTargets, whose operations a call for that rank completes.
func (v *View) covered(rank int) int {
	if rank == check.AllTargets && v.handle != nil {
		return v.handle.rank
	}
	return rank
}

// End is check.Window.End of the operations that a call by this view completes.
func (v *View) End(call check.Call, rank int) *check.Ending {
	return v.w.check.End(call, v.covered(rank))
}

// Released says that operations on a target, or AllTargets, are about to be completed by a call
// that End is not for: they are not compared any more. No lock is held.
func (v *View) Released(rank int) {
	rank = v.covered(rank)
	if v.handle.reaches(rank) { // else the call fails
		v.w.check.Release(rank)
	}
}

// Signals says that synchronisation objects tell a target of operations from now on.
func (v *View) Signals(rank int) {
	if rank != ProcNull {
		v.w.check.Signals(rank)
	}
}

// Access calls fn with n bytes of the own memory, from byte off on, or in a dynamic window
// from an address on: to load, or with store to store, too. In checking mode they are compared with
// the operations of others, those that come while fn runs among them. It takes the lock, but not
// while fn runs.
func (v *View) Access(call check.Call, store bool, off uint64, n int64, fn func(mem []byte)) error {
	w := v.w
	if err := w.live(); err != nil {
		return err
	}
	w.e.p.Lock()
	r, at, err := w.incoming.Place(off, n)
	w.e.p.Unlock()
	switch {
	case err != nil:
		return class.Errorf(class.RMARange, "%v", err)
	case n == 0:
		fn(nil)
		return nil
	}
	mem := r.Mem[at : at+n : at+n]
	if w.check == nil {
		fn(mem)
		return nil
	}
	return w.check.Access(call, store, off, n, func() { fn(mem) })
}

// OpenEpochs returns an error in checking mode if epochs of windows are open whose contexts of selects;
// nil selects all.
func (e *Engine) OpenEpochs(of func(ctx uint64) bool) error {
	if e.checkers == nil {
		return nil
	}
	var list []*Window
	e.p.Lock()
	for _, w := range e.windows {
		if w.check != nil && (of == nil || of(w.id)) {
			list = append(list, w)
		}
	}
	e.p.Unlock()
	slices.SortFunc(list, func(a, b *Window) int { return cmp.Compare(a.id, b.id) })
	for _, w := range list {
		if err := w.idle(); err != nil {
			return w.check.OpenAtEnd(strings.TrimPrefix(string(w.AppendOn(nil)), " on"), err)
		}
	}
	return nil
}

// checkedWindow is a window as its checker uses it.
type checkedWindow struct{ w *Window }

// Comm implements check.Host.
func (c checkedWindow) Comm() *comm.Comm { return c.w.Comm }

// Live implements check.Host.
func (c checkedWindow) Live() error { return c.w.live() }

// Unit implements check.Host.
func (c checkedWindow) Unit(rank int) int64 { return c.w.table.unit.at(rank) }

// Memory implements check.Host.
func (c checkedWindow) Memory(off uint64, n int64) ([]byte, error) {
	r, at, err := c.w.incoming.Place(off, n)
	if err != nil {
		return nil, err
	}
	return r.Mem[at : at+n], nil
}

// Posted implements check.Host.
func (c checkedWindow) Posted(rank int) bool {
	t := c.w.usedTarget(rank)
	return t.rec.Gate.Load()&gateOpen != 0 || c.w.exposed(t)
}

// AwaitPost implements check.Host.
func (c checkedWindow) AwaitPost(rank int, by call.Number) error {
	t := c.w.usedTarget(rank)
	return c.w.await(c.w.posts(t), t.starts, by, t)
}

// AwaitIssued implements check.Host.
func (c checkedWindow) AwaitIssued(rank int, by call.Number, local bool) {
	t, e := c.w.usedTarget(rank), c.w.e
	x := c.w.waiter(by, t)
	defer e.freeWaiter(x)
	e.link.AwaitIssued(&t.Target, local, x)
}

// Barrier implements check.Host. An error is one of the Fence that comes next.
func (c checkedWindow) Barrier() { c.w.e.colls.Barrier(c.w.Comm) }
