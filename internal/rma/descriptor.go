package rma

import (
	"hash/fnv"
	"strconv"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # The same memory from C
//
// A call from C to Go costs as much as ten operations on mapped memory. So the C library
// looks at what the shortest ways here look at (View.opened, target.room, View.Flush,
// apply.Region.FetchOp) by itself, and does the same with the same memory, as far as that is
// a copy or atomic operations, and with memory that the kernel copies (View.putUnlocked); of all
// else it knows nothing, and calls Go. Of what is described here it stores two things: that a put
// or get has followed a fence (admit), and how many may still go by the kernel (unlocked.may). All
// else goes into memory of windows, and stripes.
//
// Where fields are, the compiler of Go tells (DescriptorLayout), and the header of C is
// generated from that: they may be moved at will. Both sides compare the layout's number
// when they meet.
//
// Views, windows and targets are found from each other, and are on the heap, which does not
// move what is there: so they stay where they are as long as somebody in Go has the view.
// Rejected: descriptors in memory of C, which the engine would have to keep up to date beside
// its own; and pinning, which would have to follow targets as they come, and whose finalizer
// ends a process that forgets to unpin, while it changes nothing about where things are.

// Descriptor returns the address of v for code in other languages, and the number of the
// layout that they have to know. It is valid as long as v is reachable and not freed. It is 0
// for the view of a memory handle, of which they know nothing.
func (v *View) Descriptor() (address uintptr, layout uint64) {
	if v.handle != nil {
		return 0, 0
	}
	return uintptr(unsafe.Pointer(v)), LayoutNumber(DescriptorLayout())
}

// DescriptorLayout is where things are in a View and what is found from there, and what the
// bits of words mean. Words are atomic: partners of loads in C are those of the loads of the
// same words here.
func DescriptorLayout() []shmfmt.Field {
	var v View
	var w Window
	var t target
	region := unsafe.Offsetof(t.region)
	return append([]shmfmt.Field{
		{Name: "VIEW_WINDOW", Value: int64(unsafe.Offsetof(v.w))},
		{Name: "VIEW_HOW", Value: int64(unsafe.Offsetof(v.how))},
		{Name: "WINDOW_MODE", Value: int64(unsafe.Offsetof(w.mode))},
		{Name: "WINDOW_TARGETS", Value: int64(unsafe.Offsetof(w.targets))}, // a slice: address, length
		{Name: "TARGET_GATE", Value: int64(unsafe.Offsetof(t.gate))},
		{Name: "TARGET_UNIT", Value: int64(unsafe.Offsetof(t.unit))},
		{Name: "TARGET_MOST", Value: int64(unsafe.Offsetof(t.most))},
		{Name: "TARGET_SIZE", Value: int64(unsafe.Offsetof(t.size))},
		{Name: "TARGET_ADDR", Value: int64(unsafe.Offsetof(t.addr))},
		{Name: "TARGET_MAY", Value: int64(unsafe.Offsetof(t.may))},
		{Name: "TARGET_PID", Value: int64(unsafe.Offsetof(t.pid))},
		{Name: "TARGET_GONE", Value: int64(unsafe.Offsetof(t.gone))}, // the address of a word
		{Name: "TARGET_CONTROL", Value: int64(unsafe.Offsetof(t.control))},
		{Name: "TARGET_FRAMED", Value: int64(unsafe.Offsetof(t.framed))},
		{Name: "TARGET_MEM", Value: int64(region + unsafe.Offsetof(apply.Region{}.Mem))}, // a slice: address, length
		{Name: "TARGET_STRIPES", Value: int64(region + unsafe.Offsetof(apply.Region{}.Stripes))},
		{Name: "TARGET_ME", Value: int64(region + unsafe.Offsetof(apply.Region{}.Me))},
		{Name: "TARGET_FINE", Value: int64(region + unsafe.Offsetof(apply.Region{}.Fine))},
		{Name: "GATE_OPEN", Value: int64(gateOpen)},
		{Name: "GATE_LOCKED", Value: int64(gateLocked)},
		{Name: "MODE_LOCK_ALL", Value: int64(modeLockAll)},
		{Name: "MODE_FENCE", Value: int64(modeFence)},
		{Name: "HOW_IN_ORDER", Value: howInOrder},
		{Name: "HOW_INTRINSIC", Value: howIntrinsic},
		{Name: "COPY_LESS", Value: moveMin}, // what is longer, package dtype moves faster
	}, shmfmt.StripesLayout()...)
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
