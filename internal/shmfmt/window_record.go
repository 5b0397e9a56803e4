package shmfmt

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

// The records of one-sided communication: what the shortest operations on a window look at, in Go
// (package rma) and in C (abi/lib). Both use the same record, which is the only copy of what is in
// it, and stands in memory of package hot. C finds a ViewRecord by the handle of a window, and all
// else from there.
//
// No record holds the only pointer to something in the Go heap: the rma.View, rma.Window and
// rma.target that a record belongs to keep what it points to alive.
//
// A change of a layout needs a new windowRecordVersion.

// windowRecordVersion changes with the layout of the records, and with what they mean.
const windowRecordVersion = 1

// ViewRecord is a window as it is used under one info.
type ViewRecord struct {
	// Window is never nil. It is stored when the view is made and when it is freed, and loaded by
	// every operation.
	Window atomic.Pointer[WindowRecord]
	How    atomic.Uint32 // what of the info the shortest operations look at
	_      [Line - 12]byte
}

// WindowRecord is what all views of a window share. It has an array of TargetRecords.
type WindowRecord struct {
	// Mode opens all targets at once, in epochs of Fence and LockAll; other bits are those of the
	// epochs. Loaded by every operation. C stores it in one case: when an operation follows a fence.
	Mode    atomic.Uint32
	ranks   uint64
	targets unsafe.Pointer
	_       [Line - 24]byte
}

// TargetRecord is one member of a window as an origin sees it. All zero means that the member has
// not been a target yet, and is closed: End is stored last, when all other fields but Gate, Framed
// and May have the values that they keep.
type TargetRecord struct {
	// Gate opens this target by itself; other bits are those of the epochs.
	Gate atomic.Uint32
	// Framed says that some operation has gone by frames: without any, whoever has called has made
	// all there is.
	Framed  atomic.Bool
	End     atomic.Uint64  // 1 + the highest displacement that is not past the end of the memory
	Unit    int64          // displacement unit in bytes
	Mem     unsafe.Pointer // the memory where it is mapped here, else nil
	Len     int64          // of Mem in bytes
	Stripes unsafe.Pointer // of accumulates to the target: memory of Stripes
	Me      uint32         // the local index of the own process, as the stripes have it
	Locals  uint32         // for how many processes the stripes are
	Near    bool           // the target is on the node: its control block is mapped here
	Fine    bool           // elements are updated without the stripes
	_       [6]byte

	// What the kernel's copies to and from the target need.
	Size int64        // of the target's memory in bytes, mapped or not
	Addr uint64       // of the memory in its own process
	Gone *atomic.Bool // that the process is known to have died; nil where the kernel does not copy
	Pid  int32        // the process
	May  atomic.Int32 // how many operations may be made so
	_    [Line - 32]byte
}

// TargetRecordSize is the size of a TargetRecord in bytes: two lines.
const TargetRecordSize = 2 * Line

// SetTargets gives w its targets, in memory of a TargetRecord for each rank.
func (w *WindowRecord) SetTargets(mem []byte) {
	w.targets, w.ranks = unsafe.Pointer(unsafe.SliceData(mem)), uint64(len(mem)/TargetRecordSize)
}

// Target is the record of a rank, nil if there is no such rank. It is inlined.
func (w *WindowRecord) Target(rank int) *TargetRecord {
	if uint64(rank) >= w.ranks {
		return nil
	}
	return (*TargetRecord)(unsafe.Add(w.targets, rank*TargetRecordSize))
}

// SetStripes has accumulates go through s, of which this process is number me.
func (t *TargetRecord) SetStripes(s *Stripes, me int) {
	t.Stripes, t.Locals, t.Me = s.mem, uint32(s.n), uint32(me)
}

// SwapFavoured stores value in the word at a place of the memory if compare stands there, and
// returns what it was. It reports false, and has done nothing, where that takes more than the favour
// of the stripe, or the word is not aligned. All arguments are in registers: the copies of slices
// between three calls take as long as an atomic operation.
func (t *TargetRecord) SwapFavoured(at int64, value, compare uint64) (was uint64, ok bool) {
	p := unsafe.Add(t.Mem, at)
	if planted.StripeOfTheEnd || uintptr(p)&7 != 0 || t.Fine {
		return 0, false
	}
	s := Stripes{t.Stripes, int(t.Locals)}
	return s.swapFavoured(Stripe(at), int(t.Me), (*uint64)(p), compare, value)
}

// Copy makes t, which is zero, what from is.
func (t *TargetRecord) Copy(from *TargetRecord) {
	t.Unit, t.Mem, t.Len, t.Stripes, t.Me, t.Locals = from.Unit, from.Mem, from.Len, from.Stripes, from.Me, from.Locals
	t.Near, t.Fine, t.Size, t.Addr, t.Gone, t.Pid = from.Near, from.Fine, from.Size, from.Addr, from.Gone, from.Pid
	t.Gate.Store(from.Gate.Load())
	t.Framed.Store(from.Framed.Load())
	t.May.Store(from.May.Load())
	t.End.Store(from.End.Load()) // pairs with the loads by operations
}

// WindowRecordLayout is where things are in the records, for code in other languages.
func WindowRecordLayout() []Field {
	var v ViewRecord
	var w WindowRecord
	var t TargetRecord
	at := func(name string, offset uintptr) Field { return Field{name, int64(offset)} }
	return []Field{
		{"WINDOW_RECORD_VERSION", windowRecordVersion},
		at("VIEW_WINDOW", unsafe.Offsetof(v.Window)),
		at("VIEW_HOW", unsafe.Offsetof(v.How)),
		at("WINDOW_MODE", unsafe.Offsetof(w.Mode)),
		at("WINDOW_RANKS", unsafe.Offsetof(w.ranks)),
		at("WINDOW_TARGETS", unsafe.Offsetof(w.targets)),
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
	}
}
