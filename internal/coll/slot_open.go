package coll

import (
	"runtime"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/hot"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// openSlot makes s, a part of owner, slot i of the control segment for the members of c. The
// SlotState is freed when s is closed, or else with owner.
func openSlot[T any](e *Engine, owner *T, s *slot, c *comm.Comm, i int) {
	mem := e.node.Control().Slot(i)
	s.e, s.c, s.mem, s.head = e, c, mem, mem.Head()
	s.terms = e.newTerms()
	s.event.About = s
	s.record = hot.Bytes(int(unsafe.Sizeof(*s.SlotState)) + c.Size()*shmfmt.SlotShort)
	s.forgotten = runtime.AddCleanup(owner, hot.FreeBytes, s.record)
	s.SlotState = (*shmfmt.SlotState)(unsafe.Pointer(&s.record[0]))
	s.short = unsafe.Slice((*[shmfmt.SlotShort]byte)(unsafe.Pointer(&s.record[unsafe.Sizeof(*s.SlotState)])), c.Size())
	// Unique in the process of the operating system: contexts are, and one communicator has a record
	// for each of its ranks that are goroutines there.
	s.Busy.Store((c.Ctx + 1 + uint64(c.Rank)) << callBits)
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

// close ends the use of the slot in this process. No call of the process is in the slot.
func (s *slot) close() {
	s.mem.Free(len(s.cells))
	s.forgotten.Stop()
	hot.FreeBytes(s.record)
}

// inCells reports whether the slot is used in the form of cells.
func (s *slot) inCells() bool { return s.Form == uint8(SlotCells) }

// ended records how a collective through the slot has ended. After the death of a member the
// slot is broken: another entry of a member would be counted as that of the dead one. If the
// members only disagree on lengths, types or roots, or one has refused, the slot remains usable.
func (s *slot) ended(err error) error {
	if err != nil && !agree.IsRefusal(err) {
		e, ok := err.(*class.Error)
		s.Broken = !ok || e.Class != class.Truncate && e.Class != class.Count && e.Class != class.Type && e.Class != class.Root && e.Class != class.Topology
	}
	return err
}
