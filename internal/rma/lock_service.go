package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// lockService locks the own memory for processes on other nodes, which ask by frames. It makes one
// claim for them in the control block, beside those of the processes of the node. So origins on the
// node, which claim for themselves, and all others together take turns.
//
// Requests wait in the order in which they came. The first one makes the claim. When the claim has
// the lock, all shared requests that follow a shared one get it together. More may join those as
// long as no process waits for the lock exclusively. When the last one releases it, so is the
// claim, and the next request makes a new one.
//
// Nothing here waits: a claim without the lock is marked as sleeping, so that this process is rung,
// and workSync looks again.
type lockService struct {
	queue    []lockRequest
	holders  []int32 // processes that have the lock now
	claimed  bool    // there is a claim
	held     bool    // and it has the lock
	shared   bool    // it is a shared one
	lockSeen shmfmt.LockState
	listed   bool // in engineSync.serving
}

// lockRequest is the request of a process for the lock.
type lockRequest struct {
	process   int32
	exclusive bool
	epoch     bool // it came as a WinEpoch, which takeEpoch is handling: it gets no WinGrant
}

// lockAsked takes the request of a process on another node for the lock of the own memory.
// The lock is held.
func (w *Window) lockAsked(from int32, exclusive bool) bool {
	return w.queueLock(lockRequest{process: from, exclusive: exclusive})
}

// queueLock takes a request. It reports false if no correct process sends it.
func (w *Window) queueLock(r lockRequest) bool {
	s := &w.service
	if w.control == nil || w.e.near(r.process) || w.Comm.RankOf(r.process) < 0 || s.knows(r.process) {
		return false
	}
	s.queue = append(s.queue, r)
	w.serve()
	return true
}

// knows reports whether a process waits for the lock or has it.
func (s *lockService) knows(process int32) bool {
	for _, r := range s.queue {
		if r.process == process {
			return true
		}
	}
	for _, p := range s.holders {
		if p == process {
			return true
		}
	}
	return false
}

// unlockAsked takes back the lock from a process on another node. The lock of the engine is held.
func (w *Window) unlockAsked(from int32) bool {
	if !w.service.drop(from) {
		return false
	}
	w.serve()
	return true
}

// drop removes a process from those that have the lock.
func (s *lockService) drop(process int32) bool {
	for i, p := range s.holders {
		if p == process {
			last := len(s.holders) - 1
			s.holders[i] = s.holders[last]
			s.holders = s.holders[:last]
			return true
		}
	}
	return false
}

// pop removes the first request.
func (s *lockService) pop() {
	n := copy(s.queue, s.queue[1:])
	s.queue = s.queue[:n]
}

// lostOrigin removes a process that has died from the service, and has the service look again:
// claims of dead processes of the node are void, too. The next process that gets the lock is told
// of the death of a holder. The lock is held. It runs inside the handling of failures, so Work does
// the rest.
func (w *Window) lostOrigin(process int32) {
	s := &w.service
	for i, r := range s.queue {
		if r.process == process {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			break
		}
	}
	if s.drop(process) {
		w.control.Lock().Orphaned(w.Comm.RankOf(process))
	}
	if s.claimed || len(s.queue) > 0 {
		w.list(true)
	}
}

// list makes workSync look for the claim, or not.
func (w *Window) list(on bool) {
	s, e := &w.service, w.e
	if s.listed == on {
		return
	}
	s.listed = on
	if on {
		e.serving = append(e.serving, w)
		e.p.SetBusy(1)
		return
	}
	e.p.SetBusy(-1)
	for i, o := range e.serving {
		if o == w {
			last := len(e.serving) - 1
			e.serving[i], e.serving[last] = e.serving[last], nil
			e.serving = e.serving[:last]
			return
		}
	}
}

// serve does what can be done for those that want the lock, and returns the number of steps. The
// lock is held.
func (w *Window) serve() int {
	s, e, l := &w.service, w.e, w.control.Lock()
	me, n := l.Service(), 0
	ring := func(c int) { e.wakeClaimant(c) }
	for {
		if !s.claimed {
			if len(s.queue) == 0 {
				break
			}
			s.claimed, s.held, s.lockSeen, s.shared = true, false, shmfmt.LockFree, !s.queue[0].exclusive
			l.Claim(me, !s.shared, ring)
			n++
		}
		if !s.held {
			found := l.Look(me, e.deadLocals)
			if found != shmfmt.LockFree {
				if len(s.queue) > 0 && found <= s.lockSeen {
					w.list(true)
					return n
				}
				if len(s.queue) > 0 {
					l.AnnounceSleep(me, found)
					s.lockSeen = found
					continue
				}
				// The process that wanted it has died.
			} else {
				l.Hold(me)
				s.held = true
				for len(s.queue) > 0 && s.queue[0].exclusive != s.shared && w.grant() {
					n++
				}
			}
		}
		if len(s.holders) > 0 {
			for s.shared && len(s.queue) > 0 && (!s.queue[0].exclusive || planted.GrantedBeside) && !l.Contended(me, e.deadLocals) && w.grant() {
				n++
			}
			break
		}
		s.claimed, s.held = false, false
		l.Release(me, e.deadLocals, ring)
		n++
	}
	w.list(false)
	return n
}

// grant gives the lock, which is held, to the first process of the queue, or tells that process of
// a death. It reports whether others may join.
func (w *Window) grant() bool {
	s, e := &w.service, w.e
	r := s.queue[0]
	s.pop()
	if rank, died := w.deadHolder(w.control); died {
		e.sendGrant(w, r.process, class.ProcFailed, int64(rank))
		return true // it does not get the lock, the next one may
	}
	s.holders = append(s.holders, r.process)
	if r.epoch {
		return !r.exclusive
	}
	e.sendGrant(w, r.process, class.Success, 0)
	return !r.exclusive
}

// wakeClaimant wakes a process of the node that waits for the lock of the own memory.
func (e *Engine) wakeClaimant(claimant int) {
	if e.node != nil { // else it is this process, whose poller looks at watched words
		e.node.Ring(claimant)
	}
}
