package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

const (
	// SlotCount is how many communicators of a node can have a slot for their
	// collectives at a time; the others use messages.
	SlotCount = 64
	// SlotPayload is the longest result in a Release, in bytes.
	SlotPayload = 8 * Line
	// SlotShort is what fits beside the number in bytes, twice.
	SlotShort = 24
)

// Cell is one member's part of a slot; only that member writes it. Number and
// short contributions stand in one line, so that who sees the number has them.
// Contributions are in two places that the collectives use in turn, because a
// member may enter the next one while others still read what it gave to this one.
// Those that are not short stand in the member's stages.
//
// Rejected: a line for each turn. On cores that do not share a cache it takes a
// third longer.
type Cell struct {
	// Number is that of the last collective the member has entered: stored after
	// its contribution, loaded before it by all others.
	Number atomic.Uint64
	Short  [2][SlotShort]byte
	// Said is what the member says about its contribution, in the same turns: words of
	// package coll, 0 for nothing.
	Said [2]uint32
	// Passed is the number of the last piece of the stream that the member is done
	// with: stored after it has looked at the piece, loaded by a root that would
	// otherwise overwrite it. Roots look only when they run out of room, so that
	// mostly the line stays with the member.
	Passed atomic.Uint64
	// Met is what the member says in a Barrier that ends by a release, in the turns of these:
	// stored before it counts itself in, loaded by the last to arrive, and by all others
	// only if members disagree. So it needs no place that collectives of other forms still read.
	Met [2]uint32
	_   [Line - 16]byte
}

// PutShort stores a contribution of at most SlotShort bytes that is published
// next. It loads nothing from the line and leaves nothing between the stores into
// it: the line is in the cache of who spins on it, so that a load (the check of a
// nil pointer, say) would fetch it once before the stores take it, and a pause
// would let the spinner take it away in between. What is said goes with it.
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

// Release is the result of a collective, written by the last member to arrive.
type Release struct {
	// Number says how many collectives have been released, times two, and 1 more if the
	// last of them ends with an error for all: stored after Data.
	Number atomic.Uint64
	Data   [SlotPayload]byte
	_      [Line - 8]byte
}

// SlotHead is the part of a slot that its members share.
type SlotHead struct {
	// Arrived counts the entries of all members into the collectives that
	// end by a release.
	Arrived atomic.Uint64
	_       [Line - 8]byte
	Release Release
	// Sleepers counts the members that sleep, or are about to, until a number
	// in the slot moves.
	Sleepers atomic.Uint32
	// Freed counts the members that will not use the slot any more.
	Freed atomic.Uint32
	// Owner is the context of the communicator that holds the slot, 0 if none.
	Owner atomic.Uint64
	_     [Line - 16]byte
	// Turns are where pieces of the stream are announced.
	Turns [StreamTurns]Turn
}

const (
	cellSize = int64(unsafe.Sizeof(Cell{}))
	headSize = int64(unsafe.Sizeof(SlotHead{}))
)

// SlotSize is the size in bytes of one slot for n processes.
func SlotSize(n int) int64 { return headSize + int64(n)*cellSize }

// Slot is a communicator's place for collectives in the control segment.
type Slot struct {
	mem   []byte
	c     *Control
	index int
}

// OpenSlot returns slot i.
func (c *Control) OpenSlot(i int) (Slot, error) {
	s := c.Slot(i)
	return s, c.open.open(c.slots+int64(i)*SlotSize(c.n), SlotSize(c.n))
}

// Slot returns slot i, which this process has opened before.
func (c *Control) Slot(i int) Slot {
	size := SlotSize(c.n)
	at := c.slots + int64(i)*size
	return Slot{c.mem[at : at+size : at+size], c, i}
}

// Head returns the shared part.
func (s Slot) Head() *SlotHead { return (*SlotHead)(unsafe.Pointer(&s.mem[0])) }

// Cell returns the part of the member with rank i in the communicator.
func (s Slot) Cell(i int) *Cell {
	return (*Cell)(unsafe.Pointer(&s.mem[headSize+int64(i)*cellSize]))
}

// Acquire takes the slot for the communicator of context owner, and reports
// false if another one has it. A new owner finds all numbers 0.
func (s Slot) Acquire(owner uint64) bool {
	return s.Head().Owner.CompareAndSwap(0, owner) // pairs with the store in Free
}

// Free is called by each of the n members when it no longer uses the slot. The
// last one gives it back.
func (s Slot) Free(n int) {
	h := s.Head()
	if h.Freed.Add(1) < uint32(n) { // the members before are done with the slot
		return
	}
	h.Freed.Store(0)
	h.Arrived.Store(0)
	h.Release.Number.Store(0)
	streamed := false
	for i := range n {
		c := s.Cell(i)
		c.Number.Store(0)
		c.Said, c.Met = [2]uint32{}, [2]uint32{}
		streamed = streamed || c.Passed.Load() != 0
		c.Passed.Store(0)
	}
	if streamed {
		for i := range h.Turns {
			h.Turns[i].Number.Store(0)
		}
	}
	h.Owner.Store(0) // last: pairs with the swap in Acquire
}
