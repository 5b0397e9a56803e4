package rma

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
)

// Access calls fn with n bytes of the own memory, from byte off on, or in a dynamic window
// from an address on: to load, or with store to store, too. In checking mode they are
// compared with the operations of others, those that come while fn is at work among them. It
// takes the lock, but not while fn is at work.
func (v *View) Access(call Call, store bool, off uint64, n int64, fn func(mem []byte)) error {
	w := v.w
	if err := w.live(); err != nil {
		return err
	}
	e, c := w.e, w.check
	e.p.Lock()
	r, at, err := w.place(off, n)
	e.p.Unlock()
	switch {
	case err != nil:
		return fail(class.RMARange, "%v", err)
	case n == 0:
		fn(nil)
		return nil
	}
	mem := r.Mem[at : at+n : at+n]
	if c == nil {
		fn(mem)
		return nil
	}
	t, err := w.target(w.Comm.Rank)
	if err != nil {
		return err
	}
	a := &localAccess{claim{call: call, origin: int32(w.Comm.Rank), deed: DeedLoad}, span{off, off + uint64(n)}}
	if store {
		a.deed = DeedStore
	}
	if err := w.begin(t, a); err != nil {
		return err
	}
	defer w.finished(a)
	fn(mem)
	return nil
}

// begin logs a, unless it conflicts with what is in the log.
func (w *Window) begin(t *target, a *localAccess) error {
	e, c := w.e, w.check
	for range doubtsMax {
		e.p.Lock()
		a.epoch = c.fences
		other, where, found := c.meets(&a.claim, []span{a.span})
		if !found || c.blind {
			c.loads = append(c.loads, a)
			e.p.Unlock()
			return nil
		}
		e.p.Unlock()
		if at, stands := w.stands(t, &other, where, []span{a.span}); stands {
			return t.conflict(&a.claim, &other, at)
		}
	}
	return nil
}

// finished takes a out of the log.
func (w *Window) finished(a *localAccess) {
	w.e.p.Lock()
	defer w.e.p.Unlock()
	c := w.check
	for i, o := range c.loads {
		if o == a {
			last := len(c.loads) - 1
			c.loads[i], c.loads[last] = c.loads[last], nil
			c.loads = c.loads[:last]
			return
		}
	}
}

// Attached notes memory of a dynamic window that the program attaches, and Detached that
// it detaches.
func (v *View) Attached(call Call, addr uint64, n int) {
	w := v.w
	w.e.p.Lock()
	defer w.e.p.Unlock()
	c := w.check
	if len(c.places) == placesMax {
		c.places = c.places[1:]
	}
	c.places = append(c.places, place{span: span{addr, addr + uint64(n)}, attach: call})
}

// Detached is the opposite of Attached.
func (v *View) Detached(call Call, addr uint64) {
	w := v.w
	w.e.p.Lock()
	defer w.e.p.Unlock()
	for i := range w.check.places {
		if p := &w.check.places[i]; p.lo == addr && p.detach.Name == "" {
			p.detach = call
		}
	}
}

// outside returns the first of a list that is not attached, and memory near it that is, or
// was. Of other windows it knows nothing: origins do. The lock is held.
func (w *Window) outside(list []span) (where span, near string, out bool) {
	if w.dynamic == nil {
		return span{}, "", false
	}
	for _, x := range list {
		if _, _, err := w.place(x.lo, int64(x.hi-x.lo)); err == nil {
			continue
		}
		return x, w.check.near(w.e, x), true
	}
	return span{}, "", false
}

// near is memory beside or below x in words, empty if there is none.
func (l *checkLog) near(e *Engine, x span) string {
	var best *place
	far := ^uint64(0)
	for i := range l.places {
		p := &l.places[i]
		d := uint64(0)
		switch {
		case x.lo > p.hi:
			d = x.lo - p.hi
		case p.lo > x.hi:
			d = p.lo - x.hi
		}
		if d <= far { // of two the later one
			best, far = p, d
		}
	}
	if best == nil || far > nearby {
		return ""
	}
	text := fmt.Sprintf("%#x to %#x were attached by %s", best.lo, best.hi-1, e.called(&best.attach, " at "))
	if best.detach.Name != "" {
		text += fmt.Sprintf(" and detached by %s", e.called(&best.detach, " at "))
	}
	return text[:min(len(text), 2*siteMax)]
}

// nearby is how far away memory is that may have been meant, in bytes.
const nearby = 1 << 16
