package p2p

import (
	"iter"

	"github.com/halo-mpi/halo/internal/planted"
)

// HandleTable gives objects handles that peers send back in frames: requests of this
// package, operations of package rma. A handle is an index and a generation, and Find
// checks both, so that a stale or invented handle finds nothing.
type HandleTable[T any] struct {
	slots []handleSlot[T]
	free  []uint32
	live  int
}

type handleSlot[T any] struct {
	value *T
	gen   uint32
}

// Add returns a handle of x, which is never 0.
func (t *HandleTable[T]) Add(x *T) uint64 {
	var i uint32
	if k := len(t.free); k > 0 {
		i = t.free[k-1]
		t.free = t.free[:k-1]
	} else {
		i = uint32(len(t.slots))
		t.slots = append(t.slots, handleSlot[T]{})
	}
	s := &t.slots[i]
	s.gen++
	if s.gen == 0 { // wrapped around: 0 is no handle
		s.gen = 1
	}
	s.value = x
	t.live++
	return uint64(s.gen)<<32 | uint64(i)
}

// Find returns the object of a handle, nil if the handle is stale or was never returned.
func (t *HandleTable[T]) Find(handle uint64) *T {
	i := uint32(handle)
	if uint64(i) >= uint64(len(t.slots)) {
		return nil
	}
	if s := &t.slots[i]; s.gen == uint32(handle>>32) || planted.NameStale {
		return s.value
	}
	return nil
}

// All yields the objects that have a handle. The loop may remove the one that it was just given.
func (t *HandleTable[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range t.slots {
			if x := t.slots[i].value; x != nil && !yield(x) {
				return
			}
		}
	}
}

// Remove makes a handle stale.
func (t *HandleTable[T]) Remove(handle uint64) {
	i := uint32(handle)
	t.slots[i].value = nil
	t.free = append(t.free, i)
	t.live--
}

// assignHandle returns the handle of r, and adds r to the table if it has none yet.
func (e *Engine) assignHandle(r *Request) uint64 {
	if r.handle == 0 {
		r.handle = e.handles.Add(r)
	}
	return r.handle
}

// releaseHandle makes the handle of r stale, if it has one.
func (e *Engine) releaseHandle(r *Request) {
	if r.handle != 0 {
		e.handles.Remove(r.handle)
		r.handle = 0
	}
}
