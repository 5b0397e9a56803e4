package coll_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/hot"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/world"
)

// stateFor is the record of c's slot as C sees it.
func stateFor(w *world.World, c *comm.Comm) (*shmfmt.SlotState, error) {
	at := w.Coll.Descriptor(c)
	if at == 0 {
		return nil, errors.New("there is no record")
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	if !hot.Holds(p) {
		return nil, fmt.Errorf("the record at %#x is on the Go heap", at)
	}
	return (*shmfmt.SlotState)(p), nil
}

// Go and C have one copy of how far a member has come in a slot, and it is not on the Go heap: what
// one of them stores there the other goes by (issue 20, section 3).
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
			if s.Number != before+3 || s.Busy.Load() != 0 || coll.Kind(s.Kind) != coll.Barrier {
				return fmt.Errorf("after 3 barriers from %d on the record has number %d, kind %d, busy %d", before, s.Number, s.Kind, s.Busy.Load())
			}
			s.Busy.Store(uint32(coll.Blocking(coll.Bcast))) // as C does that is in a Bcast
			var clash *coll.Clash
			if err := w.Coll.Barrier(w.Comm); !errors.As(err, &clash) || clash.Other != coll.Blocking(coll.Bcast) {
				return fmt.Errorf("a barrier beside a Bcast of C: %v", err)
			}
			s.Busy.Store(0)
			return w.Coll.Barrier(w.Comm)
		})
	}
}

// The record of a communicator that is freed says so for as long as somebody may look, and is used
// again when nobody can.
func TestSlotStatesAreRecycled(t *testing.T) {
	run(t, "inproc", 2, auto(), func(w *world.World) error {
		at, err := freedState(w)
		if err != nil || w.Comm.Rank > 0 {
			return err
		}
		size := int(unsafe.Sizeof(shmfmt.SlotState{})) + 2*shmfmt.SlotShort
		for range 1000 {
			runtime.GC()
			b := hot.Bytes(size)
			if found := uintptr(unsafe.Pointer(&b[0])); found == at {
				hot.FreeBytes(b)
				return nil
			}
			defer hot.FreeBytes(b)
		}
		return errors.New("the record of a communicator that nobody has is not used again")
	})
}

// freedState is the address of the record of a communicator that has been freed.
func freedState(w *world.World) (uintptr, error) {
	c, err := w.Coll.Dup(w.Comm)
	if err != nil {
		return 0, err
	}
	s, err := stateFor(w, c)
	if err != nil {
		return 0, err
	}
	w.Coll.Free(c)
	if err := w.Coll.Claim(c, coll.CallFree); err == nil || s.Busy.Load() == 0 {
		return 0, errors.New("a communicator that was freed is not occupied")
	}
	at := uintptr(unsafe.Pointer(s))
	runtime.KeepAlive(c)
	return at, nil
}
