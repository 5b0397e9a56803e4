package rma

import (
	"strconv"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/link"
)

// waiter is a goroutine that waits in a synchronisation call. A process that stores the word on
// which it sleeps rings it, see proc.Event.Watch. asleep exists because Watch counts sleepers
// there, and is never read: processes that store ring whichever process is armed.
type waiter struct {
	proc.Event
	w      *Window
	call   call.Number
	t      *target // may be nil
	turn   bool    // it waits for the lock of t, for which an earlier call has not waited
	asleep atomic.Uint32
}

// AppendAbout implements proc.About.
func (x *waiter) AppendAbout(b []byte) []byte {
	b = x.w.Comm.AppendCall(b, x.call)
	switch {
	case x.turn:
		b = appendTurn(b, x.t.Rank)
	case x.t != nil:
		b = strconv.AppendInt(append(b, ", rank "...), int64(x.t.Rank), 10)
	}
	return b
}

// waiter returns a waiter. The lock is held.
func (w *Window) waiter(by call.Number, t *target) *waiter {
	e := w.e
	var x *waiter
	if n := len(e.idleWaiters); n > 0 {
		x = e.idleWaiters[n-1]
		e.idleWaiters = e.idleWaiters[:n-1]
	} else {
		x = &waiter{}
		x.About = x
	}
	x.w, x.call, x.t = w, by, t
	return x
}

// freeWaiter takes a waiter back. The lock is held.
func (e *Engine) freeWaiter(x *waiter) {
	x.w, x.t, x.turn = nil, nil, false
	x.YieldOften(false)
	e.idleWaiters = append(e.idleWaiters, x)
}

// spin waits for ok for a short time.
func (e *Engine) spin(ok func() bool) bool {
	for range e.looks {
		if ok() {
			return true
		}
		fence() // so that one look ends before the next
	}
	for range e.yields {
		e.p.Yield()
		if ok() {
			return true
		}
	}
	return false
}

// await waits until word is n or more, which t makes it.
func (w *Window) await(word *atomic.Uint64, n uint64, by call.Number, t *target) error {
	// A poller also takes frames and offers, on which t may depend.
	if !w.served && w.e.spin(func() bool { return word.Load() >= n }) {
		return nil
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	return w.awaitLocked(word, n, by, t)
}

// awaitLocked is await with the lock held.
func (w *Window) awaitLocked(word *atomic.Uint64, n uint64, by call.Number, t *target) error {
	if word.Load() >= n {
		return nil
	}
	x := w.waiter(by, t)
	defer w.e.freeWaiter(x)
	return x.await(word, n)
}

// await returns when word is n or more, or when the target has died. The lock is held.
func (x *waiter) await(word *atomic.Uint64, n uint64) error {
	e, t := x.w.e, x.t
	x.YieldOften(word == &t.answered) // by a service, for which there may be no other core
	for word.Load() < n {
		if cause := e.p.DownCause(int(t.Process)); cause != nil {
			return link.Gone(t.Rank, cause)
		}
		x.Watch(word, n, &x.asleep)
		e.p.Wait(&x.Event, int(t.Process))
	}
	return nil
}

// settled reports, without the lock, whether nothing can be under way to t: callers have applied
// everything themselves.
func (t *target) settled() bool {
	return t.control != nil && !t.rec.Framed.Load()
}

func (w *Window) settleLocked(t *target, local bool, by call.Number) error {
	e := w.e
	if cause := e.p.DownCause(int(t.Process)); cause != nil {
		return link.Gone(t.Rank, cause)
	}
	if t.Idle() {
		return nil
	}
	x := w.waiter(by, t)
	defer e.freeWaiter(x)
	return e.link.Settle(&t.Target, local, x)
}

// undefer waits for the post of t if operations are deferred, and carries them out. The lock is
// held.
func (w *Window) undefer(t *target, by call.Number) error {
	for len(t.deferred) > 0 {
		if err := w.awaitLocked(w.posts(t), t.starts, by, t); err != nil {
			return err
		}
		w.e.drain(t)
	}
	return nil
}

// gather is settleAll if any target has other channels than the main one: the frames that release locks go by the main one.
func (w *Window) gather(by call.Number) error {
	w.e.p.Lock()
	any := false
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil && t.Split() {
			any = true
		}
	}
	w.e.p.Unlock()
	if !any {
		return nil
	}
	return w.settleAll(false, by)
}

// settleAll is settle of all targets at once.
func (w *Window) settleAll(local bool, by call.Number) error {
	i := 0
	for ; i < len(w.targets); i++ {
		if t := w.targets[i].Load(); t != nil && !t.settled() {
			break
		}
	}
	if i == len(w.targets) {
		return nil
	}
	var first error
	e := w.e
	e.p.Lock()
	defer e.p.Unlock()
	x := w.waiter(by, nil)
	defer e.freeWaiter(x)
	for ; i < len(w.targets); i++ {
		t := w.targets[i].Load()
		if t == nil || t.settled() {
			continue
		}
		e.link.RequestFlushes(&t.Target, local)
	}
	for i := range w.targets {
		t := w.targets[i].Load()
		if t == nil || t.settled() {
			continue
		}
		x.t = t
		first = firstOf(first, e.link.AwaitFlushes(&t.Target, local, x))
	}
	return first
}

// fence orders what the caller has stored before what it loads after. Its word is on the stack, so
// that callers do not share a cache line.
func fence() {
	if planted.NoFence {
		return
	}
	var word atomic.Uint32
	word.Add(1)
}

// joinService makes what the service of this process has applied happen before what the caller does
// next, in the sense of Go's memory model. The processor does not need it: the process that reports
// an operation applied does so after it. But the race detector cannot follow a word through another
// node, or through memory that processes share.
func (w *Window) joinService() {
	if w.served {
		w.e.p.Lock()
		defer w.e.p.Unlock()
	}
}

// firstOf returns the first error that is not nil.
func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
