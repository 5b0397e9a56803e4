package mpi

import "github.com/halo-mpi/halo/internal/call"

// Assert is a set of assertions for a synchronisation call: a sum of the Mode constants, or 0.
// The outcome is undefined if an assertion is false. ErrAssert for assertions that do not apply
// to the call.
//
// C: MPI_MODE_NOCHECK and so on, section 12.5.5.
type Assert int

// The assertions. ModeNoCheck: for Start and Post, the matching call has been made before or is
// not needed (both must pass it); for Lock and LockAll, no process holds a conflicting lock.
// ModeNoStore: for Post and Fence, this process has not stored to its window memory since the
// last synchronisation. ModeNoPut: for Post and Fence, other processes will not update this
// memory until the next synchronisation. ModeNoPrecede and ModeNoSucceed: for Fence, and by all
// members, the caller has issued no operations before it, or will issue none after it.
//
// C: MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED, section 12.5.5.
const (
	ModeNoCheck   Assert = 1024
	ModeNoPrecede Assert = 2048
	ModeNoPut     Assert = 4096
	ModeNoStore   Assert = 8192
	ModeNoSucceed Assert = 16384
)

// Fence ends the epoch of all members, if there is one, and begins the next one, if operations
// follow; in it all members may access the memory of all members. When it returns, all
// operations of this process, and all operations on its memory, are complete. assert may be
// ModeNoStore, ModeNoPut, ModeNoPrecede and ModeNoSucceed. Collective over the window.
//
// C: MPI_Win_fence, section 12.5.1.
func (w *Window) Fence(assert Assert) error {
	if err := w.usable(call.WinFence); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinFence, Undefined, func() error { return w.v.Fence(int(assert)) }), call.WinFence, Undefined)
	}
	return w.done(w.v.Fence(int(assert)), call.WinFence, Undefined)
}

// Post lets the members in g access this process's memory, until Wait. It does not wait. assert
// may be ModeNoCheck, ModeNoStore and ModeNoPut. ErrRMASync if an epoch of Post is already open;
// ErrGroup if g contains a process that is not a member of the window.
//
// C: MPI_Win_post, section 12.5.2.
func (w *Window) Post(g Group, assert Assert) error {
	ranks, err := w.ranks(call.WinPost, g, 0)
	if err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinPost, Undefined, func() error { return w.v.Post(ranks, int(assert)) }), call.WinPost, Undefined)
	}
	return w.done(w.v.Post(ranks, int(assert)), call.WinPost, Undefined)
}

// Start begins an epoch in which the caller may access the memory of the members in g, until
// Complete. It does not wait for their Post, and neither do the calls for operations in the
// epoch; but no memory is accessed before its owner's Post. assert may be ModeNoCheck. Errors
// are those of Post.
//
// C: MPI_Win_start, section 12.5.2.
func (w *Window) Start(g Group, assert Assert) error {
	ranks, err := w.ranks(call.WinStart, g, 1)
	if err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinStart, Undefined, func() error { return w.v.Start(ranks, int(assert)) }), call.WinStart, Undefined)
	}
	return w.done(w.v.Start(ranks, int(assert)), call.WinStart, Undefined)
}

// Complete ends the epoch that Start began. It waits until the operations are complete, and so
// for the Post of each target, but for no other call of the targets.
//
// C: MPI_Win_complete, section 12.5.2.
func (w *Window) Complete() error {
	if err := w.usable(call.WinComplete); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinComplete, Undefined, func() error { return w.v.Complete() }), call.WinComplete, Undefined)
	}
	return w.done(w.v.Complete(), call.WinComplete, Undefined)
}

// Wait ends the epoch that Post began. It waits until all members in its group have called
// Complete. Then the results of their operations are in this process's memory.
//
// C: MPI_Win_wait, section 12.5.2.
func (w *Window) Wait() error {
	if err := w.usable(call.WinWait); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinWait, Undefined, func() error { return w.v.Wait() }), call.WinWait, Undefined)
	}
	return w.done(w.v.Wait(), call.WinWait, Undefined)
}

// Test is Wait that does not wait; it returns false if the epoch has not ended. It makes
// progress.
//
// C: MPI_Win_test, section 12.5.2.
func (w *Window) Test() (bool, error) {
	if err := w.usable(call.WinTest); err != nil {
		return false, err
	}
	done, err := w.v.Test()
	if done && w.checks() {
		if found := w.v.Checker().Exposed(located(call.WinTest)); err == nil {
			err = found
		}
	}
	return done, w.done(err, call.WinTest, Undefined)
}

// rankList is the members of a group, with their ranks in a window.
type rankList struct{ members, ranks []int32 }

// ranks returns the ranks in the window of the members of g. Programs post and start the same
// groups repeatedly, so that ranks keeps the last group in a list, one for each of the two
// calls.
func (w *Window) ranks(k call.Number, g Group, list int) ([]int32, *Error) {
	if err := w.usable(k); err != nil {
		return nil, err
	}
	if len(g.members) == 0 {
		return nil, nil
	}
	last := &w.lists[list]
	// Group members are immutable, so that the same slice memory means the same group.
	if l := last.Load(); l != nil && len(l.members) == len(g.members) && &l.members[0] == &g.members[0] {
		return l.ranks, nil
	}
	if err := w.c.stranger(k, ErrGroup, "group", g.self); err != nil {
		return nil, err
	}
	l := &rankList{g.members, make([]int32, len(g.members))}
	for i, p := range g.members {
		r := w.c.core.RankOf(p)
		if r < 0 {
			return nil, fail(ErrGroup, k, w.c, "rank %d of the group is not a member of the window", i)
		}
		l.ranks[i] = int32(r)
	}
	last.Store(l)
	return l.ranks, nil
}
