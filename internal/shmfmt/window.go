package shmfmt

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// A Window is the control block of one window at one target, by which the target and the origins on
// its node synchronise. It is in the target's memory and laid out for the n processes of the node.
// Where no other process maps that memory, n is 1: the target itself.
//
//	  0    header: mark, id of the window, n
//	 64    for dynamic windows: version, offset and length of the attach table, and the offset
//	       of the directory of the handle table, see HandleSlot
//	128    counters: the offsets of their chunks, see Counter
//	320    lock: see Lock; lockHeadSize(n) bytes
//	...    a line for each of the n processes, and one for the target's service:
//	       its claim to the lock, how many of its access epochs are complete, and
//	       the range of the claim, if the lock is one of ranges
//	...    a word for each process: how many times the target has posted to it
//	...    Stripes of the accumulates, StripesSize(n) bytes
//
// So its size is 320 + lockHeadSize(n) + 64(n+1) + 8n rounded up to 64 + StripesSize(n).
//
// Posts share lines, since only the target writes them, one after the other. What an origin writes
// is in a line of its own, since each origin writes its line repeatedly.
type Window struct {
	mem     []byte
	n       int
	lock    Lock
	posted  []atomic.Uint64
	stripes *Stripes
}

const (
	// windowMark marks a control block: "HALOWIN" and the version of this layout.
	windowMark = uint64(0x484c4f57494e0000) | windowVersion
	// windowVersion changes with the layout.
	windowVersion = 3

	windowTable    = Line
	windowCounters = 2 * Line
	windowLock     = 5 * Line
)

type windowHeader struct {
	mark atomic.Uint64 // stored last by FormatWindow; loaded first by OpenWindow
	id   uint64
	n    uint64
}

// windowLine is the line that only one process of the node writes. Others do so only when they remove
// the claim of a dead process.
type windowLine struct {
	claim     atomic.Uint64
	completed atomic.Uint64
	first     atomic.Uint64 // of a claim to a range: see Lock.ClaimRange
	end       atomic.Uint64
	_         [Line - 32]byte
}

type windowTableHead struct {
	version, off, len atomic.Uint64
	handles           atomic.Uint64
	_                 [Line - 32]byte
}

func windowPosted(n int) int64 { return windowLock + lockHeadSize(n) + int64(n+1)*Line }

func windowStripes(n int) int64 { return windowPosted(n) + roundLine(8*int64(n)) }

func roundLine(n int64) int64 { return (n + Line - 1) &^ (Line - 1) }

// WindowSize returns the size in bytes of the control block on a node with n processes.
func WindowSize(n int) int64 { return windowStripes(n) + StripesSize(n) }

// FormatWindow formats zeroed memory, which begins at a line, as the control block of window id at a
// target with n processes on its node.
func FormatWindow(mem []byte, id uint64, n int) (*Window, error) {
	w, err := newWindow(mem, n)
	if err != nil {
		return nil, err
	}
	h := w.header()
	h.id, h.n = id, uint64(n)
	h.mark.Store(windowMark)
	return w, nil
}

// OpenWindow returns the control block that another process has formatted with FormatWindow.
func OpenWindow(mem []byte, id uint64, n int) (*Window, error) {
	w, err := newWindow(mem, n)
	if err != nil {
		return nil, err
	}
	h := w.header()
	if m := h.mark.Load(); m != windowMark {
		return nil, fmt.Errorf("shmfmt: control block of window %#x has mark %#x, want %#x", id, m, windowMark)
	}
	if h.id != id || h.n != uint64(n) {
		return nil, fmt.Errorf("shmfmt: control block of window %#x for %d processes, want %#x for %d", h.id, h.n, id, n)
	}
	return w, nil
}

func newWindow(mem []byte, n int) (*Window, error) {
	if n < 1 || n > MaxLocal {
		return nil, fmt.Errorf("shmfmt: control block of a window for %d processes, the limit is %d", n, MaxLocal)
	}
	if size := WindowSize(n); int64(len(mem)) < size {
		return nil, fmt.Errorf("shmfmt: control block of %d bytes for %d processes, want %d", len(mem), n, size)
	}
	if uintptr(unsafe.Pointer(&mem[0]))%Line != 0 {
		return nil, fmt.Errorf("shmfmt: control block at %p, want the beginning of a line", &mem[0])
	}
	posted := windowPosted(n)
	return &Window{
		mem: mem, n: n, lock: newLock(mem[windowLock:posted], n),
		posted:  unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[posted])), n),
		stripes: OpenStripes(mem[windowStripes(n):], n),
	}, nil
}

func (w *Window) header() *windowHeader { return (*windowHeader)(unsafe.Pointer(&w.mem[0])) }

func (w *Window) table() *windowTableHead {
	return (*windowTableHead)(unsafe.Pointer(&w.mem[windowTable]))
}

// Local returns the number of processes of the node.
func (w *Window) Local() int { return w.n }

// Lock returns the passive lock of the target.
func (w *Window) Lock() *Lock { return &w.lock }

// Posted returns the number of times that the target has posted to local process i. The target adds
// to it and then rings i; process i waits for it.
func (w *Window) Posted(i int) *atomic.Uint64 { return &w.posted[i] }

// Completed returns the number of access epochs to the target that local process i has completed.
// Process i adds to it when its operations are applied, and then rings the target, which waits for
// it.
func (w *Window) Completed(i int) *atomic.Uint64 { return &w.lock.line(i).completed }

// TableVersion returns the version of the attach table and of the two words below. It is odd while
// the target changes them: a reader uses what it has read only if the version was even before, and
// the same after.
func (w *Window) TableVersion() *atomic.Uint64 { return &w.table().version }

// TableOff returns the offset of the attach table in the target's heap.
func (w *Window) TableOff() *atomic.Uint64 { return &w.table().off }

// TableLen returns the length of the attach table in entries.
func (w *Window) TableLen() *atomic.Uint64 { return &w.table().len }

// HandleDir returns 1 + the offset of the directory of the handle table in the target's heap, 0 if
// there is none. It is stored once.
func (w *Window) HandleDir() *atomic.Uint64 { return &w.table().handles }

// Stripes returns the stripes of the accumulates to the target.
func (w *Window) Stripes() *Stripes { return w.stripes }
