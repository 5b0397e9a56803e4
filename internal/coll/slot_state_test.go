package coll_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/world"
)

// stateFor returns the record of c's slot as C sees it.
func stateFor(w *world.World, c *comm.Comm) (*shmfmt.SlotState, error) {
	at := w.Coll.Descriptor(c)
	if at == 0 {
		return nil, errors.New("there is no record")
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	if !offheap.Holds(p) {
		return nil, fmt.Errorf("the record at %#x is on the Go heap", at)
	}
	return (*shmfmt.SlotState)(p), nil
}

// Go and C have one copy of a member's progress in a slot, and it is not on the Go heap: each of
// them uses the values that the other one stores.
func TestSlotStateIsOneRecord(t *testing.T) {
	for _, fabric := range both {
		run(t, fabric, 3, auto(), func(w *world.World) error {
			s, err := stateFor(w, w.Comm)
			if err != nil {
				return err
			}
			before := s.Number
			for range 3 {
				if err := w.Coll.Barrier(w.Comm); err != nil {
					return err
				}
			}
			if s.Number != before+3 || s.Busy.Load()&(1<<10-1) != 0 || coll.Kind(s.Kind) != coll.Barrier {
				return fmt.Errorf("after 3 barriers from %d on the record has number %d, kind %d, busy %#x", before, s.Number, s.Kind, s.Busy.Load())
			}
			idle := s.Busy.Load()
			s.Busy.Store(idle + uint64(call.Bcast)) // as C code does in a Bcast
			var clash *coll.Clash
			if err := w.Coll.Barrier(w.Comm); !errors.As(err, &clash) || clash.Other != call.Bcast {
				return fmt.Errorf("a barrier beside a Bcast of C: %v", err)
			}
			s.Busy.Store(idle)
			return w.Coll.Barrier(w.Comm)
		})
	}
}

// The record of a freed communicator is used again for the next one. A later call on the freed
// one finds it occupied, and does not change the next one.
func TestSlotStatesAreRecycled(t *testing.T) {
	run(t, "shm", 2, auto(), func(w *world.World) error {
		c, err := w.Coll.Dup(w.Comm)
		if err != nil {
			return err
		}
		s, err := stateFor(w, c)
		if err != nil {
			return err
		}
		late := func() error {
			number, busy := s.Number, s.Busy.Load()
			for _, f := range []func() error{
				func() error { return w.Coll.Barrier(c) },
				func() error { return w.Coll.Claim(c, call.WinFree) },
				func() error { return w.Coll.Idle(c, call.WinFree) },
			} {
				var clash *coll.Clash
				if err := f(); !errors.As(err, &clash) || clash.Other != call.CommFree {
					return fmt.Errorf("a call on a communicator that is freed: %v", err)
				}
			}
			if number != s.Number || busy != s.Busy.Load() {
				return errors.New("a call on a communicator that is freed has changed its record")
			}
			return nil
		}
		// Both ranks allocate records from one pool: neither takes one between the other's Free and late.
		if err := w.Coll.Barrier(w.Comm); err != nil {
			return err
		}
		w.Coll.Free(c)
		if err := errors.Join(late(), w.Coll.Barrier(w.Comm)); err != nil {
			return err
		}
		if w.Comm.Rank > 0 {
			return w.Coll.Barrier(w.Comm)
		}
		size := int(unsafe.Sizeof(*s)) + 2*shmfmt.SlotShort
		for range 1000 { // records of earlier tests' communicators may become free meanwhile
			b := offheap.Bytes(size)
			defer offheap.FreeBytes(b)
			if unsafe.Pointer(&b[0]) == unsafe.Pointer(s) {
				err = w.Coll.Barrier(w.Comm)
				s.Busy.Store(12345 << 8) // a value of another communicator
				return errors.Join(err, late())
			}
		}
		return errors.New("the record of a communicator that was freed is not used again")
	})
}

// A rank of a communicator may get the record of another rank in the same process that has freed the
// communicator. So that a later call of that rank finds that it is freed, records of one communicator
// differ in their values for idle.
func TestRanksHaveDifferentSlotStates(t *testing.T) {
	for _, fabric := range both {
		var idle [2]uint64
		run(t, fabric, len(idle), auto(), func(w *world.World) error {
			s, err := stateFor(w, w.Comm)
			if err == nil {
				idle[w.Comm.Rank] = s.Busy.Load()
			}
			return err
		})
		if idle[0] == idle[1] && idle[0] != 0 { // 0: this run of the tests does not cover the fabric
			t.Errorf("%s: both ranks are idle with %#x", fabric, idle[0])
		}
	}
}

// A record that no caller frees is released with the communicator.
func TestForgottenSlotStates(t *testing.T) {
	run(t, "inproc", 2, auto(), func(w *world.World) error {
		at, err := forgottenState(w)
		if err != nil || w.Comm.Rank > 0 {
			return err
		}
		size := int(unsafe.Sizeof(shmfmt.SlotState{})) + 2*shmfmt.SlotShort
		for range 1000 {
			runtime.GC()
			b := offheap.Bytes(size)
			defer offheap.FreeBytes(b)
			if uintptr(unsafe.Pointer(&b[0])) == at {
				return nil
			}
		}
		return errors.New("the record of a communicator that nobody has is not used again")
	})
}

// forgottenState returns the address of the record of a communicator to which there is no
// reference.
func forgottenState(w *world.World) (uintptr, error) {
	c, err := w.Coll.Dup(w.Comm)
	if err != nil {
		return 0, err
	}
	s, err := stateFor(w, c)
	return uintptr(unsafe.Pointer(s)), err
}
