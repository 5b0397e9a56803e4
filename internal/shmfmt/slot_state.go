package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

// SlotState is the state of one member of a slot: its progress, and the addresses of the parts of the
// slot. It is outside of the Go heap (package offheap), and Go and C of the process use the same copy. The
// type slot of package coll owns it and describes its words.
//
// It is followed by the members' short contributions to the current collective, SlotShort bytes each,
// by rank. The first line contains what the shortest collectives need.
type SlotState struct {
	// Busy has in its lowest byte the blocking call that is in progress in this process, 0 if
	// none is: set by compare-and-swap and cleared by a store, in Go and in C. The upper bytes
	// are a number of the communicator, by which a call after the end of the communicator finds
	// that the record belongs to another one.
	Busy   atomic.Uint64
	Head   uintptr // address of the SlotHead, which the cells follow
	Number uint64  // of the last collective entered
	Known  uint64  // all members have entered the collective of this number
	Loads  int64   // loads of a word before anything else
	Yields int32   // loads with a yield of the core in between, before polling
	Broken bool    // a member has died in the slot, so that its counts are not valid any more; or this member owes steps: see package coll
	Form   uint8   // a form of package coll
	Kind   uint8   // of the last collective entered, a kind of package coll
	Latest uint8   // place of Last in Cell.Stated
	Turns  uint64  // releases waited for
	Absent int64   // members that had not arrived when this one did

	Cores    int64   // number of cores that the processes of the node share; 0 if there is one for each
	Backoff  uint64  // collectives in which this member does not poll for the release, after polls that found nothing
	NextPoll uint64  // the turn from which on it polls again
	Stages   uintptr // address of the members' Stages, 0 before the first use
	Last     Statement
	Stream   SlotStream
}

// SlotStream is the progress of a member in the stream of broadcasts: see stream of package coll.
type SlotStream struct {
	Memory uintptr             // address of the payloads, 0 before the first use
	Number uint64              // of the last piece sent or received
	At     uint64              // bytes used up to and including that piece
	Passed uint64              // all other members have passed this piece
	Ends   [StreamTurns]uint64 // At after each of the last pieces, by turn
}

// SlotLayout returns the layouts of SlotState and of what its addresses lead to.
func SlotLayout() []Field {
	var s SlotState
	var head SlotHead
	var turn Turn
	var cell Cell
	var statement Statement
	streamAt, releaseAt := unsafe.Offsetof(s.Stream), unsafe.Offsetof(head.Release)
	return []Field{
		{"SLOT_BUSY", int64(unsafe.Offsetof(s.Busy))},
		{"SLOT_BROKEN", int64(unsafe.Offsetof(s.Broken))},
		{"SLOT_FORM", int64(unsafe.Offsetof(s.Form))},
		{"SLOT_KIND", int64(unsafe.Offsetof(s.Kind))},
		{"SLOT_LATEST", int64(unsafe.Offsetof(s.Latest))},
		{"SLOT_HEAD", int64(unsafe.Offsetof(s.Head))},
		{"SLOT_NUMBER", int64(unsafe.Offsetof(s.Number))},
		{"SLOT_KNOWN", int64(unsafe.Offsetof(s.Known))},
		{"SLOT_LOADS", int64(unsafe.Offsetof(s.Loads))},
		{"SLOT_YIELDS", int64(unsafe.Offsetof(s.Yields))},
		{"SLOT_TURNS", int64(unsafe.Offsetof(s.Turns))},
		{"SLOT_ABSENT", int64(unsafe.Offsetof(s.Absent))},
		{"SLOT_CORES", int64(unsafe.Offsetof(s.Cores))},
		{"SLOT_BACKOFF", int64(unsafe.Offsetof(s.Backoff))},
		{"SLOT_NEXT_POLL", int64(unsafe.Offsetof(s.NextPoll))},
		{"SLOT_STAGES", int64(unsafe.Offsetof(s.Stages))},
		{"SLOT_LAST", int64(unsafe.Offsetof(s.Last))},
		{"SLOT_STREAM_MEMORY", int64(streamAt + unsafe.Offsetof(s.Stream.Memory))},
		{"SLOT_STREAM_NUMBER", int64(streamAt + unsafe.Offsetof(s.Stream.Number))},
		{"SLOT_STREAM_AT", int64(streamAt + unsafe.Offsetof(s.Stream.At))},
		{"SLOT_STREAM_PASSED", int64(streamAt + unsafe.Offsetof(s.Stream.Passed))},
		{"SLOT_STREAM_ENDS", int64(streamAt + unsafe.Offsetof(s.Stream.Ends))},
		{"SLOT_SHORTS", int64(unsafe.Sizeof(s))},
		{"SLOT_SHORT", SlotShort},
		{"SLOT_LINE", Line},
		{"HEAD_ARRIVED", int64(unsafe.Offsetof(head.Arrived))},
		{"HEAD_RELEASE_NUMBER", int64(releaseAt + unsafe.Offsetof(head.Release.Number))},
		{"HEAD_RELEASE_DATA", int64(releaseAt + unsafe.Offsetof(head.Release.Data))},
		{"HEAD_SLEEPERS", int64(unsafe.Offsetof(head.Sleepers))},
		{"HEAD_TURNS", int64(unsafe.Offsetof(head.Turns))},
		{"HEAD_CELLS", headSize},
		{"TURN_BYTES", int64(unsafe.Sizeof(turn))},
		{"TURN_NUMBER", int64(unsafe.Offsetof(turn.Number))},
		{"TURN_SIZE", int64(unsafe.Offsetof(turn.Size))},
		{"TURN_BITS", TurnBits},
		{"TURN_SHORT", int64(unsafe.Offsetof(turn.Short))},
		{"CELL_BYTES", cellSize},
		{"CELL_NUMBER", int64(unsafe.Offsetof(cell.Number))},
		{"CELL_SHORT", int64(unsafe.Offsetof(cell.Short))},
		{"CELL_SAID", int64(unsafe.Offsetof(cell.Said))},
		{"CELL_STATED", int64(unsafe.Offsetof(cell.Stated))},
		{"STATEMENT_BYTES", int64(unsafe.Sizeof(statement))},
		{"STATEMENT_SINCE", int64(unsafe.Offsetof(statement.Since))},
		{"STATEMENT_SAID", int64(unsafe.Offsetof(statement.Said))},
		{"STATEMENT_LENGTH", int64(unsafe.Offsetof(statement.Length))},
		{"CELL_PASSED", int64(unsafe.Offsetof(cell.Passed))},
		{"STAGE_BYTES", StageSize},
		{"STREAM_SHORT", StreamShort},
		{"STREAM_BYTES", StreamBytes},
		{"STREAM_TURNS", StreamTurns},
	}
}
