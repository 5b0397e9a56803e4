package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
)

// flushing is a flush with a request. It waits for one mark in each channel that has operations
// under way, and ends with the last mark.
type flushing struct {
	request *p2p.Request
	left    int   // marks
	err     error // the first
}

// flushMark is what a flushing waits for in one channel.
type flushMark struct {
	f  *flushing
	at mark
	// other says that the mark is of operations of another channel, whose faults are not reported.
	other bool
}

// Rflush is Flush with a request, which is complete when all operations to a target that were
// issued before it, and are in the scope of the view, are complete there (MPIX_RFLUSH). Operations
// that are issued after it do not delay it.
//
// Where the caller applies all operations it costs a fence and the request, else what Flush costs.
func (v *View) Rflush(target int) (*p2p.Request, error) {
	if err := v.handle.takes(target); err != nil {
		return nil, err
	}
	t, err := v.w.passive(target, call.Rflush)
	if err != nil {
		return nil, err
	}
	fence()
	if t == nil || t.settled() {
		return v.completed(call.Rflush), nil
	}
	e := v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	f := e.newFlushing(v.w, call.Rflush)
	v.await(f, t)
	return f.request, e.flushed(f)
}

// RflushAll is Rflush of all targets (MPIX_RFLUSH_ALL).
func (v *View) RflushAll() (*p2p.Request, error) {
	if v.handle != nil {
		return v.Rflush(v.handle.rank)
	}
	w, e := v.w, v.w.e
	if err := w.passiveAllNow(call.RflushAll); err != nil {
		return nil, err
	}
	fence()
	e.p.Lock()
	defer e.p.Unlock()
	f := e.newFlushing(w, call.RflushAll)
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil && !t.settled() {
			v.await(f, t)
		}
	}
	return f.request, e.flushed(f)
}

// newFlushing returns a flush by a request, which waits for nothing yet. The lock is held.
func (e *Engine) newFlushing(w *Window, by call.Number) *flushing {
	r := e.messages.NewRequest(w.Comm, by)
	r.YieldOften(true) // see reachMark
	return &flushing{request: r, left: 1}
}

// await makes f wait for what is under way to t. The lock is held.
func (v *View) await(f *flushing, t *target) {
	if v.number != 0 {
		if c := t.numbered(v.number); c != nil {
			c.await(f)
			if main := &t.main; c.lastShared > main.done {
				f.left++
				main.flushes = append(main.flushes, flushMark{f, v.w.e.flushShared(c, false), true})
				v.w.e.sendFlushNow(main) // a request need not be waited for
				main.notifyFlushes()
			}
		}
		return
	}
	for c := range t.channels {
		c.await(f)
	}
}

func (c *channel) await(f *flushing) {
	e := c.target.w.e
	if e.p.DownCause(int(c.target.process)) == nil && c.idle() {
		return
	}
	f.left++
	c.flushes = append(c.flushes, flushMark{f, e.requestFlush(c), false})
	e.sendFlushNow(c)
	c.notifyFlushes()
}

// flushed ends one of the marks that f waits for, and f with the last. It returns nil: the request
// has the error.
func (e *Engine) flushed(f *flushing) error {
	f.left--
	if f.left == 0 {
		e.messages.Finish(f.request, f.err)
	}
	return nil
}

// notifyFlushes ends the waits for marks that are reached, or never will be.
func (c *channel) notifyFlushes() {
	t := c.target
	e := t.w.e
	kept := c.flushes[:0]
	for _, m := range c.flushes {
		cause := e.p.DownCause(int(t.process))
		switch {
		case c.reached(m.at, false):
			if !m.other {
				m.f.err = firstOf(m.f.err, c.fault)
				c.fault = nil
			}
		case cause != nil:
			m.f.err = firstOf(m.f.err, gone(t.rank, cause))
		default:
			kept = append(kept, m)
			continue
		}
		e.flushed(m.f)
	}
	clear(c.flushes[len(kept):])
	c.flushes = kept
}
