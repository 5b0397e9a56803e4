package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

const (
	// SlotCount is how many communicators of a node can have a slot for their
	// collectives at a time; the others use messages.
	SlotCount = 64
	// SlotPayload is the room in bytes for one process's contribution to a
	// collective in a slot. Two of them alternate, so that a process may be one
	// collective ahead of the slowest.
	SlotPayload = 256
)

// Cell is one process's part of a slot. Only its owner writes it.
type Cell struct {
	// Seq counts the collectives the owner has entered: stored after Data.
	Seq atomic.Uint64
	// Data is the contribution to the collective of number Seq, by parity.
	Data [2][SlotPayload]byte
	_    [Line - 8]byte
}

// SlotHead is the part of a slot that its members share.
type SlotHead struct {
	Arrived atomic.Uint64 // entries into collectives, counted by all members
	_       [Line - 8]byte
	Release atomic.Uint64 // number of the last collective that is complete
	_       [Line - 8]byte
	Waiters atomic.Uint32 // members that sleep, or are about to, until Release moves
	_       [Line - 4]byte
	Owner   atomic.Uint64 // communicator that holds the slot, 0 if none
	_       [Line - 8]byte
	Result  [2][SlotPayload]byte // result of a collective, by parity, written by whoever completes it
}

const (
	cellSize = int64(unsafe.Sizeof(Cell{}))
	headSize = int64(unsafe.Sizeof(SlotHead{}))
)

// SlotSize is the size in bytes of one slot for n processes.
func SlotSize(n int) int64 { return headSize + int64(n)*cellSize }

// Slot is a communicator's place for collectives in the control segment.
type Slot struct {
	mem []byte
}

// Slot returns slot i.
func (c *Control) Slot(i int) Slot {
	size := SlotSize(c.n)
	at := c.slots + int64(i)*size
	return Slot{c.mem[at : at+size : at+size]}
}

// Head returns the shared part.
func (s Slot) Head() *SlotHead { return (*SlotHead)(unsafe.Pointer(&s.mem[0])) }

// Cell returns the part of the member with rank i in the communicator.
func (s Slot) Cell(i int) *Cell {
	return (*Cell)(unsafe.Pointer(&s.mem[headSize+int64(i)*cellSize]))
}
