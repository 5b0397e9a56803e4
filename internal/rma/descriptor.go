package rma

import (
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # The same memory from C
//
// A call from C to Go costs as much as ten operations on mapped memory. So the C library reads the
// records that the shortest paths here read (View.opened, room, View.Flush, apply.Region.FetchOp),
// and does the same with the same memory, as far as that is a copy or atomic operations; it
// copies by the kernel (View.putUnlocked); and it locks and unlocks targets on the node whose lock nobody
// else claims, with Window.mu held (AfterC). For all else it calls Go. Beside the state of locks it stores
// two things in records: that a put or get has followed a fence (admit), and how many more operations may
// use the kernel (TargetRecord.May). All other stores go into memory of windows, and stripes.
//
// Go computes the offsets of fields (DescriptorLayout), from which the header of C is generated.
// Go passes the number of the layout with each record, and C compares it with that of its header.
//
// Rejected: records for C beside the structs of Go, which every change of an epoch would have to
// update.

// Descriptor returns the address of the record of v for code in other languages. It is valid as long as v is
// reachable and not freed. It is 0 for the view of a memory handle, which they cannot use.
func (v *View) Descriptor() uintptr {
	if v.handle != nil {
		return 0
	}
	return uintptr(unsafe.Pointer(v.rec))
}

// AfterC does what remains of a Lock or Unlock in C that others have to do with: with wake it wakes those that
// claim the lock of the target, which C has given up, and with unlock it unlocks Window.mu, for which others wait.
func (v *View) AfterC(target int, wake, unlock bool) {
	w := v.w
	if unlock {
		w.mu.Unlock()
	}
	if t := w.usedTarget(target); wake && t != nil && w.wakeClaimants(t) {
		w.serveNow()
	}
}

// DescriptorLayout is the offsets of fields in the records of views, windows and targets, and the
// meaning of bits. Words are atomic: a load in C pairs with the same stores as the loads of the
// word here.
func DescriptorLayout() []shmfmt.Field {
	return slices.Concat(shmfmt.WindowRecordLayout(), []shmfmt.Field{
		{Name: "GATE_OPEN", Value: int64(gateOpen)},
		{Name: "GATE_LOCKED", Value: int64(gateLocked)},
		{Name: "MODE_LOCK_ALL", Value: int64(modeLockAll)},
		{Name: "MODE_FENCE", Value: int64(modeFence)},
		{Name: "EPOCH_NONE", Value: int64(epochNone)},
		{Name: "EPOCH_LOCK", Value: int64(epochLock)},
		{Name: "HELD_NOT", Value: heldNot},
		{Name: "HELD_LOCKED", Value: heldLocked},
		{Name: "HOW_IN_ORDER", Value: howInOrder},
		{Name: "HOW_INTRINSIC", Value: howIntrinsic},
		{Name: "COPY_LESS", Value: mem.MoveMin}, // what is longer, package dtype moves faster
	}, shmfmt.StripesLayout())
}
