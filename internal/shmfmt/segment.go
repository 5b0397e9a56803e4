// Package shmfmt fixes the layout of memory that the processes of a node share.
// It is one format with a version, used in shared memory between processes and
// on the Go heap between ranks that are goroutines.
//
// Two kinds of memory exist:
//
//	control segment    one per node, made by the launcher
//	  0      door of local process 0        (DoorSize bytes)
//	  ...    door of local process n-1
//	  ...    slots of the collectives, SlotCount of SlotSize(n) bytes
//	  ...    their bulk memory, SlotCount of BulkSize(n) bytes, sparse
//	process segment    one per process, sparse
//	  0      header: magic, version, owner, number of local processes, ready
//	  64     bitmap of the local processes that have sent to the owner
//	  ...    ring that local process i fills and the owner empties (RingStride bytes each)
//	  ...    heap: blocks that the owner hands out, from HeapStart(n) to the end of the file
//
// The heap has nothing that says what is where: that is the owner's alone to know, and
// peers learn the offset of a block from it. They map the heap apart from what
// is before it, and only when they use it.
//
// Memory in use: the control segment, without the bulk memory of slots in which
// only short collectives have been; and per
// process one page of header and bitmaps (two on nodes with more than half of MaxLocal), at
// most RingStride bytes for each peer that has sent to it, OfferSize for each that has made
// an offer, and the pages of the heap that live blocks touch. Rings and offers of silent
// peers are never touched and cost nothing.
package shmfmt

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Version is the version of everything in this package. Processes of another
// version refuse to map a segment.
const Version = 8

// magic marks a process segment: "HALOSEG" and the version.
const magic = uint64(0x484c4f5345470000) | Version

const (
	// Line is the size in bytes of what cores exchange; things written by
	// different processes stand in different lines.
	Line = 64
	page = 4096

	// DoorSize is the size of a Door in bytes.
	DoorSize = 4 * Line
	// MaxLocal bounds the processes of one node, so that a bitmap fits a page.
	MaxLocal = 8 * (page - Line)
)

// Door is where a process is woken. In the control segment.
type Door struct {
	// Armed is set by the owner before it sleeps, and taken by the first
	// sender that finds it set after publishing a frame; that sender rings.
	Armed atomic.Uint32
	_     [Line - 4]byte
	// Bell counts the rings; the owner sleeps on it as a futex.
	Bell atomic.Uint32
	_    [Line - 4]byte
	// Pid is the owner's process id, stored last of this group. ProbeAddr is the
	// address, in the owner's memory, of a copy of Probe: who can read the
	// memory of process Pid there and finds Probe knows that it may, and that
	// the number means the same process to both.
	Pid       atomic.Int32
	_         int32
	ProbeAddr uint64
	Probe     [16]byte
	_         [Line - 32]byte
	// Call is the text of the owner's pending call, for diagnostics.
	Call [Line]byte
}

// Opener lets size bytes from off on of mapped memory be accessed, which may happen again
// and again. nil is for memory that can be accessed as it is. Segments are sparse; so that
// who walks through all memory of a process does not make the pages of all slots and rings,
// parts of them are opened when somebody asks for them.
type Opener func(off, size int64) error

func (open Opener) open(off, size int64) error {
	if open == nil {
		return nil
	}
	return open(off, size)
}

// part is size bytes of mem from off on, open. It panics if they cannot be opened, which is
// when the kernel has no memory for its own tables: peers wait, and learn of the death.
func (open Opener) part(mem []byte, off, size int64) []byte {
	if err := open.open(off, size); err != nil {
		panic(fmt.Sprintf("shmfmt: %d bytes at offset %d of a segment: %v", size, off, err))
	}
	return mem[off : off+size : off+size]
}

// DoorsSize is how much of the control segment is used from the start, in bytes.
func DoorsSize(n int) int64 { return roundPage(int64(n) * DoorSize) }

// HeadSize is how much of a process segment is used from the start, in bytes.
func HeadSize(n int) int64 { return ringStart(n) }

// ControlSize is the size in bytes of the control segment of n processes.
func ControlSize(n int) int64 {
	return bulkStart(n) + int64(SlotCount)*BulkSize(n)
}

func bulkStart(n int) int64 {
	return DoorsSize(n) + roundPage(int64(SlotCount)*SlotSize(n))
}

// SegmentSize is the size in bytes of a process segment on a node with n processes,
// without the heap.
func SegmentSize(n int) int64 { return offerStart(n) + int64(n)*OfferSize }

// HeapUnit is what the size of a heap is a multiple of, in bytes, and its offset in a
// segment: the largest page that a processor of ours has.
const HeapUnit = 64 << 10

// HeapStart is where the heap begins in the segments of a node with n processes.
func HeapStart(n int) int64 { return (SegmentSize(n) + HeapUnit - 1) &^ (HeapUnit - 1) }

// HeapSize is how large heaps are where address space is for that many of them, each
// mapped once, on a machine with that much memory: more than can be in use, so that
// it can be in pieces, and at least 1 GiB, if all fit.
func HeapSize(memory, addresses int64, heaps int) int64 {
	size := max(2*memory, 1<<30)
	return max(min(size, addresses/2/int64(heaps))&^(HeapUnit-1), HeapUnit)
}

func ringStart(n int) int64 { return roundPage(Line + 2*8*words(n)) }

func offerStart(n int) int64 { return ringStart(n) + int64(n)*RingStride }

// words is the number of words of a bitmap of n processes.
func words(n int) int64 { return int64(n+63) / 64 }

func roundPage(n int64) int64 { return (n + page - 1) &^ (page - 1) }

// Control is the mapped control segment.
type Control struct {
	mem   []byte
	n     int
	slots int64
	bulk  int64
	open  Opener
	heap  *heapParts // the bulk memory of a segment on the heap, else nil: it follows in mem
}

// OpenControl checks the size of mem, shared by n processes. The first DoorsSize(n) bytes can
// be accessed.
func OpenControl(mem []byte, n int, open Opener) (*Control, error) {
	if int64(len(mem)) < ControlSize(n) {
		return nil, fmt.Errorf("shmfmt: control segment of %d bytes for %d processes, want %d", len(mem), n, ControlSize(n))
	}
	c := newControl(mem, n)
	c.open = open
	return c, nil
}

func newControl(mem []byte, n int) *Control {
	return &Control{mem: mem, n: n, slots: DoorsSize(n), bulk: bulkStart(n)}
}

// Door returns the door of local process i.
func (c *Control) Door(i int) *Door { return (*Door)(unsafe.Pointer(&c.mem[i*DoorSize])) }

// Local is the number of processes that share the segment.
func (c *Control) Local() int { return c.n }

// Segment is a process segment, mapped or on the heap.
type Segment struct {
	mem  []byte
	n    int
	open Opener
	heap *heapParts // the rings of a segment on the heap, else nil: they follow in mem
}

type segmentHeader struct {
	magic  atomic.Uint64
	owner  uint32
	n      uint32
	waits  atomic.Uint32 // goroutines of the owner that wait inside Halo, asleep
	nudged atomic.Uint32 // somebody would have one of them poll
}

// FormatSegment makes zeroed memory the segment of local process owner of n. The first
// HeadSize(n) bytes can be accessed.
func FormatSegment(mem []byte, owner, n int, open Opener) (*Segment, error) {
	s, err := newSegment(mem, owner, n, open)
	if err == nil {
		s.format(owner)
	}
	return s, err
}

func (s *Segment) format(owner int) {
	h := s.header()
	h.owner, h.n = uint32(owner), uint32(s.n)
	h.magic.Store(magic) // pairs with the load in OpenSegment
}

func newSegment(mem []byte, owner, n int, open Opener) (*Segment, error) {
	if err := checkSegment(owner, n); err != nil {
		return nil, err
	}
	if int64(len(mem)) < SegmentSize(n) {
		return nil, fmt.Errorf("shmfmt: segment of %d bytes for process %d of %d, want %d", len(mem), owner, n, SegmentSize(n))
	}
	return &Segment{mem: mem, n: n, open: open}, nil
}

func checkSegment(owner, n int) error {
	if n < 1 || n > MaxLocal || owner < 0 || owner >= n {
		return fmt.Errorf("shmfmt: segment of process %d of %d, the limit is %d processes", owner, n, MaxLocal)
	}
	return nil
}

// OpenSegment checks memory mapped from the segment of local process owner of n.
// It fails when the owner has not formatted it yet. The first HeadSize(n) bytes can be
// accessed.
func OpenSegment(mem []byte, owner, n int, open Opener) (*Segment, error) {
	s, err := newSegment(mem, owner, n, open)
	if err != nil {
		return nil, err
	}
	h := s.header()
	if m := h.magic.Load(); m != magic { // pairs with the store in FormatSegment
		return nil, fmt.Errorf("shmfmt: segment of process %d has mark %#x, want %#x: not ready, or another version", owner, m, magic)
	}
	if h.owner != uint32(owner) || h.n != uint32(n) {
		return nil, fmt.Errorf("shmfmt: segment of process %d of %d, want %d of %d", h.owner, h.n, owner, n)
	}
	return s, nil
}

func (s *Segment) header() *segmentHeader { return (*segmentHeader)(unsafe.Pointer(&s.mem[0])) }

// Activate announces that process from is about to fill its ring.
func (s *Segment) Activate(from int) {
	s.active(from / 64).Or(1 << (from % 64)) // pairs with the load in Active
}

// ActiveWords is the number of words of the bitmap.
func (s *Segment) ActiveWords() int { return int(words(s.n)) }

// Active returns word w of the bitmap of processes that have sent here.
func (s *Segment) Active(w int) uint64 { return s.active(w).Load() } // pairs with Activate

func (s *Segment) active(w int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.mem[Line+8*w]))
}

// SetWaits says how many goroutines of the owner sleep while they wait for something.
func (s *Segment) SetWaits(n int) { s.header().waits.Store(uint32(n)) }

// Nudge asks the owner to have one of those poll, and reports false if there is none. The
// owner's door is to be rung then.
func (s *Segment) Nudge() bool {
	h := s.header()
	if h.waits.Load() == 0 {
		return false
	}
	h.nudged.Store(1) // pairs with the load in Nudged
	return true
}

// Nudged reports whether there was a Nudge, once.
func (s *Segment) Nudged() bool {
	h := s.header()
	return h.nudged.Load() != 0 && h.nudged.Swap(0) != 0
}

// Offers announces that process from is about to make its first offer.
func (s *Segment) Offers(from int) {
	s.active(s.ActiveWords() + from/64).Or(1 << (from % 64)) // pairs with the load in Offering
}

// Offering returns word w of the bitmap of processes that have made offers.
func (s *Segment) Offering(w int) uint64 { return s.active(s.ActiveWords() + w).Load() } // pairs with Offers

// Offer returns what local process from offers, nil in a segment on the heap: there all
// memory is mapped.
func (s *Segment) Offer(from int) *Offer {
	if s.heap != nil {
		return nil
	}
	return (*Offer)(unsafe.Pointer(&s.open.part(s.mem, offerStart(s.n)+int64(from)*OfferSize, OfferSize)[0]))
}

// Ring returns the memory of the ring that local process from fills.
func (s *Segment) Ring(from int) []byte {
	if s.heap != nil {
		return s.heap.part(from, RingStride)
	}
	return s.open.part(s.mem, ringStart(s.n)+int64(from)*RingStride, RingStride)
}
