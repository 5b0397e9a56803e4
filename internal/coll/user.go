package coll

import "github.com/halo-mpi/halo/internal/class"

// An operation of the program runs in a goroutine of its own, without the lock:
// it may take any time, and whoever polls goes on meanwhile, be it the service,
// which never runs what the program gives. Collectives with such an operation
// are always schedules.

// call has the rest of the round's reductions and copies done by the operation.
func (s *schedule) call() {
	s.pending++
	todo := s.local[s.done:]
	s.local, s.done = nil, 0
	go s.combine(todo)
}

// combine does reductions and copies in order. When the operation panics, or ends
// its goroutine, that is the error of the collective, which goes on all the same,
// so that the other members come to an end.
func (s *schedule) combine(todo []local) {
	var err error
	finished := false
	defer func() {
		if !finished {
			err = &class.Error{Class: class.Other, Text: "the operation ended its goroutine"}
		}
		e := s.e
		e.p.Lock()
		defer e.p.Unlock()
		if err != nil {
			s.note(err)
		}
		if s.pending--; s.pending == 0 {
			e.setReady(s)
			e.p.Progress(-1) // nobody else need be about to poll
		}
	}()
	for _, l := range todo {
		if l.right.n == 0 {
			l.dst.fill(l.left)
		} else if err = s.User.Apply(l.dst.bytes(), l.left.bytes(), l.right.bytes()); err != nil {
			break
		}
	}
	finished = true
}

// elements is the bytes of as many elements as fit into n bytes, at least one.
func (s *schedule) elements(n int) int { return max(n/s.Width, 1) * s.Width }
