package coll

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # The same slot from C
//
// A call from C to Go takes as long as a short collective through a slot. So the C library does
// the shortest of them by itself, with the same slot: it does to it, step by step, what barrier,
// bcast, allreduce, allgather and alltoall do, also in its numbers, so that what comes next
// may come from either side. Whoever waits does so by the same looks and yields; when they were
// in vain C calls Await, which goes on as await does, and when somebody sleeps it calls Ring. So
// what is waited for, and how that ends, is known here as ever.
//
// Both find how far the member has come in one record outside of the Go heap (shmfmt.SlotState).

// Descriptor returns the address of the record that this package and code in C have of the slot
// of c, 0 if that has to leave all collectives of c to this package: where there is no slot, or
// not all kinds are to use it, or they are checked. It is valid as long as c is reachable and not
// freed.
func (e *Engine) Descriptor(c *comm.Comm) uintptr {
	st, ok := c.Coll.(*state)
	if !ok || c.Inter != nil || st.slot.SlotState == nil || st.checks || e.choice.Slot == SlotNone || e.choice.Forced != [Kinds]bool{} {
		return 0
	}
	if e.choice.Slot != SlotAuto {
		st.slot.Form = uint8(e.choice.Slot)
	}
	return uintptr(unsafe.Pointer(st.slot.SlotState))
}

// Await waits for long until a word of the slot of c is n or more, as part of the collective
// that another language has begun, and returns that's kind.
func (e *Engine) Await(c *comm.Comm, word *atomic.Uint64, n uint64) (Kind, error) {
	s := &stateOf(c).slot
	return Kind(s.Kind), s.ended(s.awaitLong(word, n))
}

// Ring wakes the other members of c.
func (e *Engine) Ring(c *comm.Comm) { stateOf(c).slot.ring() }

// DescriptorLayout is where things are in the record of a slot and what is found from there, and
// what has to be known of the forms and limits of slots.
func DescriptorLayout() []shmfmt.Field {
	return append(shmfmt.SlotLayout(), []shmfmt.Field{
		{Name: "FORM_CELLS", Value: int64(SlotCells)},
		{Name: "KIND_BARRIER", Value: int64(Barrier)},
		{Name: "KIND_BCAST", Value: int64(Bcast)},
		{Name: "KIND_ALLREDUCE", Value: int64(Allreduce)},
		{Name: "KIND_ALLGATHER", Value: int64(Allgather)},
		{Name: "KIND_ALLTOALL", Value: int64(Alltoall)},
		{Name: "BUSY_FIRST", Value: int64(CallOf(0, Blocking))},
		{Name: "BUSY_CALL", Value: 1<<callBits - 1}, // the bits of the word that are the call
		{Name: "SLOT_PATIENCE", Value: patience},
		{Name: "SLOT_VAIN_MAX", Value: vainMax},
		{Name: "SLOT_MOST", Value: min(streamPiece, shmfmt.StageSize, SlotPair)}, // what takes one piece, or step, of two members as of many
	}...)
}
