package shmfmt

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

// The records of one-sided communication contain what the fast paths of operations read, in Go
// (package rma) and in C (abi/lib). Both use the same record, which is the only copy of its content
// and is in memory of package offheap. C finds a ViewRecord by the handle of a window, and the others
// from there.
//
// No record holds the only pointer to something in the Go heap: the rma.View, rma.Window or
// rma.target that owns a record keeps alive what it points to.
//
// A change of a layout needs a new windowRecordVersion.

// windowRecordVersion changes with the layout of the records, and with the meaning of their fields.
const windowRecordVersion = 2

// ViewRecord is a view of a window: the window with one set of hints.
type ViewRecord struct {
	// Window is never nil. It is stored when the view is made and when it is freed, and loaded by
	// every operation.
	Window atomic.Pointer[WindowRecord]
	How    atomic.Uint32 // the hints that matter to the fast paths
	_      [Line - 12]byte
}

// WindowRecord is the part that all views of a window share. It has an array of TargetRecords.
type WindowRecord struct {
	// Mode opens all targets at once, in epochs of Fence and LockAll; its other bits describe
	// epochs. Every operation loads it. C stores it in one case: when an operation follows a fence.
	Mode    atomic.Uint32
	ranks   uint64
	targets unsafe.Pointer

	Process *LockingRecord
	NoLocks atomic.Bool // nobody locks a target: a hint

	// Mutex guards the fields below, and TargetRecord.Held and Bare. C takes it only if it is free, and
	// has Go unlock it if others have begun to wait: its first word is 1 while it is held and nobody
	// waits, and 0 while it is free.
	Mutex  sync.Mutex
	Epoch  uint32 // kind of access epoch that is open
	Locked int32  // targets that are locked, or about to be
	_      [Line - 52]byte
}

// LockingRecord is what a process must know before it locks a target of any window.
type LockingRecord struct {
	// Lazy is a target on another node, an rma.target, whose lock the process has not asked for yet although
	// its epoch has begun; nil if there is none.
	Lazy atomic.Pointer[byte]
	Lost atomic.Bool // a process has died
	_    [Line - 12]byte
}

// TargetRecord is one member of a window as an origin sees it. A record of zeros is that of a member
// that has not been a target yet: it is closed. End is stored last, when all other fields except
// Gate, Framed and May have their final values.
type TargetRecord struct {
	// Gate opens this target alone; its other bits describe epochs.
	Gate atomic.Uint32
	// Framed says that an operation was sent in frames. Without any, all operations are complete
	// when their calls have returned.
	Framed  atomic.Bool
	End     atomic.Uint64  // 1 + the highest displacement that is not past the end of the memory
	Unit    int64          // displacement unit in bytes
	Mem     unsafe.Pointer // the memory where it is mapped here, else nil
	Len     int64          // of Mem in bytes
	Stripes unsafe.Pointer // of accumulates to the target: memory of Stripes
	Me      uint32         // local index of this process in the stripes
	Locals  uint32         // number of processes of the stripes
	Near    bool           // the target is on the node: its control block is mapped here
	Fine    bool           // elements are updated without the stripes
	_       [6]byte

	// The fields below are for copies by the kernel to and from the target.
	Size int64        // of the target's memory in bytes, mapped or not
	Addr uint64       // of the memory in its own process
	Gone *atomic.Bool // set when the process is known to have died; nil where the kernel does not copy
	Pid  int32        // the process
	May  atomic.Int32 // how many more operations may be copied by the kernel

	// Lock is the passive lock of a target that C may lock, else nil: a Lock with Locals processes, at
	// most 63, of which this one is number Me.
	Lock unsafe.Pointer
	Held uint32 // whether this process has the lock
	Bare bool   // it has it without a claim, as the program has promised that nobody else wants it
	_    [Line - 45]byte
}

// TargetRecordSize is the size of a TargetRecord in bytes: two lines.
const TargetRecordSize = 2 * Line

// SetTargets makes mem, with a TargetRecord for each rank, the targets of w.
func (w *WindowRecord) SetTargets(mem []byte) {
	w.targets, w.ranks = unsafe.Pointer(unsafe.SliceData(mem)), uint64(len(mem)/TargetRecordSize)
}

// Target returns the record of a rank, nil if there is no such rank. It exists so that it inlines.
func (w *WindowRecord) Target(rank int) *TargetRecord {
	if uint64(rank) >= w.ranks {
		return nil
	}
	return (*TargetRecord)(unsafe.Add(w.targets, rank*TargetRecordSize))
}

// SetStripes makes s the stripes of accumulates to the target. This process is number me in them.
func (t *TargetRecord) SetStripes(s *Stripes, me int) {
	t.Stripes, t.Locals, t.Me = s.mem, uint32(s.n), uint32(me)
}

// SetLock makes l the lock of the target, for which C claims it. The stripes are set.
func (t *TargetRecord) SetLock(l *Lock) {
	if l.Service() == int(t.Locals) && len(l.bits) == 1 {
		t.Lock = unsafe.Pointer(l.head)
	}
}

// SwapBiased stores value in the word at offset at of the memory if the word is compare, and
// returns what the word was. It reports false, and has done nothing, if the stripe is not biased to
// this process and free, or if the word is not aligned. All arguments are in registers: copying
// slices between three calls takes as long as an atomic operation.
func (t *TargetRecord) SwapBiased(at int64, value, compare uint64) (was uint64, ok bool) {
	p := unsafe.Add(t.Mem, at)
	if planted.StripeOfTheEnd || uintptr(p)&7 != 0 || t.Fine {
		return 0, false
	}
	s := Stripes{t.Stripes, int(t.Locals)}
	return s.swapBiased(Stripe(at), int(t.Me), (*uint64)(p), compare, value)
}

// Copy copies from to t, which is zero.
func (t *TargetRecord) Copy(from *TargetRecord) {
	t.Unit, t.Mem, t.Len, t.Stripes, t.Me, t.Locals = from.Unit, from.Mem, from.Len, from.Stripes, from.Me, from.Locals
	t.Near, t.Fine, t.Size, t.Addr, t.Gone, t.Pid = from.Near, from.Fine, from.Size, from.Addr, from.Gone, from.Pid
	t.Lock, t.Held, t.Bare = from.Lock, from.Held, from.Bare
	t.Gate.Store(from.Gate.Load())
	t.Framed.Store(from.Framed.Load())
	t.May.Store(from.May.Load())
	t.End.Store(from.End.Load()) // pairs with the loads by operations
}

// WindowRecordLayout returns the layout of the records, for code in other languages.
func WindowRecordLayout() []Field {
	var v ViewRecord
	var w WindowRecord
	var t TargetRecord
	var p LockingRecord
	var head lockHead
	var line windowLine
	at := func(name string, offset uintptr) Field { return Field{name, int64(offset)} }
	return []Field{
		{"WINDOW_RECORD_VERSION", windowRecordVersion},
		at("VIEW_WINDOW", unsafe.Offsetof(v.Window)),
		at("VIEW_HOW", unsafe.Offsetof(v.How)),
		at("WINDOW_MODE", unsafe.Offsetof(w.Mode)),
		at("WINDOW_RANKS", unsafe.Offsetof(w.ranks)),
		at("WINDOW_TARGETS", unsafe.Offsetof(w.targets)),
		at("WINDOW_MUTEX", unsafe.Offsetof(w.Mutex)),
		at("WINDOW_EPOCH", unsafe.Offsetof(w.Epoch)),
		at("WINDOW_LOCKED", unsafe.Offsetof(w.Locked)),
		at("WINDOW_NO_LOCKS", unsafe.Offsetof(w.NoLocks)),
		at("WINDOW_PROCESS", unsafe.Offsetof(w.Process)),
		at("LOCKING_LAZY", unsafe.Offsetof(p.Lazy)),
		at("LOCKING_LOST", unsafe.Offsetof(p.Lost)),
		at("TARGET_BYTES", unsafe.Sizeof(t)),
		at("TARGET_GATE", unsafe.Offsetof(t.Gate)),
		at("TARGET_FRAMED", unsafe.Offsetof(t.Framed)),
		at("TARGET_END", unsafe.Offsetof(t.End)),
		at("TARGET_UNIT", unsafe.Offsetof(t.Unit)),
		at("TARGET_MEM", unsafe.Offsetof(t.Mem)),
		at("TARGET_LEN", unsafe.Offsetof(t.Len)),
		at("TARGET_STRIPES", unsafe.Offsetof(t.Stripes)),
		at("TARGET_ME", unsafe.Offsetof(t.Me)),
		at("TARGET_LOCALS", unsafe.Offsetof(t.Locals)),
		at("TARGET_NEAR", unsafe.Offsetof(t.Near)),
		at("TARGET_FINE", unsafe.Offsetof(t.Fine)),
		at("TARGET_SIZE", unsafe.Offsetof(t.Size)),
		at("TARGET_ADDR", unsafe.Offsetof(t.Addr)),
		at("TARGET_GONE", unsafe.Offsetof(t.Gone)), // the address of a word
		at("TARGET_PID", unsafe.Offsetof(t.Pid)),
		at("TARGET_MAY", unsafe.Offsetof(t.May)),
		at("TARGET_LOCK", unsafe.Offsetof(t.Lock)),
		at("TARGET_HELD", unsafe.Offsetof(t.Held)),
		at("TARGET_BARE", unsafe.Offsetof(t.Bare)),
		at("LOCK_TICKETS", unsafe.Offsetof(head.next)),
		at("LOCK_ORPHAN", unsafe.Offsetof(head.orphan)),
		{"LOCK_BITS", lockBits},
		{"LOCK_LINES", lockHeadSize(0)}, // of locks whose bits are one word
		{"LOCK_LINE", int64(unsafe.Sizeof(line))},
		at("LOCK_CLAIM", unsafe.Offsetof(line.claim)),
		{"CLAIM_EXCLUSIVE", claimExclusive},
		{"CLAIM_TRYING", claimTrying},
		{"CLAIM_TICKET", claimTicket},
	}
}
