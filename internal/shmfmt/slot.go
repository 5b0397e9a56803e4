package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

const (
	// SlotCount is the number of communicators of a node that can have a slot for their
	// collectives at a time. The others use messages.
	SlotCount = 64
	// SlotPayload is the longest result in a Release, in bytes.
	SlotPayload = 8 * Line
	// SlotShort is the size in bytes of a short contribution. Two fit into the line of the number.
	SlotShort = 24
)

// Cell is one member's part of a slot; only that member writes it. The number and the short
// contributions are in one line, so that a member that loads the number has them too. Successive
// collectives use two places for contributions in turn, because a member may enter the next
// collective while others still read its contribution to this one. Longer contributions are in the
// member's stages.
//
// Rejected: a line for each turn. On cores that do not share a cache it takes a
// third longer.
type Cell struct {
	// Number is the number of the last collective that the member has entered: stored after its
	// contribution, and loaded before it by all others.
	Number atomic.Uint64
	Short  [2][SlotShort]byte
	// Said is a digest of what the member states about its contribution, in the same turns: words of
	// package coll, 0 for none. Members whose digests differ look for the statement in Stated.
	Said [2]uint32
	// Passed is the number of the last piece of the stream that the member has read: stored
	// after it has copied the piece, and loaded by a root before it overwrites the piece. Roots
	// load it only when they have no room, so that mostly the line stays with the member.
	Passed atomic.Uint64
	// Met is what the member states in a Barrier that ends by a release, in the turns of these:
	// stored before the member arrives, and loaded by the last to arrive, and by the others only
	// if members disagree. So it needs no place that collectives of other forms still read.
	Met [2]uint32
	// Refused is the number of the last collective in which the member takes no part, and
	// RefusedPiece that of the last piece of the stream which it should have sent. Why and
	// PieceWhy give the reasons in words of package coll, and are stored before.
	Refused      atomic.Uint64
	RefusedPiece atomic.Uint64
	Why          uint64
	PieceWhy     uint64
	// Left is the number of the last collective that the member has left because another one
	// takes no part in it.
	Left atomic.Uint64
	// Skips is the number of the last piece of the stream that begins a broadcast in which the
	// member, not its root, takes no part.
	Skips atomic.Uint64
	// Shown is the last step in which the member has put a part of a long parcel into its stage, and
	// Taken is the first step of which it may still read the stages or the memory of others: steps of
	// neighbourhood collectives, in words of package coll. Shown is stored after the part, and loaded
	// before it by the readers. Taken is stored after the member has read, and loaded by the others before
	// they overwrite what it has read.
	Shown atomic.Uint64
	Taken atomic.Uint64
	// Stated has the last two statements of the member that differ: the next one is stored, over the older of
	// the two, before the contribution. Others load them only if digests differ, so the line stays with the member.
	//
	// Rejected: to store, or only load, a statement in each collective. With 2 ranks that makes an Allreduce of
	// 8 bytes a third slower, wherever in the cell it is: the line is not in the member's cache any more.
	Stated [2]Statement
	// Parcels are what the member gives its neighbours, or the beginning of it, in the turns of Short. They are
	// beside the numbers so that little memory is touched: if a core switches between processes, each page
	// costs a walk through the page table.
	Parcels [2][Line]byte
}

// Statement is what a member states about its contributions to a collective and those after it, up to the next
// statement.
type Statement struct {
	Since  uint64 // number of the first collective
	Said   uint64 // a word of package coll
	Length uint64 // of the contribution to the whole collective, in bytes
}

// PutShort stores a contribution of at most SlotShort bytes, and said, which the caller publishes next.
// It loads nothing from the line, and does nothing else between its stores. Another core polls the
// line: a load, such as the check of a nil pointer, would fetch the line once before the stores do,
// and a delay between the stores would let the other core fetch it in between.
func (c *Cell) PutShort(turn uint64, said uint32, data []byte) {
	*(*uint32)(unsafe.Add(unsafe.Pointer(c), unsafe.Offsetof(c.Said)+uintptr(turn&1)*4)) = said
	at := unsafe.Add(unsafe.Pointer(c), unsafe.Offsetof(c.Short)+uintptr(turn&1)*SlotShort)
	if len(data) == 8 {
		*(*[8]byte)(at) = [8]byte(data)
		return
	}
	var short [SlotShort]byte
	copy(short[:], data)
	*(*[SlotShort]byte)(at) = short
}

// Release is the result of a collective. The last member to arrive writes it.
type Release struct {
	// Number is twice the number of collectives that have been released, plus 1 if the last of
	// them ends with an error for all. It is stored after Data.
	Number atomic.Uint64
	Data   [SlotPayload]byte
	_      [Line - 8]byte
}

// SlotHead is the part of a slot that its members share.
type SlotHead struct {
	// Arrived counts the arrivals of all members in the collectives that end by a release.
	Arrived atomic.Uint64
	_       [Line - 8]byte
	Release Release
	// Sleepers counts the members that sleep, or are about to, until a number in the slot
	// changes.
	Sleepers atomic.Uint32
	// Freed counts the members that do not use the slot any more.
	Freed atomic.Uint32
	// Owner is the context of the communicator that holds the slot, 0 if none does.
	Owner atomic.Uint64
	// Refusals counts how often a member has stored Refused or RefusedPiece of its cell: added to
	// after them, and loaded before them by members that have to wait for long.
	Refusals atomic.Uint64
	_        [Line - 24]byte
	// Turns announce the pieces of the stream.
	Turns [StreamTurns]Turn
}

const (
	cellSize = int64(unsafe.Sizeof(Cell{}))
	headSize = int64(unsafe.Sizeof(SlotHead{}))
)

// SlotSize returns the size in bytes of one slot for n processes.
func SlotSize(n int) int64 { return headSize + int64(n)*cellSize }

// Slot is the part of the control segment for the collectives of one communicator.
type Slot struct {
	mem   []byte
	c     *Control
	index int
}

// OpenSlot makes slot i accessible and returns it.
func (c *Control) OpenSlot(i int) (Slot, error) {
	s := c.Slot(i)
	return s, c.open.open(c.slots+int64(i)*SlotSize(c.n), SlotSize(c.n))
}

// Slot returns slot i, which this process has opened.
func (c *Control) Slot(i int) Slot {
	size := SlotSize(c.n)
	at := c.slots + int64(i)*size
	return Slot{c.mem[at : at+size : at+size], c, i}
}

// Head returns the part that the members share.
func (s Slot) Head() *SlotHead { return (*SlotHead)(unsafe.Pointer(&s.mem[0])) }

// Cell returns the part of the member with rank i in the communicator.
func (s Slot) Cell(i int) *Cell {
	return (*Cell)(unsafe.Pointer(&s.mem[headSize+int64(i)*cellSize]))
}

// Acquire takes the slot for the communicator of context owner. It returns false if another one holds
// it. A new owner finds all numbers 0.
func (s Slot) Acquire(owner uint64) bool {
	return s.Head().Owner.CompareAndSwap(0, owner) // pairs with the store in Free
}

// Free is called by each of the n members when it does not use the slot any more. The last one makes
// the slot free.
func (s Slot) Free(n int) {
	h := s.Head()
	if h.Freed.Add(1) < uint32(n) { // other members still use the slot
		return
	}
	h.Freed.Store(0)
	h.Arrived.Store(0)
	h.Release.Number.Store(0)
	h.Refusals.Store(0)
	streamed := false
	for i := range n {
		c := s.Cell(i)
		c.Number.Store(0)
		c.Said, c.Met, c.Stated = [2]uint32{}, [2]uint32{}, [2]Statement{}
		streamed = streamed || c.Passed.Load() != 0
		c.Passed.Store(0)
		c.Refused.Store(0)
		c.RefusedPiece.Store(0)
		c.Left.Store(0)
		c.Skips.Store(0)
		c.Shown.Store(0)
		c.Taken.Store(0)
	}
	if streamed {
		for i := range h.Turns {
			h.Turns[i].Number.Store(0)
		}
	}
	h.Owner.Store(0) // last: pairs with the swap in Acquire
}
