package mpi

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// CommDescriptor is the address of a record outside of the Go heap, which says how far the process has
// come in blocking collectives on the communicator, and the number of its layout: for bindings in
// other languages, whose compiled code then does the shortest of these by itself.
// abi/lib/fast_layout.h has the layout, with its number; code compiled for another layout must not
// look there. The address is valid until the communicator is freed, as long as the Comm is
// reachable. It is 0 in checking mode, where the members do not all share memory, and of a
// communicator that is not there yet, or not any more.
//
// C: none; MPI_Barrier and others look at it.
func (internals) CommDescriptor(c *Comm) (address uintptr, layout uint64) {
	if c.freed.Load() || c.w.SlowPath() {
		return 0, 0
	}
	if address = c.w.Coll.Descriptor(c.core); address == 0 {
		return 0, 0
	}
	return address, rma.LayoutNumber(coll.DescriptorLayout())
}

// Await is for code that looks at the CommDescriptor, and has begun a collective in which it now
// has to wait for long: until a word that is found from there is n or more. When that cannot
// be the collective has failed.
//
// C: none; MPI_Barrier and others wait here.
func (internals) Await(c *Comm, word *atomic.Uint64, n uint64) error {
	k, err := c.w.Coll.Await(c.core, word, n)
	return c.done(k, err)
}

// Ring is for code that looks at the CommDescriptor, and finds there that members sleep: it wakes
// them.
//
// C: none; MPI_Barrier and others wake members here.
func (internals) Ring(c *Comm) { c.w.Coll.Ring(c.core) }

// ShareType writes size and bounds of the type to a record outside of the Go heap that compiled
// code in C reads, in the layout that TypeLayout has the number of, and lets that code commit
// the type there. It returns false, and nobody may read the record, if the type has been freed, or
// if it is not committed and has another record. UnshareType ends the use of the record.
//
// C: none; MPI_Type_size, MPI_Type_commit and others look at it.
func (internals) ShareType(d Datatype, record *shmfmt.Type) bool {
	t, err := d.engine()
	return err == nil && t.Share(record)
}

// ShareProgram lets compiled code in C pack and unpack elements of the type by a record from
// ShareType, if the type is committed, is simple, and has been used before. The caller sees to it
// that calls for one record, and UnshareType, come one after the other.
//
// C: none; MPI_Pack and MPI_Unpack look at it.
func (internals) ShareProgram(d Datatype, record *shmfmt.Type) {
	if t, err := d.engine(); err == nil {
		t.ShareProgram(record)
	}
}

// UnshareType ends the use of a record from ShareType, which compiled code in C must not find any
// more. The type may have been freed.
//
// C: none; MPI_Type_free comes here.
func (internals) UnshareType(d Datatype, record *shmfmt.Type) { d.h.t.Unshare(record) }

// TypeLayout is the number of the layout of the records that ShareType writes.
//
// C: none; MPI_Pack and MPI_Unpack look at it.
func (internals) TypeLayout() uint64 { return rma.LayoutNumber(dtype.DescriptorLayout()) }
