package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
)

// An operation of the program runs in a goroutine of its own, without the lock: it may take any
// time, and the goroutine that polls goes on meanwhile. That may be the service, which never
// runs code of the program. An operation that only threads of the program may call
// (op.User.InCalls) is instead a task for a goroutine that is inside a call. Collectives with
// operations of the program are always schedules.

// call starts the rest of the round's reductions and copies with the operation of the program.
func (s *schedule) call() {
	s.pending++
	todo := s.local[s.done:]
	s.local, s.done = nil, 0
	if s.User.InCalls {
		s.e.p.AddTask(func() { s.combine(todo) })
		return
	}
	go s.combine(todo)
}

// combine does reductions and copies in order. If the operation panics, or ends its goroutine,
// this is the error of the collective. The collective still goes on, so that the other members
// come to an end.
func (s *schedule) combine(todo []local) {
	var err error
	finished := false
	defer func() {
		if !finished {
			err = class.Errorf(class.Other, "the operation ended its goroutine")
		}
		e := s.e
		e.p.Lock()
		defer e.p.Unlock()
		if err != nil {
			s.note(err)
		}
		inCall := s.User.InCalls // then the goroutine in the call polls
		s.pending--
		if s.pending == 0 {
			e.setReady(s)
			if !inCall {
				e.p.Progress(-1) // there may be no other goroutine that polls
			}
		}
	}()
	var o operands
	for _, l := range todo {
		if l.right.Len() == 0 {
			mem.Copy(l.dst, l.left)
		} else {
			err = o.apply(s, l)
			if err != nil {
				break
			}
		}
	}
	finished = true
}

// operands is memory for a piece of the operands that are layouts.
type operands struct{ left, right []byte }

// apply does the reduction l.
func (o *operands) apply(s *schedule, l local) error {
	dst, row := l.dst.Bytes()
	left, rowOfLeft := l.left.Bytes()
	right, rowOfRight := l.right.Bytes()
	if row && rowOfLeft && rowOfRight {
		return s.User.Apply(dst, left, right)
	}
	size := s.elements(directChunk)
	if o.left == nil {
		o.left, o.right = make([]byte, size), make([]byte, size)
	}
	for at := 0; at < l.dst.Len(); at += size {
		end := min(at+size, l.dst.Len())
		left = o.left[:end-at]
		if rowOfLeft {
			left = flat(l.left.Cut(at, end))
		} else {
			l.left.Pack(left, at)
		}
		right = o.right[:end-at]
		if row && rowOfRight { // else o.right receives the result
			right = flat(l.right.Cut(at, end))
		} else {
			l.right.Pack(right, at)
		}
		if row {
			if err := s.User.Apply(dst[at:end], left, right); err != nil {
				return err
			}
			continue
		}
		if err := s.User.Apply(right, left, right); err != nil {
			return err
		}
		l.dst.Unpack(right, at)
	}
	return nil
}

// elements returns the bytes of as many elements as fit into n bytes, at least of one.
func (s *schedule) elements(n int) int { return max(n/s.Width, 1) * s.Width }
