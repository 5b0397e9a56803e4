package rma

import (
	"runtime"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// PutBytes is a Put of contiguous bytes.
//
// Cost on mapped memory: loads of the epoch and the target, two comparisons, the copy;
// some 5 ns beside that. opened and room exist so that they inline; a call would add 20 %.
func (v *View) PutBytes(origin []byte, target int, disp int64) error {
	if rec := v.opened(target); rec != nil {
		if at := room(rec, disp, len(origin)); at >= 0 {
			v.ordered(false)
			if len(origin) == 0 {
				return nil // at may be the end of the memory, which is not an address of it
			}
			p := unsafe.Add(rec.Mem, at)
			runtime.KeepAlive(v) // until here v keeps the memory alive, from here on p does
			mem.Move(unsafe.Slice((*byte)(p), len(origin)), origin)
			return nil
		}
		if t := v.w.usedTarget(target); t != nil {
			var r *apply.Region
			var at int64
			if h := v.handle; h == nil {
				if f, at := t.firstFound(disp, len(origin)); f != nil && !v.inOrder() {
					mem.Move(f.region.Mem[at:], origin)
					return nil
				}
				if v.putUnlocked(t, origin, disp) {
					return nil
				}
				r, at = v.found(t, disp, len(origin))
			} else {
				r, at = &h.region, h.room(disp, len(origin))
				if at < 0 || !h.open(t) || v.onlyFrames(t) {
					r = nil
				}
			}
			if r != nil {
				v.ordered(false)
				mem.Move(r.Mem[at:], origin)
				return nil
			}
		}
	}
	_, err := v.Issue(&operation.Op{Kind: operation.Put, Origin: mem.Of(origin), Disp: disp, Call: call.Put}, target)
	return err
}

// GetBytes is a Get of contiguous bytes, at the cost of PutBytes.
func (v *View) GetBytes(result []byte, target int, disp int64) error {
	if rec := v.opened(target); rec != nil {
		if at := room(rec, disp, len(result)); at >= 0 {
			v.ordered(true)
			if len(result) == 0 {
				return nil
			}
			p := unsafe.Add(rec.Mem, at) // as in PutBytes
			runtime.KeepAlive(v)
			mem.Move(result, unsafe.Slice((*byte)(p), len(result)))
			return nil
		}
		if t := v.w.usedTarget(target); t != nil {
			var r *apply.Region
			var at int64
			if h := v.handle; h == nil {
				if f, at := t.firstFound(disp, len(result)); f != nil && !v.inOrder() {
					mem.Move(result, f.region.Mem[at:int(at)+len(result)])
					return nil
				}
				if v.getUnlocked(t, result, disp) {
					return nil
				}
				r, at = v.found(t, disp, len(result))
			} else {
				r, at = &h.region, h.room(disp, len(result))
				if at < 0 || !h.open(t) || v.onlyFrames(t) {
					r = nil
				}
			}
			if r != nil {
				v.ordered(true)
				mem.Move(result, r.Mem[at:int(at)+len(result)])
				return nil
			}
		}
	}
	_, err := v.Issue(&operation.Op{Kind: operation.Get, Result: mem.Of(result), Disp: disp, Call: call.Get}, target)
	return err
}

// opened returns the record of a rank that may be accessed, nil if that needs more than a few
// loads. It and room are inlined. The rank may never have been used: then room finds no memory.
func (v *View) opened(target int) *shmfmt.TargetRecord {
	w := v.rec.Window.Load()
	if t := w.Target(target); t != nil && (w.Mode.Load()|t.Gate.Load())&gateOpen != 0 {
		return t
	}
	return nil
}

// Passive reports whether an epoch of Lock or LockAll with a target is open. It is false, too,
// where that needs more than a few loads.
func (v *View) Passive(target int) bool {
	t := v.w.usedTarget(target)
	return t != nil && v.w.locks(t)
}

// room is the offset of n bytes at a displacement in memory that is mapped here, -1 if they are not
// in it, or the window is dynamic.
func room(t *shmfmt.TargetRecord, disp int64, n int) int64 {
	if uint64(disp) < t.End.Load() { // pairs with the store in publish
		at := disp * t.Unit
		if over := int64(n) - (t.Len - at); over <= 0 || planted.BoundByOne && over == 1 {
			return at
		}
	}
	return -1
}

// firstFound is found for puts and gets that are not in order, of the first region that found looks
// at: most programs have one, and a call would cost a tenth of the put. It is inlined.
func (t *target) firstFound(disp int64, n int) (*foundRegion, uint64) {
	f := t.found[0].Load()
	if f == nil || f.current.Load() != f.version { // pairs with the stores in reserve and change
		return nil, 0
	}
	at, size := uint64(disp)-f.lo, uint64(len(f.region.Mem))
	if at > size || uint64(n) > size-at {
		return nil, 0
	}
	return f, at
}

// found returns the region, and the offset in it, of n bytes at an address of a target of a dynamic
// window, if it was used recently and is mapped here; else nil. Like room it reports no errors:
// Issue does.
func (v *View) found(t *target, disp int64, n int) (*apply.Region, int64) {
	if t.path != pathDynamic || v.onlyFrames(t) {
		return nil, 0
	}
	addr := uint64(disp)
	version := t.control.TableVersion().Load() // pairs with the stores in reserve and change
	for i := range t.found {
		if f := t.found[i].Load(); f != nil && (f.version == version || planted.AttachStale) && addr >= f.lo && addr <= f.hi && uint64(n) <= f.hi-addr {
			if f.mapped && (!t.viaFrames.Load() || planted.DetourLeft) {
				return &f.region, int64(addr - f.lo)
			}
			return nil, 0
		}
	}
	return nil, 0
}

// mapped returns the memory, and the offset in it, of n bytes at a displacement of a target, if the
// target may be accessed and the memory is mapped here; else nil.
func (v *View) mapped(target int, disp int64, n int) (*apply.Region, int64) {
	rec, t := v.opened(target), v.w.usedTarget(target)
	if rec == nil || t == nil {
		return nil, 0
	}
	if at := room(rec, disp, n); at >= 0 {
		return &t.region, at
	}
	if h := v.handle; h == nil {
		return v.found(t, disp, n)
	} else if at := h.room(disp, n); at >= 0 && h.open(t) && !v.onlyFrames(t) {
		return &h.region, at
	}
	return nil, 0
}

// Accumulated combines contiguous elements of type t of the origin with those of the target, each
// atomically, in memory that is mapped here. With a result it fetches their previous values; with
// op.NoOp it ignores the origin. Elements are as package op takes them; op.CheckAccumulate has
// accepted the pair, here and in the functions that follow. It reports false, and has done nothing,
// where the memory is not mapped or something is wrong: then the caller calls Issue. Otherwise the
// operation is complete at both sides.
func (v *View) Accumulated(origin, result []byte, target int, disp int64, o op.Op, t op.Type) bool {
	n := len(origin)
	if o == op.NoOp {
		origin, n = nil, len(result)
	}
	if n == 0 || !whole(n, t) || len(result) != n && len(result) != 0 || t.Gaps() && len(result) > 0 {
		return false
	}
	r, at := v.mapped(target, disp, n)
	if r == nil {
		return false
	}
	v.ordered(o == op.NoOp)
	if v.rec.How.Load()&howIntrinsic != 0 {
		r.AccumulateIntrinsic(at, o, t, origin, result)
	} else {
		r.Accumulate(at, o, t, origin, result)
	}
	return true
}

// whole reports whether n bytes are whole elements of type t.
func whole(n int, t op.Type) bool {
	size := t.Size()
	if size&(size-1) == 0 {
		return size > 0 && n&(size-1) == 0
	}
	return n%size == 0
}

// Fetched is Accumulated of one element, with a result.
func (v *View) Fetched(value, result []byte, target int, disp int64, o op.Op, t op.Type) bool {
	n := t.Size()
	if n == 0 || len(result) != n || len(value) != n && o != op.NoOp || t.Gaps() {
		return false
	}
	r, at := v.mapped(target, disp, n)
	if r == nil {
		return false
	}
	v.ordered(o == op.NoOp)
	if v.rec.How.Load()&howIntrinsic != 0 {
		r.FetchOpIntrinsic(at, o, t, value, result)
	} else {
		r.FetchOp(at, o, t, value, result)
	}
	return true
}

// Swapped stores value in an element of type t if that is equal to compare, bit by bit, and returns
// the previous value, as Accumulated does.
func (v *View) Swapped(value, compare, result []byte, target int, disp int64, t op.Type) bool {
	n := t.Size()
	if n == 0 || len(value) != n || len(compare) != n || len(result) != n {
		return false
	}
	r, at := v.mapped(target, disp, n)
	if r == nil {
		return false
	}
	v.ordered(false)
	if v.rec.How.Load()&howIntrinsic != 0 {
		r.CompareSwapIntrinsic(at, n, value, compare, result)
	} else {
		r.CompareSwap(at, n, value, compare, result)
	}
	return true
}

// PutNotify is PutBytes with a notification of a counter of the target.
//
// Cost on mapped memory: beside the copy one atomic operation, on a line of the target, and a
// system call if the target sleeps until the counter has that value.
func (v *View) PutNotify(origin []byte, target int, disp int64, counter int) error {
	notify, err := Notification(counter)
	if err != nil {
		return err
	}
	if r, at := v.mapped(target, disp, len(origin)); r != nil {
		t := v.w.targets[target].Load()
		if c := t.counters.known(counter); c != nil {
			v.ordered(false)
			if !planted.NoticeFirst {
				mem.Move(r.Mem[at:], origin)
			}
			if _, reached := c.Add(1); reached {
				t.counterReached(false)
			}
			if planted.NoticeFirst {
				runtime.Gosched()
				mem.Move(r.Mem[at:], origin)
			}
			return nil
		}
	}
	_, err = v.Issue(&operation.Op{Kind: operation.Put, Notify: notify, Origin: mem.Of(origin), Disp: disp, Call: call.PutNotify}, target)
	return err
}

// CompareAndSwap8 is Swapped of a word, and returns the previous value, on the fastest path: in
// memory that is mapped here, while the stripe is biased to this process
// (TargetRecord.SwapBiased). It reports false, and has done nothing, where that is not so, or
// something is wrong.
func (v *View) CompareAndSwap8(value, compare uint64, target int, disp int64) (was uint64, ok bool) {
	rec := v.opened(target)
	if rec == nil || v.rec.How.Load() != 0 {
		return 0, false
	}
	at := room(rec, disp, 8)
	if at < 0 {
		return 0, false
	}
	was, ok = rec.SwapBiased(at, value, compare)
	runtime.KeepAlive(v) // v keeps memory and stripes alive
	return was, ok
}

// Do is Issue, by a fast path where there is one: for operations without a request that are
// contiguous at both sides.
func (v *View) Do(a *operation.Op, target int) (*p2p.Request, error) {
	if a.Done != operation.None || !a.Contiguous() {
		return v.Issue(a, target)
	}
	origin, _ := a.Origin.Bytes()
	result, _ := a.Result.Bytes()
	switch {
	case a.Notify != 0 && a.Kind == operation.Put:
		return nil, v.PutNotify(origin, target, a.Disp, int(a.Notify-1))
	case a.Notify != 0:
	case a.Kind == operation.Put:
		return nil, v.PutBytes(origin, target, a.Disp)
	case a.Kind == operation.Get:
		return nil, v.GetBytes(result, target, a.Disp)
	case a.Kind == operation.CompareAndSwap:
		if v.Swapped(origin, a.Compare, result, target, a.Disp, a.Elem) {
			return nil, nil
		}
	case v.Accumulated(origin, result, target, a.Disp, a.Fn, a.Elem):
		return nil, nil
	}
	return v.Issue(a, target)
}
