package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// NodeLock is the passive lock of a target as processes of its node use it for ranges of something else than the
// memory of the window: of a file. The window belongs to the caller, and nobody calls Lock for the target. It
// differs from Lock and Unlock:
//
//   - No epoch begins: the view may be in one meanwhile.
//   - Claims conflict only if their ranges have a number in common.
//   - The lock outlives the target's process, since the memory stays mapped.
//   - The death of a holder is not reported: the next one simply has the lock.
//   - A goroutine that is none of the program's may wait for it.
//
// The lock has one claim for each process. Callers exclude other goroutines of theirs.
type NodeLock struct {
	t      *target
	event  proc.Event
	asleep atomic.Uint32 // see waiter
}

// NodeLock returns the lock of a target; ok is false if this process does not map it. about describes, for
// people, what a caller waits for.
func (v *View) NodeLock(target int, about proc.About) (l *NodeLock, ok bool) {
	t, err := v.w.target(target)
	if err != nil || t.control == nil {
		return nil, false
	}
	l = &NodeLock{t: t}
	l.event.About = about
	return l, true
}

// Lock takes the lock of the numbers [first, end), for this process alone or shared with others. apart says that the
// goroutine is none of the program's.
func (l *NodeLock) Lock(exclusive bool, first, end uint64, apart bool) {
	w, e := l.t.w, l.t.w.e
	s := l.t.control.Lock()
	s.ClaimRange(e.me, exclusive, first, end, func(c int) { w.ring(l.t, c) })
	free := func() bool { return s.Look(e.me, e.deadLocals) == shmfmt.LockFree }
	if free() || e.spin(free) {
		s.Hold(e.me)
	} else {
		l.wait(s.Moves(), apart)
	}
	s.ReapDead(e.deadLocals)
}

// wait waits for the lock, which was claimed. Others change moves when they give it up.
func (l *NodeLock) wait(moves *atomic.Uint64, apart bool) {
	w, p := l.t.w, l.t.w.e.p
	p.Lock()
	defer p.Unlock()
	l.t.lockSeen = shmfmt.LockFree
	for {
		seen := moves.Load()
		if w.owns(l.t) {
			return
		}
		l.event.Watch(moves, seen+1, &l.asleep)
		if apart {
			p.WaitApart(&l.event)
		} else {
			p.Wait(&l.event, -1)
		}
	}
}

// Unlock gives the lock back.
func (l *NodeLock) Unlock() { l.t.w.release(l.t) }
