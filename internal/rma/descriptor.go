package rma

import (
	"hash/fnv"
	"slices"
	"strconv"
	"unsafe"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # The same memory from C
//
// A call from C to Go costs as much as ten operations on mapped memory. So the C library
// looks at what the shortest ways here look at (View.opened, room, View.Flush,
// apply.Region.FetchOp) by itself, in the same records, and does the same with the same memory, as
// far as that is a copy or atomic operations, and with memory that the kernel copies
// (View.putUnlocked); of all else it knows nothing, and calls Go. In records it stores two things:
// that a put or get has followed a fence (admit), and how many may still go by the kernel
// (TargetRecord.May). All else goes into memory of windows, and stripes.
//
// Where fields are, the compiler of Go tells (DescriptorLayout), and the header of C is
// generated from that. Both sides compare the layout's number when they meet.
//
// Rejected: records for C beside the structs of Go, which every change of an epoch would have to
// keep in step.

// Descriptor returns the address of the record of v for code in other languages, and the number of
// the layout that they have to know. It is valid as long as v is reachable and not freed. It is 0
// for the view of a memory handle, of which they know nothing.
func (v *View) Descriptor() (address uintptr, layout uint64) {
	if v.handle != nil {
		return 0, 0
	}
	return uintptr(unsafe.Pointer(v.rec)), LayoutNumber(DescriptorLayout())
}

// DescriptorLayout is where things are in the records of views, windows and targets, and what the
// bits of words mean. Words are atomic: partners of loads in C are those of the loads of the
// same words here.
func DescriptorLayout() []shmfmt.Field {
	return slices.Concat(shmfmt.WindowRecordLayout(), []shmfmt.Field{
		{Name: "GATE_OPEN", Value: int64(gateOpen)},
		{Name: "GATE_LOCKED", Value: int64(gateLocked)},
		{Name: "MODE_LOCK_ALL", Value: int64(modeLockAll)},
		{Name: "MODE_FENCE", Value: int64(modeFence)},
		{Name: "HOW_IN_ORDER", Value: howInOrder},
		{Name: "HOW_INTRINSIC", Value: howIntrinsic},
		{Name: "COPY_LESS", Value: moveMin}, // what is longer, package dtype moves faster
	}, shmfmt.StripesLayout())
}

// LayoutNumber is a number that another layout most likely does not have.
func LayoutNumber(fields []shmfmt.Field) uint64 {
	h := fnv.New64a()
	for _, f := range fields {
		h.Write([]byte(f.Name))
		h.Write(strconv.AppendInt([]byte{' '}, f.Value, 10))
	}
	return h.Sum64()
}
