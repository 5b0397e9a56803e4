package coll

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # The same slot from C
//
// A call from C to Go takes as long as a short collective through a slot. So the C library carries
// out the shortest of them itself, in the same slot. Its steps are those of barrier, bcast,
// allreduce, allgather and alltoall in this package, and it advances the same numbers, so that the
// next collective may be carried out by either side. A member that waits in C loads and yields as
// often as await does. If that finds nothing, C calls Await, which goes on like await; if another
// member sleeps, C calls Ring. So this package knows what each member waits for, and ends the wait
// when a member dies.
//
// Both sides keep the state of the member in one record outside of the Go heap (shmfmt.SlotState).

// Descriptor returns the address of the record that this package and code in C share of the slot of
// c. It returns 0 if C must leave all collectives of c to this package: if there is no slot, if not
// all kinds use it, or if collectives are checked. The address is valid as long as c is reachable
// and not freed.
func (e *Engine) Descriptor(c *comm.Comm) uintptr {
	st, ok := c.Coll.(*state)
	if !ok || c.Inter != nil || st.slot.SlotState == nil || st.checks || e.choice.Slot == slot.None || e.choice.Forced != [Kinds]bool{} {
		return 0
	}
	if e.choice.Slot != slot.Auto {
		st.slot.Form = uint8(e.choice.Slot)
	}
	return uintptr(unsafe.Pointer(st.slot.SlotState))
}

// Await waits until a word of the slot of c is n or more, as part of a collective that C has begun,
// and returns the kind of that collective. It does not spin first.
func (e *Engine) Await(c *comm.Comm, word *atomic.Uint64, n uint64) (Kind, error) {
	s := &stateOf(c).slot
	return Kind(s.Kind), s.Ended(s.AwaitLong(word, n))
}

// Disagreement returns the error of members whose digests differ, in a collective that C has begun, and
// the kind of that collective. The last member to arrive releases the others with the error.
func (e *Engine) Disagreement(c *comm.Comm, last bool) (Kind, error) {
	s := &stateOf(c).slot
	s.Terms.Said, s.Terms.Length = uint32(s.Last.Said), int(s.Last.Length)
	err := s.Ended(s.Disagreement())
	if err != nil && last {
		s.Release(err)
	}
	return Kind(s.Kind), err
}

// Ring wakes the other members of c.
func (e *Engine) Ring(c *comm.Comm) { stateOf(c).slot.Ring() }

// DescriptorLayout lists the offsets in the record of a slot and in the memory that it leads to, and
// the forms and limits of slots that C uses.
func DescriptorLayout() []shmfmt.Field {
	return append(shmfmt.SlotLayout(), []shmfmt.Field{
		{Name: "FORM_CELLS", Value: int64(slot.Cells)},
		{Name: "KIND_BARRIER", Value: int64(Barrier)},
		{Name: "KIND_BCAST", Value: int64(Bcast)},
		{Name: "KIND_ALLREDUCE", Value: int64(Allreduce)},
		{Name: "KIND_ALLGATHER", Value: int64(Allgather)},
		{Name: "KIND_ALLTOALL", Value: int64(Alltoall)},
		{Name: "CALL_BARRIER", Value: int64(call.Barrier)},
		{Name: "CALL_BCAST", Value: int64(call.Bcast)},
		{Name: "CALL_ALLREDUCE", Value: int64(call.Allreduce)},
		{Name: "CALL_ALLGATHER", Value: int64(call.Allgather)},
		{Name: "CALL_ALLTOALL", Value: int64(call.Alltoall)},
		{Name: "BUSY_CALL", Value: 1<<callBits - 1}, // the bits of the word that hold the call
		{Name: "SLOT_SPINS", Value: slot.Spins},
		{Name: "SLOT_BACKOFF_MAX", Value: slot.BackOffMax},
		{Name: "SLOT_BALANCE_EVERY", Value: slot.BalanceEvery},
		{Name: "SLOT_MOST", Value: min(slot.StreamPiece, shmfmt.StageSize)}, // one piece or step with any number of members
	}...)
}
