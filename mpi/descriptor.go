package mpi

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/rma"
)

// CommDescriptor is the address of what the library keeps of a communicator, and the number of
// its layout: for bindings in other languages, whose compiled code then does the shortest of
// blocking collectives by itself. abi/lib/fast_layout.h has the layout, with its number; who
// knows another one must not look. The address is valid until the communicator is freed, as
// long as the Comm is reachable. It is 0 where there is nothing to be seen: in checking mode,
// where the members do not all share memory, and of a communicator that is not there yet, or
// not any more.
//
// C: none; MPI_Barrier and others look at it.
func (internals) CommDescriptor(c *Comm) (address uintptr, layout uint64) {
	if c.freed.Load() || c.w.Odd() {
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

// TypeDescriptor is the address of what the library keeps of a datatype, in the layout that
// TypeLayout has the number of: for compiled code that reads size and bounds, commits the
// type, and with packs, which is false for a type that is not committed, not simple, or has not
// been used yet, packs and unpacks by itself. It is valid as long as the Datatype is reachable, and 0 for one that has been freed.
//
// C: none; MPI_Type_size, MPI_Type_commit, MPI_Pack and others look at it.
func (internals) TypeDescriptor(d Datatype) (address uintptr, packs bool) {
	t, err := d.engine()
	if err != nil {
		return 0, false
	}
	return t.Descriptor()
}

// TypeLayout is the number of the layout that a TypeDescriptor is the address of.
//
// C: none; MPI_Pack and MPI_Unpack look at it.
func (internals) TypeLayout() uint64 { return rma.LayoutNumber(dtype.DescriptorLayout()) }
