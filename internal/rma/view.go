package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Flavor is how a window got its memory (MPI_WIN_CREATE_FLAVOR).
type Flavor uint8

// The flavors.
const (
	Created   Flavor = 1 + iota // over memory of the program
	Allocated                   // with memory of its own
	Dynamic                     // memory is attached later
	Shared                      // with memory that all members can load and store
)

// String is the name of the flavor.
func (f Flavor) String() string {
	switch f {
	case Created:
		return "created"
	case Allocated:
		return "allocated"
	case Dynamic:
		return "dynamic"
	case Shared:
		return "shared"
	}
	return "no flavor"
}

// Ordering is which accumulates of one origin on one location keep their order
// (accumulate_ordering): the later one's kind of access after the earlier one's.
type Ordering uint8

// The orderings; none of them is "none", and Ordered, the default, is all.
const (
	ReadAfterRead Ordering = 1 << iota
	ReadAfterWrite
	WriteAfterRead
	WriteAfterWrite

	Ordered = ReadAfterRead | ReadAfterWrite | WriteAfterRead | WriteAfterWrite
)

// Options are the hints of a window. The zero value is that without hints, except for Ordering,
// whose default is Ordered.
type Options struct {
	NoLocks      bool     // no_locks: Lock and LockAll without ModeNoCheck are errors
	Ordering     Ordering // accumulate_ordering
	SameOp       bool     // accumulate_ops=same_op instead of same_op_no_op
	SameSize     bool     // same_size: an assertion
	SameDispUnit bool     // same_disp_unit: an assertion
	Granularity  int64    // mpi_accumulate_granularity in bytes; 0: none
	Thread       bool     // mpi_win_scope=thread: flushes cover operations of the view only
	InOrder      bool     // mpi_win_order: operations to a target are complete there in order
	Intrinsic    bool     // mpi_assert_accumulate_intrinsic, where it can be used
}

// Spec is what a member passes to Create.
type Spec struct {
	Flavor    Flavor
	Mem       []byte // of Created
	Size      int64  // of Allocated and Shared, in bytes
	DispUnit  int64  // in bytes; not of Dynamic
	Align     int64  // of Allocated and Shared: a power of two, 0 for the default
	Noncontig bool   // of Shared: the members' memory need not be contiguous
	Options   Options
	Own       bool  // of the library itself: checking mode does not watch it
	Refused   error // an error of the caller: all members get it, and no window is made
}

// View is a window as it is used with one set of hints.
type View struct {
	w       *Window
	rec     *shmfmt.ViewRecord      // the record that operations load
	first   bool                    // the view that Create has made
	number  uint16                  // of its channels, 0 for the main ones; under the engine's lock
	options atomic.Pointer[Options] // never nil
	handle  *handle                 // of a memory handle; nil in other views
}

// Options returns the hints.
func (v *View) Options() Options { return *v.options.Load() }

// Scoped reports whether flushes cover the operations of the view only.
func (v *View) Scoped() bool { return v.options.Load().Thread }

// Bits of shmfmt.ViewRecord.How.
const (
	howInOrder   = 1 // Options.InOrder
	howIntrinsic = 2 // Options.Intrinsic
)

// SetOptions changes the hints. The granularity stays what it was at creation: others rely on it.
// Hints that duplicates share stay while there are any; and Intrinsic stays false where the memory
// of some member is not mapped here. It takes the lock.
func (v *View) SetOptions(o Options) {
	was := v.Options()
	o.Granularity = was.Granularity
	v.w.e.p.Lock()
	defer v.w.e.p.Unlock()
	if !v.w.alone() {
		o.NoLocks, o.SameSize, o.SameDispUnit = was.NoLocks, was.SameSize, was.SameDispUnit
	}
	v.setOptions(o)
}

// setOptions makes o the options as far as they can be met. The lock is held.
func (v *View) setOptions(o Options) {
	o.Intrinsic = o.Intrinsic && v.w.direct()
	if o.Thread {
		v.takeNumber()
	} else {
		v.giveNumber()
	}
	how := uint32(0)
	if o.InOrder {
		how |= howInOrder
	}
	if o.Intrinsic {
		how |= howIntrinsic
	}
	v.rec.How.Store(how)
	v.w.rec.NoLocks.Store(o.NoLocks)
	v.options.Store(&o)
}

// Idle returns an error if Free would fail: an epoch is open, or a request waits for a counter, and
// the view is the first, or the last that uses the window. It takes the lock.
func (v *View) Idle() error {
	if v.handle != nil {
		return nil // also when its parent has been freed
	}
	if err := v.w.live(); err != nil {
		return err
	}
	if !v.first && !v.last() {
		return nil // a duplicate
	}
	if err := v.w.idle(); err != nil {
		return err
	}
	return v.w.unawaited()
}

// Comm is the window's own communicator; its name is that of the window.
func (v *View) Comm() *comm.Comm { return v.w.Comm }

// Flavor returns how the window got its memory.
func (v *View) Flavor() Flavor { return v.w.flavor }

// Local returns the own memory, nil in dynamic windows.
func (v *View) Local() []byte { return v.w.mem }

// Unit returns the own displacement unit, that of the target for a memory handle.
func (v *View) Unit() int64 {
	if v.handle != nil {
		return v.handle.unit
	}
	return v.w.table.at(v.w.Comm.Rank).unit
}
