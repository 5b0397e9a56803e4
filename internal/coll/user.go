package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
)

// An operation of the program runs in a goroutine of its own, without the lock:
// it may take any time, and whoever polls goes on meanwhile, be it the service,
// which never runs what the program gives. An operation that belongs to threads of the
// program (op.User.InCalls) is run by a goroutine that is inside a call, instead.
// Collectives with operations of the program are always schedules.

// call has the rest of the round's reductions and copies done by the operation.
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
		inCall := s.User.InCalls // then somebody polls
		if s.pending--; s.pending == 0 {
			if e.setReady(s); !inCall {
				e.p.Progress(-1) // nobody else need be about to poll
			}
		}
	}()
	var o operands
	for _, l := range todo {
		if l.right.Len() == 0 {
			mem.Copy(l.dst, l.left)
		} else if err = o.apply(s, l); err != nil {
			break
		}
	}
	finished = true
}

// operands is memory for operands that are of a layout, a piece of them at a time.
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
		if left = o.left[:end-at]; rowOfLeft {
			left = flat(l.left.Cut(at, end))
		} else {
			l.left.Pack(left, at)
		}
		if right = o.right[:end-at]; row && rowOfRight { // else the result goes through it
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

// elements is the bytes of as many elements as fit into n bytes, at least one.
func (s *schedule) elements(n int) int { return max(n/s.Width, 1) * s.Width }
