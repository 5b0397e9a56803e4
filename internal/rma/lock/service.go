package lock

import (
	"slices"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Service locks the memory of a target for processes on other nodes, which ask by frames. It makes one claim for them in
// the control block, beside those of the processes of the node. So origins on the node, which claim for themselves, and
// all others together take turns.
//
// Requests wait in the order in which they came. The first one makes the claim. When the claim has the lock, all shared
// requests that follow a shared one get it together. More may join those as long as no process waits for the lock
// exclusively. When the last one returns it, the claim is released, and the next request makes a new one.
//
// A claim without the lock is marked as sleeping, so that this process is rung, and Step looks again.
//
// The zero Service has no requests.
type Service struct {
	queue   []Request
	holders []int32 // processes that have the lock now
	claimed bool    // there is a claim
	held    bool    // the claim has the lock
	shared  bool    // the claim is a shared one
	found   shmfmt.LockState
}

// Request is the request of a process for the lock.
type Request struct {
	Process   int32
	Exclusive bool
	Quiet     bool // whoever has passed it on looks whether it is granted: Claim.Grant is not called
}

// Claim is the claim of a Service among those of the processes of the node, and the way to the processes that ask.
type Claim interface {
	Make(exclusive bool)
	Look() shmfmt.LockState
	Hold()
	AnnounceSleep(found shmfmt.LockState)
	Contended() bool // whether a process of the node waits for the lock exclusively
	Release()

	// DeadHolder returns the rank of a process that has died with the lock, if there is one of which nobody has been told.
	DeadHolder() (rank int, died bool)
	// Grant tells a process that it has the lock.
	Grant(process int32)
	// Refuse tells a process that another one has died with the lock; it has to ask again.
	Refuse(process int32, died int)
}

// Ask takes a request. It returns false if the process waits for the lock or has it: no correct process asks then.
func (s *Service) Ask(r Request) bool {
	if s.waits(r.Process) >= 0 || s.Holds(r.Process) {
		return false
	}
	s.queue = append(s.queue, r)
	return true
}

// Return takes the lock back from a process. It returns false if the process does not have it.
func (s *Service) Return(process int32) bool {
	i := slices.Index(s.holders, process)
	if i < 0 {
		return false
	}
	last := len(s.holders) - 1
	s.holders[i] = s.holders[last]
	s.holders = s.holders[:last]
	return true
}

// Lose forgets a process that has died. It reports whether the process had the lock.
func (s *Service) Lose(process int32) (held bool) {
	if i := s.waits(process); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
	}
	return s.Return(process)
}

// Speak has Claim.Grant called for a quiet request. It returns false if the process does not wait.
func (s *Service) Speak(process int32) bool {
	i := s.waits(process)
	if i < 0 {
		return false
	}
	s.queue[i].Quiet = false
	return true
}

// Holds reports whether a process has the lock.
func (s *Service) Holds(process int32) bool { return slices.Contains(s.holders, process) }

// Idle reports whether there is neither a claim nor a request: Step has nothing to do.
func (s *Service) Idle() bool { return !s.claimed && len(s.queue) == 0 }

// waits returns the place of the request of a process, -1 if there is none.
func (s *Service) waits(process int32) int {
	return slices.IndexFunc(s.queue, func(r Request) bool { return r.Process == process })
}

// Step does what can be done for those that want the lock, and returns the number of steps. sleeps says that it waits for
// a claim of the node.
func (s *Service) Step(c Claim) (steps int, sleeps bool) {
	for !s.Idle() {
		if !s.claimed {
			s.claimed, s.held, s.found, s.shared = true, false, shmfmt.LockFree, !s.queue[0].Exclusive
			c.Make(!s.shared)
			steps++
		}
		if !s.held {
			found := c.Look()
			switch {
			case found == shmfmt.LockFree:
				c.Hold()
				s.held = true
				for len(s.queue) > 0 && s.queue[0].Exclusive != s.shared && s.grant(c) {
					steps++
				}
			case len(s.queue) == 0: // the process that wanted the lock has died
			case found <= s.found:
				return steps, true
			default:
				c.AnnounceSleep(found)
				s.found = found
				continue
			}
		}
		if len(s.holders) > 0 {
			for s.shared && len(s.queue) > 0 && (!s.queue[0].Exclusive || planted.GrantedBeside) && !c.Contended() && s.grant(c) {
				steps++
			}
			break
		}
		s.claimed, s.held = false, false
		c.Release()
		steps++
	}
	return steps, false
}

// grant gives the lock, which is held, to the first process of the queue, or tells that process of a death. It reports
// whether others may join.
func (s *Service) grant(c Claim) bool {
	r := s.queue[0]
	s.queue = s.queue[:copy(s.queue, s.queue[1:])] // in place, so that nothing is allocated
	if rank, died := c.DeadHolder(); died {
		c.Refuse(r.Process, rank)
		return true // it does not get the lock, the next one may
	}
	s.holders = append(s.holders, r.Process)
	if !r.Quiet {
		c.Grant(r.Process)
	}
	return !r.Exclusive
}
