package mpi

// Assert is a set of promises of a program that a call which synchronises may build
// upon: a sum of the Mode constants, or 0. What is promised falsely has no defined
// outcome; promises that the call does not know are ErrAssert.
//
// C: MPI_MODE_NOCHECK and so on, section 12.5.5.
type Assert int

// The assertions. They say of Start and Post that the other call has been made before,
// or is not needed (ModeNoCheck, in both), and of Lock and LockAll that nobody holds a
// lock that conflicts (ModeNoCheck); of Post and Fence that the own memory was not
// updated by stores since the last call (ModeNoStore), and will not be by others until
// the next one (ModeNoPut); of Fence that no access of the caller came before it
// (ModeNoPrecede), or will come after it (ModeNoSucceed), on all members alike.
//
// C: MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED, section 12.5.5.
const (
	ModeNoCheck   Assert = 1024
	ModeNoPrecede Assert = 2048
	ModeNoPut     Assert = 4096
	ModeNoStore   Assert = 8192
	ModeNoSucceed Assert = 16384
)

// Fence ends an epoch of all members, if there was one, and begins the next one, if
// operations follow: then everybody may access everybody's memory. When it returns, all
// operations of this process are complete, and so are all on its memory. assert may be
// ModeNoStore, ModeNoPut, ModeNoPrecede and ModeNoSucceed. Collective over the window.
//
// C: MPI_Win_fence, section 12.5.1.
func (w *Window) Fence(assert Assert) error {
	if err := w.usable(callFence); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(callFence, Undefined, func() error { return w.v.Fence(int(assert)) }), callFence, Undefined)
	}
	return w.done(w.v.Fence(int(assert)), callFence, Undefined)
}

// Post opens the own memory to the members in g, until Wait. It does not wait. assert
// may be ModeNoCheck, ModeNoStore and ModeNoPut. If the memory is open already that is
// ErrRMASync, and ErrGroup if somebody in g is no member of the window.
//
// C: MPI_Win_post, section 12.5.2.
func (w *Window) Post(g Group, assert Assert) error {
	ranks, err := w.ranks(callPost, g, 0)
	if err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(callPost, Undefined, func() error { return w.v.Post(ranks, int(assert)) }), callPost, Undefined)
	}
	return w.done(w.v.Post(ranks, int(assert)), callPost, Undefined)
}

// Start begins an epoch in which the caller may access the memory of the members in g,
// until Complete. It does not wait for their Post, and neither do the operations that
// follow: nothing is accessed before it. assert may be ModeNoCheck. Errors are those of
// Post.
//
// C: MPI_Win_start, section 12.5.2.
func (w *Window) Start(g Group, assert Assert) error {
	ranks, err := w.ranks(callStart, g, 1)
	if err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(callStart, Undefined, func() error { return w.v.Start(ranks, int(assert)) }), callStart, Undefined)
	}
	return w.done(w.v.Start(ranks, int(assert)), callStart, Undefined)
}

// Complete ends the epoch that Start has begun: it waits until the operations are
// complete, and so for each target's Post, but for nothing else that targets do.
//
// C: MPI_Win_complete, section 12.5.2.
func (w *Window) Complete() error {
	if err := w.usable(callComplete); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(callComplete, Undefined, func() error { return w.v.Complete() }), callComplete, Undefined)
	}
	return w.done(w.v.Complete(), callComplete, Undefined)
}

// Wait ends the epoch that Post has begun: it waits until all members in its group have
// called Complete. Then what they have put and accumulated is in the own memory.
//
// C: MPI_Win_wait, section 12.5.2.
func (w *Window) Wait() error {
	if err := w.usable(callWinWait); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(callWinWait, Undefined, func() error { return w.v.Wait() }), callWinWait, Undefined)
	}
	return w.done(w.v.Wait(), callWinWait, Undefined)
}

// Test is Wait that does not wait: false means that the epoch has not ended. It makes
// progress.
//
// C: MPI_Win_test, section 12.5.2.
func (w *Window) Test() (bool, error) {
	if err := w.usable(callWinTest); err != nil {
		return false, err
	}
	done, err := w.v.Test()
	if done && w.checks() {
		if found := w.v.Checker().Exposed(here(callWinTest)); err == nil {
			err = found
		}
	}
	return done, w.done(err, callWinTest, Undefined)
}

// rankList is the members of a group by their ranks in a window.
type rankList struct{ members, ranks []int32 }

// ranks is g by ranks in the window. Programs post and start the same groups again and
// again: the last one is kept in a list, one for each of the two calls.
func (w *Window) ranks(k call, g Group, list int) ([]int32, *Error) {
	if err := w.usable(k); err != nil {
		return nil, err
	}
	if len(g.members) == 0 {
		return nil, nil
	}
	last := &w.lists[list]
	// Nothing changes the members of a group, so that the same memory is the same group.
	if l := last.Load(); l != nil && len(l.members) == len(g.members) && &l.members[0] == &g.members[0] {
		return l.ranks, nil
	}
	if g.self != w.c.self {
		return nil, fail(ErrGroup, k.String(), w.c, "the group belongs to another process")
	}
	l := &rankList{g.members, make([]int32, len(g.members))}
	for i, p := range g.members {
		r := w.c.core.RankOf(p)
		if r < 0 {
			return nil, fail(ErrGroup, k.String(), w.c, "rank %d of the group is not a member of the window", i)
		}
		l.ranks[i] = int32(r)
	}
	last.Store(l)
	return l.ranks, nil
}
