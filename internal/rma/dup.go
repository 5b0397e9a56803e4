package rma

import (
	"encoding/binary"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Duplicates
//
// A duplicate is one more View of a window, with options of its own. Views share everything else:
// memory, epochs, locks, operations. So a put through one is legal in the epoch that another has
// begun, and what one has locked another cannot lock.
//
// The view that Create makes is the first; freeing it is collective. Each process frees its other
// views alone, before or after the first one. While a process has views left, every process keeps
// the window and all that belongs to it: a process that frees the first view tells the others
// whether it has duplicates (in place of the barrier), and those that have send WinLeave when they
// have freed the last one. A process that dies without having sent it might still use the memory,
// which then is not freed.

// windowViews is the state of the views of a window. The engine's lock guards it.
type windowViews struct {
	views    []*View // not freed
	numbers  []bool  // of channels that are taken, by number - link.FirstNumber
	endedAll bool    // all have freed the first view
	users    int     // members that had duplicates then
	leavers  []int32 // processes that had duplicates, and have none now
}

// join adds a view. The lock is held.
func (w *Window) join(v *View) { w.views = append(w.views, v) }

// Dup returns a duplicate with the same options (MPIX_WIN_DUP_WITH_INFO). It is local: no
// message is sent, and nothing allocated but the View and its record. It takes the lock.
func (v *View) Dup() (*View, error) {
	w := v.w
	if err := v.entire(); err != nil {
		return nil, err
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	d := newView(w)
	w.join(d)
	d.setOptions(v.Options())
	return d, nil
}

// First reports whether the view is the one that Create has made.
func (v *View) First() bool { return v.first }

// alone reports whether the view is the only one of its window in this process. The lock is
// held.
func (w *Window) alone() bool { return len(w.views) == 1 }

// last reports whether v is the last that uses the window in this process. It takes the
// lock.
func (v *View) last() bool {
	v.w.e.p.Lock()
	defer v.w.e.p.Unlock()
	return v.w.endedAll && v.w.alone()
}

// freeDup frees a duplicate: local. It takes the lock.
func (v *View) freeDup() error {
	w, e := v.w, v.w.e
	if v.last() {
		if err := firstOf(w.idle(), w.unawaited()); err != nil {
			return err
		}
	}
	e.p.Lock()
	defer e.p.Unlock()
	w.drop(v)
	if w.endedAll && len(w.views) == 0 {
		w.leave()
	}
	return nil
}

// drop removes a view from the window: later calls find a window that is freed. The lock is held.
func (w *Window) drop(v *View) {
	if i := slices.Index(w.views, v); i >= 0 {
		w.views = slices.Delete(w.views, i, i+1)
	}
	v.giveNumber()
	gone := &Window{e: w.e, Comm: w.Comm, id: w.id, flavor: w.flavor, table: w.table, rec: w.e.closed, reusable: w.reusable}
	gone.freed.Store(true)
	v.w = gone
	v.rec.Window.Store(gone.rec)
}

// leave tells all members that this process does not use the window any more. The lock is held.
func (w *Window) leave() {
	w.closeGates()
	for _, process := range w.Comm.Members {
		if int(process) != w.e.p.Job().Rank && w.e.p.DownCause(int(process)) == nil {
			w.e.hdr = wire.Header{Kind: wire.WinLeave, Ctx: w.id}
			w.e.p.Queue(int(process), &w.e.hdr, nil, nil)
		}
	}
	w.left(int32(w.e.p.Job().Rank))
}

// left notes that a process has left. It reports false if it had left before. A process may leave
// before this one knows that it stayed. The lock is held.
func (w *Window) left(process int32) bool {
	if slices.Contains(w.leavers, process) {
		return false
	}
	w.leavers = append(w.leavers, process)
	w.vanish()
	return true
}

// vanish discards the window if all members have left it. The lock is held.
func (w *Window) vanish() {
	switch {
	case !w.endedAll || w.freed.Load():
	case w.users == unknownUsers && len(w.views) == 0:
		w.freed.Store(true)
		w.discard(false)
	case len(w.leavers) == w.users:
		w.freed.Store(true)
		w.discard(true)
	}
}

// Begin says that the program is in a call that has operations on the window, until it calls end: see comm.Comm.
func (v *View) Begin(by call.Number) (end func()) { return v.w.Comm.Begin(by) }

// freeFirst frees the first view: collective, with an allreduce in place of a barrier. It takes the
// lock.
func (v *View) freeFirst() error {
	w, e := v.w, v.w.e
	var give, sum [8]byte
	e.p.Lock()
	if !w.alone() {
		give[0] = 1
	}
	e.p.Unlock()
	end := w.Comm.Begin(call.WinFree)
	err := e.colls.Allreduce(w.Comm, give[:], sum[:], op.Sum, op.Uint64, dtype.Mixed)
	end()
	if busy, ok := err.(*coll.Clash); ok { // nothing has happened: the window stays
		busy.Call = call.WinFree
		if busy.Other == call.Allreduce {
			busy.Other = call.WinFree // of another goroutine
		}
		return busy
	}
	e.p.Lock()
	defer e.p.Unlock()
	w.endedAll, w.users = true, int(binary.LittleEndian.Uint64(sum[:]))
	if err != nil {
		w.users = unknownUsers
	}
	switch {
	case !w.alone():
		w.drop(v)
	case w.users > 0: // duplicates of others
		w.drop(v)
		w.closeGates()
	default:
		w.views = nil
		w.closeGates()
	}
	w.vanish()
	return err
}

// unknownUsers says that it is not known which members have duplicates, because one has died.
const unknownUsers = -1

// closeGates ends all epochs. The lock is held.
func (w *Window) closeGates() {
	w.rec.Mode.Store(gateClosed)
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil {
			t.rec.Gate.Store(gateClosed)
		}
	}
}

// takeNumber gives v channels of its own, unless the maximum is reached. The lock is held.
func (v *View) takeNumber() {
	w := v.w
	if v.number != 0 {
		return
	}
	i := slices.Index(w.numbers, false)
	if i < 0 {
		i = len(w.numbers)
		if i+link.FirstNumber >= link.ChannelsMax {
			return
		}
		w.numbers = append(w.numbers, false)
	}
	w.numbers[i] = true
	v.number = uint16(i + link.FirstNumber)
}

// giveNumber frees the channels of v. The lock is held.
func (v *View) giveNumber() {
	if v.number != 0 {
		v.w.numbers[v.number-link.FirstNumber] = false
		v.number = 0
	}
}
