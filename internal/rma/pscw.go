package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/link"
)

// Post, Start, Complete and Wait count. The k-th Post of a target to an origin and the k-th Start
// of the origin with the target belong together, and so do the k-th Complete and the wait for the
// k-th Post. Each count is a word to which one side adds and which the other side loads: on a node
// in the target's control block, for other processes a word to which the handler of a frame adds.
// So no call waits until its counterpart has begun, and an epoch without operations waits for
// nothing.

// Post exposes the own memory to the operations of some ranks (MPI_WIN_POST). It does not wait.
// ModeNoCheck saves nothing: origins that give it, too, do not wait for the post.
func (v *View) Post(ranks []int32, assert int) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if err := asserted(assert, ModeNoCheck|ModeNoStore|ModeNoPut); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.posted:
		return w.wrong("an exposure epoch of Post is open")
	case w.epoch() == epochLockAll || w.epoch() == epochLock && w.lockedSelf():
		return w.wrong("the own memory is locked by this process")
	case w.epoch() != epochStart && w.epoch() != epochLock:
		if err := w.free(); err != nil {
			return err
		}
	}
	origins, err := w.members(w.origins[:0], ranks)
	if err != nil {
		return err
	}
	w.origins, w.posted = origins, true
	if w.epoch() == epochFence {
		w.set(epochNone, gateClosed)
	}
	for _, t := range origins {
		t.posts++
		w.post(t)
	}
	return nil
}

// post tells an origin that the own memory is exposed to it.
func (w *Window) post(t *target) {
	e := w.e
	if t.control != nil {
		w.control.Posted(t.local).Add(1) // a full fence; pairs with the loads in await, Start and exposed
		if !planted.PostNotRung {
			e.wake(t)
		}
		return
	}
	e.p.Lock()
	e.sendPost(w, t.Process)
	e.p.Unlock()
}

// wake wakes t, on this node, which may wait for a word that was just stored.
func (e *Engine) wake(t *target) {
	if t.local != e.me {
		e.node.Ring(t.local)
		return
	}
	e.p.Lock()
	e.p.Progress(-1) // looks at words that are watched here
	e.p.Unlock()
}

// members are the targets of a group of ranks. Window.mu is held.
func (w *Window) members(list []*target, ranks []int32) ([]*target, error) {
	for _, r := range ranks {
		t, err := w.target(int(r))
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	if len(list) > 1 {
		for _, t := range list {
			t.chosen = true
		}
		twice := -1
		for _, t := range list {
			if !t.chosen {
				twice = t.Rank
			}
			t.chosen = false
		}
		if twice >= 0 {
			return nil, class.Errorf(class.Group, "rank %d is in the group twice", twice)
		}
	}
	return list, nil
}

// Start begins an access epoch with some ranks as targets (MPI_WIN_START). It does not wait:
// operations to a target that has not posted are deferred. ModeNoCheck says that all have posted.
func (v *View) Start(ranks []int32, assert int) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if err := asserted(assert, ModeNoCheck); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.free(); err != nil {
		return err
	}
	group, err := w.members(w.group[:0], ranks)
	if err != nil {
		return err
	}
	w.group = group
	w.set(epochStart, gateClosed)
	for _, t := range group {
		t.starts++
		g := gateWaiting
		if assert&ModeNoCheck != 0 || planted.BeforeThePost || w.posts(t).Load() >= t.starts { // pairs with the Add in post
			g = gateOpen
		}
		t.setGate(g)
	}
	return nil
}

// Complete ends the access epoch of Start, when all its operations are complete at the origin
// (MPI_WIN_COMPLETE). It waits for the post of a target only if operations to that target were
// deferred.
func (v *View) Complete() error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.epoch() != epochStart {
		defer w.mu.Unlock()
		return w.wrong("%v", w.epoch())
	}
	w.set(epochChanging, gateClosed)
	w.mu.Unlock()
	var first error
	for _, t := range w.group {
		first = firstOf(first, w.completeTo(t))
	}
	w.mu.Lock()
	for _, t := range w.group {
		t.setGate(gateClosed)
	}
	w.set(epochNone, gateClosed)
	w.mu.Unlock()
	return first
}

// completeTo ends the access epoch with t. Where the caller has applied everything, or all frames
// are answered, it adds to a word in memory. Otherwise a frame follows the others; from then on all
// ends go by frames, since a word would overtake them.
func (w *Window) completeTo(t *target) error {
	e := w.e
	if t.rec.Gate.Load() == gateWaiting || !t.settled() {
		e.p.Lock()
		err := w.undefer(t, call.WinComplete)
		if cause := e.p.DownCause(int(t.Process)); cause != nil {
			err = link.Gone(t.Rank, cause)
		}
		if err != nil {
			e.p.Unlock()
			return err
		}
		if t.control == nil || t.endsByFrames || !t.Idle() && !planted.CompleteEarly {
			t.endsByFrames = true
			x := w.waiter(call.WinComplete, t)
			err = e.link.Complete(&t.Target, x)
			e.freeWaiter(x)
			e.p.Unlock()
			return err
		}
		e.p.Unlock()
	}
	t.control.Completed(e.me).Add(1) // a full fence; pairs with the load by Wait and Test
	e.wake(t)
	return nil
}

// ends is the word that counts how many exposure epochs t has completed.
func (w *Window) ends(t *target) *atomic.Uint64 {
	if t.control != nil {
		return w.control.Completed(t.local)
	}
	return &t.ended
}

// Wait ends the exposure epoch of Post, when all its origins have completed theirs
// (MPI_WIN_WAIT).
func (v *View) Wait() error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	w.mu.Lock()
	if !w.posted || w.ending {
		defer w.mu.Unlock()
		return w.notPosted()
	}
	w.ending = true
	w.mu.Unlock()
	var first error
	for i, t := range w.origins {
		if planted.WaitOneShort && i > 0 {
			break
		}
		first = firstOf(first, w.await(w.ends(t), t.posts, call.WinWait, t))
	}
	w.mu.Lock()
	w.posted, w.ending = false, false
	w.mu.Unlock()
	return first
}

func (w *Window) notPosted() error {
	if w.ending {
		return w.wrong("another call waits for the end of the exposure epoch")
	}
	return w.wrong("no exposure epoch of Post is open")
}

// Test is Wait that does not wait: it reports false if some origins have not completed
// (MPI_WIN_TEST). It makes progress.
func (v *View) Test() (bool, error) {
	w, e := v.w, v.w.e
	if err := v.entire(); err != nil {
		return false, err
	}
	done, err := w.testEnd()
	if done || err != nil {
		return done, err
	}
	e.p.Lock()
	e.p.Progress(-1)
	e.p.Pause()
	e.p.Unlock()
	return w.testEnd()
}

// testEnd ends the exposure epoch if it can be ended.
func (w *Window) testEnd() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.posted || w.ending {
		return false, w.notPosted()
	}
	done, err := w.ended()
	if done {
		w.posted = false
	}
	return done, err
}

// ended reports whether all origins have completed their epochs, or died. Window.mu is
// held.
func (w *Window) ended() (bool, error) {
	var first error
	for _, t := range w.origins {
		if w.ends(t).Load() >= t.posts { // pairs with the Add in completeTo
			continue
		}
		if !w.e.dead(t.Process) {
			return false, nil
		}
		w.e.p.Lock()
		first = firstOf(first, link.Gone(t.Rank, w.e.p.DownCause(int(t.Process))))
		w.e.p.Unlock()
	}
	return true, first
}

// postArrived takes the post of a target on another node. It reports false if no correct target
// sends it. The lock is held.
func (w *Window) postArrived(t *target) bool {
	if t.control != nil {
		return false // such a target adds to a word in memory
	}
	t.arrived.Add(1) // pairs with the loads in await, Start and exposed
	return true
}

// completeArrived takes the end of an access epoch of a process. That process may have made the
// window before this one has, and its epoch may have no operations. The lock is held.
func (w *Window) completeArrived(from int32) bool {
	rank := w.Comm.RankOf(from)
	if rank < 0 {
		return false
	}
	if !w.opened {
		if w.earlyEnds == nil {
			w.earlyEnds = make(map[int]uint64)
		}
		w.earlyEnds[rank]++
		return true
	}
	t, err := w.targetLocked(rank)
	if err != nil {
		return false
	}
	w.ends(t).Add(1) // pairs with the load by Wait and Test
	return true
}

// openSync takes what has come before all members were known. The lock is held.
func (w *Window) openSync() {
	w.served = w.flavor == Created || w.flavor == Dynamic
	for _, m := range w.Comm.Members {
		w.served = w.served || !w.e.near(m)
	}
	for rank, n := range w.earlyEnds {
		if t, err := w.targetLocked(rank); err == nil {
			w.ends(t).Add(n)
		}
	}
	w.earlyEnds = nil
}
