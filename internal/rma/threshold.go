package rma

import (
	"math"
	"slices"
	"strconv"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Threshold is the condition of a request: that an own counter is Reach or more. When it is, Take
// is subtracted in the same step, as far as the other requests of this process are concerned: so
// each of several waiters gets notifications of its own, the one that has waited longest first, and
// those that come early count for the next.
type Threshold struct {
	Call    call.Number // that made the request
	Counter int
	Reach   int64
	Take    int64

	// Begin, if it is not nil, is called when the request becomes active, with the value of the
	// counter. An error completes the request. The engine's lock is held: Begin must not
	// communicate.
	Begin func(value int64) error
}

// threshold is a Threshold with its request.
//
// An active request is in Engine.awaited, which every poll checks (workCounters), and so does code
// that changes a counter in this process. The counter has the least value from which on a process
// must ring (Counter.Want). A poller sleeps only if it has armed its doorbell, and has checked
// everything after that. So either that check finds the value, or the Add of an origin came after
// the check: then the origin finds the wanted value, which was stored before, and the doorbell
// armed, and rings. So no wake-up is lost, and while nobody waits for the value of a counter,
// nobody rings for it.
type threshold struct {
	Threshold
	w          *Window
	counter    *shmfmt.Counter
	request    *p2p.Request
	persistent bool
}

// engineCounters is the state of waits for counters of a process. All is guarded by the engine's
// lock.
type engineCounters struct {
	awaited    []*threshold // active, in the order in which they became so
	thresholds []*threshold // for reuse
}

// Await returns a request that is complete when a counter has reached a value.
func (v *View) Await(x Threshold) (*p2p.Request, error) { return v.awaits(x, false) }

// AwaitInit returns an inactive persistent request of that kind.
func (v *View) AwaitInit(x Threshold) (*p2p.Request, error) { return v.awaits(x, true) }

func (v *View) awaits(s Threshold, persistent bool) (*p2p.Request, error) {
	if err := v.ownCounter(s.Counter); err != nil {
		return nil, err
	}
	w, e := v.w, v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	var x *threshold
	if n := len(e.thresholds); n > 0 && !persistent { // a persistent one may outlive its requests
		x = e.thresholds[n-1]
		e.thresholds = e.thresholds[:n-1]
	} else {
		x = &threshold{}
	}
	r := e.messages.NewRequest(w.Comm, s.Call)
	*x = threshold{Threshold: s, w: w, counter: w.counter(s.Counter), request: r, persistent: persistent}
	if persistent {
		e.messages.SetPersistent(r, x)
	} else {
		x.Begin()
	}
	return r, nil
}

// Begin implements p2p.Starter.
func (x *threshold) Begin() {
	e := x.w.e
	if err := x.w.live(); err != nil {
		x.finish(err)
		return
	}
	value := x.counter.Value()
	if x.Threshold.Begin != nil {
		if err := x.Threshold.Begin(value); err != nil {
			x.finish(err)
			return
		}
	}
	c := x.counter
	c.Waiters++
	if x.Reach < c.Wanted() {
		c.Want(x.Reach)
	}
	x.request.About = x
	e.awaited = append(e.awaited, x)
	if len(e.awaited) == 1 {
		e.p.Later(1) // a poller checks it; nobody has to begin to poll
	}
	w := x.w
	if c.Value() >= x.Reach { // after Want; requests that have waited longer come first
		e.workCounters() // x may be gone after that
	}
	if err := w.deserted(); err != nil {
		if i := slices.Index(e.awaited, x); i >= 0 {
			e.forgetAwaited(i)
			x.finish(err)
		}
	}
}

// workCounters completes requests whose counter has reached their value.
func (e *Engine) workCounters() int {
	n := 0
	for i := 0; i < len(e.awaited); i++ {
		x := e.awaited[i]
		if x.counter.Value() < x.Reach {
			continue
		}
		e.forgetAwaited(i)
		i--
		n++
		if x.Take != 0 {
			x.counter.Add(-x.Take)
		}
		x.finish(nil)
	}
	return n
}

// forgetAwaited removes a request from the list.
func (e *Engine) forgetAwaited(i int) {
	c := e.awaited[i].counter
	e.awaited = slices.Delete(e.awaited, i, i+1)
	if len(e.awaited) == 0 {
		e.p.Later(-1)
	}
	c.Waiters--
	want := int64(math.MaxInt64)
	if c.Waiters > 0 {
		for _, x := range e.awaited {
			if x.counter == c {
				want = min(want, x.Reach)
			}
		}
	}
	c.Want(want)
}

// CancelAwait completes a request that waits for a counter, if it is one, as cancelled. The
// lock is held.
func (e *Engine) CancelAwait(r *p2p.Request) {
	for i, x := range e.awaited {
		if x.request == r {
			e.forgetAwaited(i)
			r.Status.Cancelled = true
			x.finish(nil)
			return
		}
	}
}

// finish completes the request of x.
func (x *threshold) finish(err error) {
	e, r := x.w.e, x.request
	r.About = r
	if !x.persistent {
		*x = threshold{}
		e.thresholds = append(e.thresholds, x)
	}
	e.messages.Finish(r, err)
}

// AppendAbout implements proc.About.
func (x *threshold) AppendAbout(b []byte) []byte {
	b = x.w.Comm.AppendCall(b, x.Call)
	b = strconv.AppendInt(append(b, ", counter "...), int64(x.Counter), 10)
	b = strconv.AppendInt(append(b, " at "...), x.counter.Value(), 10)
	return strconv.AppendInt(append(b, " of "...), x.Reach, 10)
}

// lostCounters ends requests that nobody is left to complete: of windows whose other members have
// all died. While one of them lives it is not known which member was to signal.
func (e *Engine) lostCounters() {
	e.workCounters() // signals of the dead count
	for i := 0; i < len(e.awaited); i++ {
		x := e.awaited[i]
		if err := x.w.deserted(); err != nil {
			e.forgetAwaited(i)
			i--
			x.finish(err)
		}
	}
}

// deserted returns an error if all other members of the window have died.
func (w *Window) deserted() error {
	for rank, process := range w.Comm.Members {
		if rank != w.Comm.Rank && !w.e.dead(process) {
			return nil
		}
	}
	if len(w.Comm.Members) == 1 {
		return nil
	}
	return class.Errorf(class.ProcFailed, "all %d other members of the window have failed", len(w.Comm.Members)-1)
}

// unawaited returns an error if requests wait for counters of w.
func (w *Window) unawaited() error {
	if n := w.awaiting(); n > 0 {
		return class.Errorf(class.Request, "%d requests wait for counters of the window", n)
	}
	return nil
}

// awaiting is how many requests wait for counters of w. It takes the lock.
func (w *Window) awaiting() (n int) {
	w.e.p.Lock()
	defer w.e.p.Unlock()
	for _, x := range w.e.awaited {
		if x.w == w {
			n++
		}
	}
	return n
}
