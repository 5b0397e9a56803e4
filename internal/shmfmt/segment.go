package shmfmt

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Version is the version of all layouts in this package. A process of another version refuses to map
// a segment.
const Version = 16

// magic marks a process segment: "HALOSEG" and the version.
const magic = uint64(0x484c4f5345470000) | Version

const (
	// Line is the size in bytes of a cache line. Words that different processes write are in
	// different lines.
	Line = 64
	page = 4096

	// DoorSize is the size of a Door in bytes.
	DoorSize = 4 * Line
	// MaxLocal is the largest number of processes of one node. A bitmap of them fits a page.
	MaxLocal = 8 * (page - Line)
)

// Door is the part of the control segment by which a process is woken.
type Door struct {
	// Armed is set by the owner before it sleeps. The first sender that finds it set, after it
	// has published a frame, clears it and rings.
	Armed atomic.Uint32
	_     [Line - 4]byte
	// Bell counts the rings. The owner sleeps until it changes.
	Bell atomic.Uint32
	_    [Line - 4]byte
	// Pid is the owner's process id; it is stored last of this group. ProbeAddr is the address
	// of a copy of Probe in the owner's memory. A peer that reads the memory of process Pid at
	// that address and finds Probe knows that the kernel permits it, and that the id means the
	// same process to both.
	Pid       atomic.Int32
	_         int32
	ProbeAddr uint64
	Probe     [16]byte
	// Core is 1 plus the number of the CPU that the owner was last on, 0 if it is not known. Moves is used
	// in the door of local process 0 only: it counts how often a process of the node has moved to another
	// CPU. See balance.go of package node.
	Core  atomic.Int32
	_     int32
	Moves atomic.Uint64
	_     [Line - 48]byte
	// Call is the text of the owner's pending call, for diagnostics.
	Call [Line]byte
}

// Opener makes size bytes of mapped memory from offset off accessible. It may be called repeatedly for
// the same bytes. nil is for memory that is accessible as it is. Segments are sparse, and parts of
// them are opened at their first use, so that a tool that reads all accessible memory of a process, such
// as a debugger, does not allocate the pages of all slots and rings.
type Opener func(off, size int64) error

func (open Opener) open(off, size int64) error {
	if open == nil {
		return nil
	}
	return open(off, size)
}

// part opens and returns size bytes of mem from offset off. It panics if it cannot open them: then the
// kernel has no memory for its own tables, and peers that wait for this process learn of its death.
func (open Opener) part(mem []byte, off, size int64) []byte {
	if err := open.open(off, size); err != nil {
		panic(fmt.Sprintf("shmfmt: %d bytes at offset %d of a segment: %v", size, off, err))
	}
	return mem[off : off+size : off+size]
}

// DoorsSize returns how many bytes of the control segment are in use from the start.
func DoorsSize(n int) int64 { return roundPage(int64(n) * DoorSize) }

// HeadSize returns how many bytes of a process segment are in use from the start.
func HeadSize(n int) int64 { return ringStart(n) }

// ControlSize returns the size in bytes of the control segment of n processes.
func ControlSize(n int) int64 {
	return bulkStart(n) + int64(SlotCount)*BulkSize(n)
}

func bulkStart(n int) int64 {
	return DoorsSize(n) + roundPage(int64(SlotCount)*SlotSize(n))
}

// SegmentSize returns the size in bytes of a process segment on a node with n processes, without the
// heap.
func SegmentSize(n int) int64 { return offerStart(n) + int64(n)*OfferSize }

// HeapUnit is the unit in bytes of the size of a heap and of its offset in a segment: the largest page
// of the supported processors.
const HeapUnit = 64 << 10

// HeapStart returns the offset of the heap in the segments of a node with n processes.
func HeapStart(n int) int64 { return (SegmentSize(n) + HeapUnit - 1) &^ (HeapUnit - 1) }

// HeapSize returns the size in bytes of each of several heaps, on a machine with the given bytes of memory
// and of address space, if a process maps each heap once. A heap is larger than what can be in use, since
// free space may be in pieces, and has at least 1 GiB if all heaps fit.
func HeapSize(memory, addresses int64, heaps int) int64 {
	size := max(2*memory, 1<<30)
	return max(min(size, addresses/2/int64(heaps))&^(HeapUnit-1), HeapUnit)
}

func ringStart(n int) int64 { return roundPage(Line + 2*8*words(n)) }

func offerStart(n int) int64 { return ringStart(n) + int64(n)*RingStride }

// words returns the number of words of a bitmap of n processes.
func words(n int) int64 { return int64(n+63) / 64 }

func roundPage(n int64) int64 { return (n + page - 1) &^ (page - 1) }

// Control is the mapped control segment.
type Control struct {
	mem   []byte
	n     int
	slots int64
	bulk  int64
	open  Opener
	heap  *heapParts // the bulk memory of a segment on the Go heap; nil if it follows in mem
}

// OpenControl returns the control segment of n processes in mem, and checks the size of mem. The first
// DoorsSize(n) bytes must be accessible.
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

// Local returns the number of processes that share the segment.
func (c *Control) Local() int { return c.n }

// Segment is a process segment, mapped or on the Go heap.
type Segment struct {
	mem  []byte
	n    int
	open Opener
	heap *heapParts // the rings of a segment on the Go heap; nil if they follow in mem
}

type segmentHeader struct {
	magic         atomic.Uint64 // stored last: the segment is ready
	owner         uint32        // local process
	n             uint32        // number of local processes
	waits         atomic.Uint32 // goroutines of the owner that sleep in calls
	pollRequested atomic.Uint32 // a peer has called RequestPoll
}

// FormatSegment formats zeroed memory as the segment of local process owner of n. The first
// HeadSize(n) bytes must be accessible.
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

// ShareSegment is OpenSegment, but formats the segment if nobody has: peers may send to a process
// before it opens its memory. If several processes format it at once, all store the same.
func ShareSegment(mem []byte, owner, n int, open Opener) (*Segment, error) {
	s, err := newSegment(mem, owner, n, open)
	if err == nil && s.header().magic.Load() == 0 {
		s.format(owner)
	}
	if err != nil {
		return nil, err
	}
	return OpenSegment(mem, owner, n, open)
}

// OpenSegment returns the segment of local process owner of n, which is mapped in mem, and checks its
// header. It fails if the owner has not formatted it yet. The first HeadSize(n) bytes must be
// accessible.
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

// Activate announces that local process from is about to fill its ring.
func (s *Segment) Activate(from int) {
	s.active(from / 64).Or(1 << (from % 64)) // pairs with the load in Active
}

// ActiveWords returns the number of words of the bitmap.
func (s *Segment) ActiveWords() int { return int(words(s.n)) }

// Active returns word w of the bitmap of processes that have sent here.
func (s *Segment) Active(w int) uint64 { return s.active(w).Load() } // pairs with Activate

// Senders returns the address of the bitmaps: of processes that have sent, and behind it of those that have made offers.
func (s *Segment) Senders() unsafe.Pointer { return unsafe.Pointer(s.active(0)) }

func (s *Segment) active(w int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.mem[Line+8*w]))
}

// SetWaits stores how many goroutines of the owner sleep in calls.
func (s *Segment) SetWaits(n int) { s.header().waits.Store(uint32(n)) }

// RequestPoll asks the owner to make one of its goroutines that sleep in calls poll. It returns false if
// none sleeps. Otherwise the caller must ring the owner's door.
func (s *Segment) RequestPoll() bool {
	h := s.header()
	if h.waits.Load() == 0 {
		return false
	}
	h.pollRequested.Store(1) // pairs with the load in PollRequested
	return true
}

// PollRequested reports whether RequestPoll was called since PollRequested last returned true.
func (s *Segment) PollRequested() bool {
	h := s.header()
	return h.pollRequested.Load() != 0 && h.pollRequested.Swap(0) != 0
}

// Offers announces that local process from is about to make its first offer.
func (s *Segment) Offers(from int) {
	s.active(s.ActiveWords() + from/64).Or(1 << (from % 64)) // pairs with the load in Offering
}

// Offering returns word w of the bitmap of processes that have made offers.
func (s *Segment) Offering(w int) uint64 { return s.active(s.ActiveWords() + w).Load() } // pairs with Offers

// Offer returns the Offer of local process from. It returns nil in a segment on the Go heap, where
// all memory of windows is mapped.
func (s *Segment) Offer(from int) *Offer {
	if s.heap != nil {
		return nil
	}
	return (*Offer)(unsafe.Pointer(&s.open.part(s.mem, offerStart(s.n)+int64(from)*OfferSize, OfferSize)[0]))
}

// Pieces returns the Pieces of the messages of local process from.
func (s *Segment) Pieces(from int) *Pieces {
	return &(*ringControl)(unsafe.Pointer(&s.Ring(from)[0])).pieces
}

// Ring returns the memory of the ring that local process from fills.
func (s *Segment) Ring(from int) []byte {
	if s.heap != nil {
		return s.heap.part(from, RingStride)
	}
	return s.open.part(s.mem, ringStart(s.n)+int64(from)*RingStride, RingStride)
}
