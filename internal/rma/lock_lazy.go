package rma

import (
	"encoding/binary"
	"math"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// lazyLock is the lock of a target on another node for which Lock has not asked. Loads and stores
// cannot reach the target, so that only the target can tell when the lock is taken, and MPI-5
// 12.5.3 lets Lock return before (the last paragraph: "the call to MPI_WIN_LOCK may block ...; or,
// the first two calls may not block, while MPI_WIN_UNLOCK blocks").
//
// Steps:
//
//  1. Lock opens the epoch and sends nothing. The gate of the target stays closed, so that every call
//     that uses the epoch takes a slow path, which finds heldLazy.
//  2. The first operation, if it is short, is kept (keep).
//  3. Unlock sends one WinEpoch: the lock's mode and the operation. If the target's lock is free, the
//     target carries out the operation, has released the lock, and answers with one WinDone, which
//     carries what the operation has fetched. That is one round trip, where asking for the lock
//     first takes two.
//  4. If the lock is not free the WinEpoch counts as a WinLock, and the target drops the operation:
//     it never keeps data for an origin. The answer is a WinGrant when the lock has come, and
//     the origin sends the operation and the WinUnlock as usual (grantedLate).
//
// Any other call in the epoch (a second operation, a flush, a request, a notification) first asks
// for the lock and waits for it (lockNow). So does Lock of another target by the same goroutine: a
// process that locks several targets gets their locks in the order of its calls, and processes that
// keep to an order cannot wait for each other in a circle. There is at most one lazy lock in a
// process (Engine.lazy). Other goroutines that lock meanwhile do not use it and do not wait for
// it: its owner may wait for them.
//
// If the lock cannot be had (a holder or the target has died), the call that has asked for it
// returns the error, and so do all further ones until Unlock, which ends the epoch.
//
// Rejected: to send the WinLock in Lock without waiting for the answer, and operations and the
// WinUnlock behind it. That is one round trip, too, but three frames, and the target would have to
// keep the frames of each origin that waits for its turn. Rejected as well: to have each call of
// the process, messages and collectives among them, ask for the lock first. No call shows what a
// program does between its calls, so that a program which assumes that the lock is held when Lock
// returns would still be wrong; it needs a flush.
type lazyLock struct {
	owner     atomic.Uintptr // the goroutine that called Lock last
	exclusive bool
	asked     bool       // by lockNow: a WinLock
	failed    error      // why the lock cannot be had
	operation *operation // the operation that is kept, or sent with the WinEpoch; nil if there is none
	at        uint64     // number of the WinEpoch without an answer yet, 0 if there is none
	waits     *waiter    // waits for that answer
	// owner and exclusive are stored before LockingRecord.Lazy, the rest under the engine's lock.
}

// lazy returns the target whose lock the process has not asked for, in an epoch of Lock; nil if there is none.
func (e *Engine) lazy() *target { return (*target)(unsafe.Pointer(e.locking.Lazy.Load())) }

// swapLazy makes t the result of lazy if that was old.
func (e *Engine) swapLazy(old, t *target) bool {
	return e.locking.Lazy.CompareAndSwap((*byte)(unsafe.Pointer(old)), (*byte)(unsafe.Pointer(t)))
}

// lazily begins an epoch with t without asking for its lock, and reports whether it may.
// Window.mu is held.
func (w *Window) lazily(t *target, exclusive bool) bool {
	e := w.e
	if t.control != nil || w.check != nil || e.dead(t.process) || e.lazy() != nil {
		return false
	}
	me := sys.Goroutine()
	if me == 0 {
		return false // lockEarlier needs the goroutine
	}
	t.lazy.owner.Store(me)
	t.lazy.exclusive = exclusive
	return e.swapLazy(nil, t)
}

// lockEarlier takes the lazy lock of the calling goroutine, which is about to lock another target.
// The next call in that epoch reports an error. No lock is held.
func (e *Engine) lockEarlier() {
	if t := e.lazy(); t != nil && t.lazy.owner.Load() == sys.Goroutine() && !planted.LazyPassed {
		t.w.lockNow(t, call.WinLock)
	}
}

// lockNow asks for the lazy lock of t, unless another call has, and returns when it is held and the
// operation that was kept is under way, or returns why it cannot be had. No lock is held.
func (w *Window) lockNow(t *target, by call.Number) error {
	e, z := w.e, &t.lazy
	e.p.Lock()
	if e.swapLazy(t, nil) {
		z.asked = true
		t.asks++
		if e.p.DownCause(int(t.process)) == nil {
			e.requestLock(t, z.exclusive)
		}
	}
	err := error(nil)
	if z.asked {
		err = w.awaitTurn(t, by)
	}
	e.p.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.rec.Held != heldLazy {
		return nil // another goroutine that waited has done this
	}
	e.p.Lock()
	defer e.p.Unlock()
	if z.failed != nil {
		return z.failed
	}
	if err == nil {
		err, t.refusal = t.refusal, nil
	}
	o := z.operation
	z.operation = nil
	z.failed = err
	if err != nil {
		if o != nil {
			e.end(o, nil)
		}
		return err
	}
	if o != nil {
		e.dispatch(o)
	}
	z.asked, t.rec.Held = false, heldLocked
	t.setGate(gateOpen | gateLocked)
	return nil
}

// awaitTurn waits for the answer to the last WinLock to t. The lock of the engine is held.
func (w *Window) awaitTurn(t *target, by call.Number) error {
	x := w.waiter(by, t)
	x.turn = true
	defer w.e.freeWaiter(x)
	return x.await(&t.answered, t.asks)
}

// lazyNow is lockNow if t has a lazy lock, and reports whether it had.
func (w *Window) lazyNow(t *target, by call.Number) (bool, error) {
	w.mu.Lock()
	lazy := t.rec.Held == heldLazy
	w.mu.Unlock()
	if !lazy {
		return false, nil
	}
	return true, w.lockNow(t, by)
}

// lazyAllNow is lazyNow of all targets.
func (w *Window) lazyAllNow(by call.Number) error {
	var first error
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil && t.control == nil {
			_, err := w.lazyNow(t, by)
			first = firstOf(first, err)
		}
	}
	return first
}

// fits reports whether an access of that many bytes may go with a WinEpoch, whatever the state of its target.
func (o *Op) fits(size int64) bool {
	return size <= bundledMax && o.Notify == 0 && o.Done != Remote && o.contiguous() &&
		(o.Fn != op.NoOp || o.Kind != Accumulate || o.fetches())
}

// keep keeps an operation that fits for Unlock, if it is the first of its epoch and no call has
// asked for the lock. It reports whether it did. It takes the lock.
func (e *Engine) keep(v *View, t *target, a *Op, off uint64) (bool, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if cause := e.p.DownCause(int(t.process)); cause != nil {
		return false, gone(t.rank, cause)
	}
	if v.number != 0 || t.lazy.operation != nil || e.lazy() != t || a.size() > int64(e.p.ChunkMax(int(t.process))) {
		return false, nil
	}
	t.lazy.operation = e.newOperation(v, &t.main, a, off)
	return true, nil
}

// unlockLazy ends the epoch of a lazy lock. Window.mu is held, and is not when it returns. It
// reports false if the lock has been asked for, and is held: Unlock must continue.
func (w *Window) unlockLazy(t *target) (done bool, err error) {
	e := w.e
	e.p.Lock()
	if e.launchEpoch(t) {
		t.rec.Held = heldChanging
		w.mu.Unlock()
		err = w.awaitEpoch(t)
		e.p.Unlock()
	} else {
		e.p.Unlock()
		w.mu.Unlock()
		err = w.lockNow(t, call.WinUnlock)
		if err == nil {
			return false, nil
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e.p.Lock()
	t.lazy.reset()
	e.p.Unlock()
	t.rec.Held = heldNot
	w.unlocked()
	return true, err
}

// reset forgets an epoch.
func (z *lazyLock) reset() {
	z.exclusive, z.asked, z.failed, z.operation, z.at, z.waits = false, false, nil, nil, 0, nil
}

// launchEpoch sends the WinEpoch of t, if its lock has not been asked for and nothing else is
// under way there. The lock is held.
func (e *Engine) launchEpoch(t *target) bool {
	z, c := &t.lazy, &t.main
	q := e.peers.At(int(t.process))
	if len(t.others) > 0 || c.bundle != nil || !c.idle() || q.stuck || q.requests >= requestsMax ||
		e.p.DownCause(int(t.process)) != nil || !e.swapLazy(t, nil) {
		return false
	}
	c.issued++
	z.at = c.issued
	c.quiet, c.asked, c.wanted = z.at, z.at, z.at
	q.requests++
	t.asks++
	payload := e.frameEpoch(t)
	e.hdr.Size = uint32(len(payload))
	e.p.Queue(int(t.process), &e.hdr, payload, nil)
	return true
}

// frameEpoch makes e.hdr the header of the WinEpoch of t, and returns its payload, which
// belongs to the operation.
func (e *Engine) frameEpoch(t *target) (payload []byte) {
	z := &t.lazy
	h := wire.Header{Kind: wire.WinEpoch, Ctx: t.w.id, Name: z.at}
	if o := z.operation; o != nil {
		e.head(o)
		h.Tag, h.Arg, h.Aux = int32(e.hdr.Kind), e.hdr.Arg, e.hdr.Aux
		if o.fetches() {
			h.Flags |= wire.Fetches
		}
		switch {
		case o.Kind == CompareAndSwap:
			n := len(o.Compare)
			payload = o.short[1][:2*n] // compare is its beginning
			o.Origin.Pack(payload[n:], 0)
		case !o.sends():
			binary.LittleEndian.PutUint64(o.few[:], uint64(o.size()))
			payload = o.few[:]
		default:
			payload, _ = o.Origin.Bytes() // it fits
		}
	}
	if z.exclusive {
		h.Flags |= wire.Exclusive
	}
	e.hdr = h
	return payload
}

// awaitEpoch waits for the end of the epoch whose WinEpoch is sent, and returns its error. The lock
// of the engine is held.
func (w *Window) awaitEpoch(t *target) error {
	e, z := w.e, &t.lazy
	x := w.waiter(call.WinUnlock, t)
	defer e.freeWaiter(x)
	x.turn, z.waits = true, x
	// What grantedLate sends has higher numbers: every operation must be complete here, and the
	// WinDone for its WinUnlock covers this number, too.
	err := e.waitMark(&t.main, mark{at: math.MaxUint64, done: z.at}, false, x)
	if o := z.operation; o != nil { // the target has died
		e.end(o, nil)
	}
	return err
}

// grantedLate continues an epoch whose WinEpoch has found the lock taken, when the epoch gets the
// lock or cannot have it. A handler of frames calls it, with the lock held.
func (e *Engine) grantedLate(t *target) {
	z, c := &t.lazy, &t.main
	e.peers.At(int(t.process)).requests--
	o := z.operation
	z.waits.turn = false
	z.operation, z.waits, z.at = nil, nil, 0
	if t.refusal != nil {
		c.fault, t.refusal = firstOf(c.fault, t.refusal), nil
		if o != nil {
			e.end(o, nil)
		}
		c.done = c.asked
		c.notify()
		return
	}
	if o != nil && !planted.EpochForgotten {
		e.dispatch(o)
	}
	e.sendUnlock(t)
}

// epochTold takes the answer to the WinEpoch of t. It reports false if no correct target sends it.
func (e *Engine) epochTold(t *target, h *wire.Header, payload []byte) bool {
	z := &t.lazy
	o := z.operation
	if h.Flags&wire.Faulty == 0 {
		want := 0
		if o != nil && o.fetches() {
			want = int(o.size())
		}
		if len(payload) != want {
			return false
		}
		if want > 0 {
			o.deliver(payload, 0)
		}
	}
	z.operation, z.waits, z.at = nil, nil, 0
	t.answered.Store(t.asks)
	if o != nil {
		e.end(o, nil)
	}
	return true
}

// appendTurn describes a wait for a lock.
func appendTurn(b []byte, rank int) []byte {
	return strconv.AppendInt(append(b, ", for the lock of rank "...), int64(rank), 10)
}
