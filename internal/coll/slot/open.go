package slot

import (
	"runtime"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Owner is the communicator whose members share the slot. The slot asks it only when it has to wait for long, or has
// found an error.
type Owner interface {
	// Lost returns an error if a member has died. The lock is held.
	Lost() error
	// Rank returns the rank of a member in the communicator of the program's call, and Ranks the number of members of
	// that. The members of the slot may be those on one node.
	Rank(r int) int
	Ranks() int
	// Refusal returns the error of members that depend on one that refuses the collective, of this rank in the
	// communicator of the program's call.
	Refusal(rank int, cl class.Class) error
}

// Group is what a slot is opened for: the members of a communicator in a process.
type Group struct {
	Proc    *proc.Proc
	Node    *node.Node
	Kernel  *op.Kernel // of predefined operations; it may change between collectives
	Members []int32    // the processes, by rank
	Rank    int        // of this member
	Owner   Owner
	About   proc.About // what is reported of a member that waits for long
	Tells   bool       // members tell their roots
	Idle    uint64     // the word of blocking calls while there is none
}

// Open makes s, a part of holder, slot i of the control segment for the members of g. The
// SlotState is freed when s is closed, or else with holder.
func Open[T any](s *Slot, holder *T, g *Group, i int) {
	mem := g.Node.Control().Slot(i)
	s.p, s.node, s.kernel, s.owner, s.mem, s.head = g.Proc, g.Node, g.Kernel, g.Owner, mem, mem.Head()
	s.me, s.members = g.Rank, g.Members
	s.Terms = agree.NewTerms(g.Tells)
	s.event.About = g.About
	size := len(g.Members)
	s.record = offheap.Bytes(int(unsafe.Sizeof(*s.SlotState)) + size*shmfmt.SlotShort)
	s.forgotten = runtime.AddCleanup(holder, offheap.FreeBytes, s.record)
	s.SlotState = (*shmfmt.SlotState)(unsafe.Pointer(&s.record[0]))
	s.short = unsafe.Slice((*[shmfmt.SlotShort]byte)(unsafe.Pointer(&s.record[unsafe.Sizeof(*s.SlotState)])), size)
	s.Busy.Store(g.Idle)
	s.Head = uintptr(unsafe.Pointer(s.head))
	s.Form, s.Loads, s.Yields = uint8(Counter), 4, yields
	for r, m := range g.Members {
		cell := mem.Cell(r)
		s.cells = append(s.cells, cell)
		if r == g.Rank {
			s.own = cell
		} else {
			s.others = append(s.others, cell)
			s.doors = append(s.doors, g.Node.LocalIndex(int(m)))
		}
	}
	job := g.Proc.Job()
	if len(job.Local) <= job.Cores {
		s.Loads, s.Yields = loads, 0
		if size <= cellsMax {
			s.Form = uint8(Cells)
		}
	} else {
		s.Cores = int64(job.Cores)
	}
}

// Close ends the use of the slot in this process. No call of the process is in the slot.
func (s *Slot) Close() {
	s.mem.Free(len(s.cells))
	s.forgotten.Stop()
	offheap.FreeBytes(s.record)
}

// inCells reports whether the slot is used in the form of cells.
func (s *Slot) inCells() bool { return s.Form == uint8(Cells) }

// Ended records how a collective through the slot has ended. After the death of a member the
// slot is broken: another entry of a member would be counted as that of the dead one. If the
// members only disagree on lengths, types or roots, or one has refused, the slot remains usable.
func (s *Slot) Ended(err error) error {
	if err != nil && !agree.IsRefusal(err) {
		e, ok := err.(*class.Error)
		s.Broken = !ok || e.Class != class.Truncate && e.Class != class.Count && e.Class != class.Type && e.Class != class.Root && e.Class != class.Topology
	}
	return err
}
