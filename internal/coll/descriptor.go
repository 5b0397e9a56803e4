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
// Where fields are, and how long they are valid, is as for windows: see package rma.

// Descriptor returns the address of the state of c for code in other languages, 0 if that has
// to leave all collectives of c to this package: where there is no slot, or not all kinds are to
// use it, or they are checked. It is valid as long as c is reachable and not freed.
func (e *Engine) Descriptor(c *comm.Comm) uintptr {
	st, ok := c.Coll.(*state)
	if !ok || c.Inter != nil || st.slot == nil || st.checks || e.choice.Slot == SlotNone || e.choice.Forced != [Kinds]bool{} {
		return 0
	}
	if e.choice.Slot != SlotAuto {
		st.slot.form = e.choice.Slot
	}
	return uintptr(unsafe.Pointer(st))
}

// Await waits for long until a word of the slot of c is n or more, as part of the collective
// that another language has begun, and returns that's kind.
func (e *Engine) Await(c *comm.Comm, word *atomic.Uint64, n uint64) (Kind, error) {
	s := stateOf(c).slot
	return s.kind, through(c, s.awaitLong(word, n))
}

// Ring wakes the other members of c.
func (e *Engine) Ring(c *comm.Comm) { stateOf(c).slot.ring() }

// DescriptorLayout is where things are in a state and what is found from there, and what has to
// be known of the forms and limits of slots.
func DescriptorLayout() []shmfmt.Field {
	var st state
	var s slot
	var t stream
	var head shmfmt.SlotHead
	var turn shmfmt.Turn
	var cell shmfmt.Cell
	streamAt, releaseAt := unsafe.Offsetof(s.stream), unsafe.Offsetof(head.Release)
	return []shmfmt.Field{
		{Name: "STATE_BUSY", Value: int64(unsafe.Offsetof(st.busy.blocking))},
		{Name: "STATE_SLOT", Value: int64(unsafe.Offsetof(st.slot))},
		{Name: "STATE_BROKEN", Value: int64(unsafe.Offsetof(st.broken))},
		{Name: "SLOT_HEAD", Value: int64(unsafe.Offsetof(s.head))},
		{Name: "SLOT_CELLS", Value: int64(unsafe.Offsetof(s.cells))}, // a slice: address, length
		{Name: "SLOT_FORM", Value: int64(unsafe.Offsetof(s.form))},
		{Name: "SLOT_KIND", Value: int64(unsafe.Offsetof(s.kind))},
		{Name: "SLOT_LOADS", Value: int64(unsafe.Offsetof(s.loads))},
		{Name: "SLOT_YIELDS", Value: int64(unsafe.Offsetof(s.yields))},
		{Name: "SLOT_NUMBER", Value: int64(unsafe.Offsetof(s.number))},
		{Name: "SLOT_KNOWN", Value: int64(unsafe.Offsetof(s.known))},
		{Name: "SLOT_TURNS", Value: int64(unsafe.Offsetof(s.turns))},
		{Name: "SLOT_CORES", Value: int64(unsafe.Offsetof(s.cores))},
		{Name: "SLOT_ABSENT", Value: int64(unsafe.Offsetof(s.absent))},
		{Name: "SLOT_VAIN", Value: int64(unsafe.Offsetof(s.vain))},
		{Name: "SLOT_HOPE", Value: int64(unsafe.Offsetof(s.hope))},
		{Name: "SLOT_SHORTS", Value: int64(unsafe.Offsetof(s.short))},  // a slice
		{Name: "SLOT_STAGES", Value: int64(unsafe.Offsetof(s.stages))}, // a slice
		{Name: "SLOT_STREAM_BYTES", Value: int64(streamAt + unsafe.Offsetof(t.bytes))},
		{Name: "SLOT_STREAM_NUMBER", Value: int64(streamAt + unsafe.Offsetof(t.number))},
		{Name: "SLOT_STREAM_AT", Value: int64(streamAt + unsafe.Offsetof(t.at))},
		{Name: "SLOT_STREAM_ENDS", Value: int64(streamAt + unsafe.Offsetof(t.ends))},
		{Name: "SLOT_STREAM_PASSED", Value: int64(streamAt + unsafe.Offsetof(t.passed))},
		{Name: "HEAD_ARRIVED", Value: int64(unsafe.Offsetof(head.Arrived))},
		{Name: "HEAD_RELEASE_NUMBER", Value: int64(releaseAt + unsafe.Offsetof(head.Release.Number))},
		{Name: "HEAD_RELEASE_DATA", Value: int64(releaseAt + unsafe.Offsetof(head.Release.Data))},
		{Name: "HEAD_SLEEPERS", Value: int64(unsafe.Offsetof(head.Sleepers))},
		{Name: "HEAD_TURNS", Value: int64(unsafe.Offsetof(head.Turns))},
		{Name: "TURN_BYTES", Value: int64(unsafe.Sizeof(turn))},
		{Name: "TURN_NUMBER", Value: int64(unsafe.Offsetof(turn.Number))},
		{Name: "TURN_SIZE", Value: int64(unsafe.Offsetof(turn.Size))},
		{Name: "TURN_BITS", Value: shmfmt.TurnBits},
		{Name: "TURN_SHORT", Value: int64(unsafe.Offsetof(turn.Short))},
		{Name: "CELL_NUMBER", Value: int64(unsafe.Offsetof(cell.Number))},
		{Name: "CELL_SHORT", Value: int64(unsafe.Offsetof(cell.Short))},
		{Name: "CELL_PASSED", Value: int64(unsafe.Offsetof(cell.Passed))},
		{Name: "FORM_CELLS", Value: int64(SlotCells)},
		{Name: "KIND_BARRIER", Value: int64(Barrier)},
		{Name: "KIND_BCAST", Value: int64(Bcast)},
		{Name: "KIND_ALLREDUCE", Value: int64(Allreduce)},
		{Name: "KIND_ALLGATHER", Value: int64(Allgather)},
		{Name: "KIND_ALLTOALL", Value: int64(Alltoall)},
		{Name: "BUSY_FIRST", Value: int64(Blocking(0))},
		{Name: "SLOT_SHORT", Value: shmfmt.SlotShort},
		{Name: "SLOT_LINE", Value: shmfmt.Line},
		{Name: "SLOT_PATIENCE", Value: patience},
		{Name: "SLOT_VAIN_MAX", Value: vainMax},
		{Name: "STAGE_BYTES", Value: shmfmt.StageSize},
		{Name: "STREAM_SHORT", Value: shmfmt.StreamShort},
		{Name: "STREAM_BYTES", Value: shmfmt.StreamBytes},
		{Name: "STREAM_TURNS", Value: shmfmt.StreamTurns},
		{Name: "SLOT_MOST", Value: min(streamPiece, shmfmt.StageSize, SlotPair)}, // what takes one piece, or step, of two members as of many
	}
}
