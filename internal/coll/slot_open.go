package coll

import (
	"runtime"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/hot"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// openSlot makes s, which is part of owner, slot i of the control segment for the members of c.
// What C sees of it stays as long as somebody has the owner: whoever comes into a call on a
// communicator that is being freed still finds that it is occupied.
func openSlot[T any](e *Engine, owner *T, s *slot, c *comm.Comm, i int) {
	mem := e.node.Control().Slot(i)
	s.e, s.c, s.mem, s.head = e, c, mem, mem.Head()
	s.terms = e.newTerms()
	s.event.About = s
	record := hot.Bytes(int(unsafe.Sizeof(*s.SlotState)) + c.Size()*shmfmt.SlotShort)
	runtime.AddCleanup(owner, hot.FreeBytes, record)
	s.SlotState = (*shmfmt.SlotState)(unsafe.Pointer(&record[0]))
	s.short = unsafe.Slice((*[shmfmt.SlotShort]byte)(unsafe.Pointer(&record[unsafe.Sizeof(*s.SlotState)])), c.Size())
	s.Head = uintptr(unsafe.Pointer(s.head))
	s.Form, s.Loads, s.Yields = uint8(SlotCounter), 4, yields
	for r, m := range c.Members {
		cell := mem.Cell(r)
		s.cells = append(s.cells, cell)
		if r == c.Rank {
			s.own = cell
		} else {
			s.others = append(s.others, cell)
			s.doors = append(s.doors, e.node.LocalIndex(int(m)))
		}
	}
	job := e.p.Job()
	if len(job.Local) <= job.Cores {
		s.Loads, s.Yields = loads, 0
		if c.Size() <= cellsMax {
			s.Form = uint8(SlotCells)
		}
	} else {
		s.Cores = int64(job.Cores)
	}
}

// inCells reports whether the slot is used in the form of cells.
func (s *slot) inCells() bool { return s.Form == uint8(SlotCells) }

// ended notes how a collective through the slot has ended. If a member is gone whoever entered
// once more would be counted for another. When the members only disagree on lengths, types or
// roots the slot is as it was.
func (s *slot) ended(err error) error {
	if err != nil {
		e, ok := err.(*class.Error)
		s.Broken = !ok || e.Class != class.Truncate && e.Class != class.Count && e.Class != class.Type && e.Class != class.Root
	}
	return err
}
