package rma

import (
	"github.com/halo-mpi/halo/internal/class"
)

// kept is what memory of the own window held after an access of an epoch, which nothing may change
// before the epoch ends: what has changed then was stored by the program, which nobody sees, or by
// another one that shares the memory. It is kept
//
//   - of a get when it is logged (verbWatch),
//   - of a put when it is complete here (verbLeft): its origin waits for that, since only then
//     another value there is none of its own,
//
// and never in place of something that may yet be under way: not where the log has an update of
// the same bytes by another access, not of views in order, whose accesses meet legally, not of
// accesses that had to wait for the own Post, and not in windows that are accessed without a question
// (verbUnseen). An update that is logged later ends it. In epochs of locks it is not known when
// the owner may store. What the program has stored before is not seen: that was overwritten, or read.
//
// It is compared when Wait has returned, or between two barriers in a Fence: after the first
// everything is complete, and before the second nobody goes on.
type kept struct {
	claim claim
	at    span
	was   []byte
}

// keeping is what a target has kept.
type keeping struct {
	list []kept
	size int  // bytes
	off  bool // accesses may have been missed: nothing is kept any more
}

const (
	// keptMax and keptSize bound what is kept of a window, in accesses and in bytes: each question
	// goes through the list.
	keptMax, keptSize = 4096, 16 << 20
	// watchedMax bounds for how many puts of an epoch an origin takes the longer way.
	watchedMax = 1024
)

// watches reports whether the target of p is to keep what p leaves. The lock is held.
func (c *check) watches(w *Window, p *Pending) bool {
	switch {
	case p.claim.deed > DeedGet || p.claim.how == standsLock || p.claim.turn == 0 || w.flavor == Dynamic || len(c.early) > 0:
		return false
	case p.claim.deed == DeedGet:
		return true
	}
	c.watched++
	return c.watched <= watchedMax
}

// leaves has the target of a put of this process, which has been issued, keep what it has left there.
// No lock is held.
func (w *Window) leaves(p *Pending) {
	w.e.p.Lock()
	w.e.awaitIssued(p.t, &p.claim.call, false)
	w.e.p.Unlock()
	w.asks(verbLeft, p)
}

// keep keeps what an access leaves. The lock is held.
func (w *Window) keep(c *claim, list []span) {
	k := &w.check.kept
	if k.off || w.dynamic != nil || c.how == standsLock {
		return
	}
	for _, x := range list {
		n := int(x.hi - x.lo)
		r, at, err := w.place(x.lo, int64(n))
		if err != nil || len(k.list) >= keptMax || n > keptSize-k.size || w.check.updates(c, x) {
			continue
		}
		k.list = append(k.list, kept{*c, x, append([]byte(nil), r.Mem[at:at+int64(n)]...)})
		k.size += n
	}
}

// updates reports whether the log has an access to bytes of x that may change them, but for c itself.
func (l *checkLog) updates(c *claim, x span) bool {
	for o, s := range l.claims {
		if _, found := s.first(x); found && o != *c && o.deed != DeedGet {
			return true
		}
	}
	return false
}

// drop forgets what which says.
func (k *keeping) drop(which func(x *kept) bool) {
	n := 0
	for i := range k.list {
		x := &k.list[i]
		switch {
		case which(x):
			k.size -= len(x.was)
		case n < i:
			k.list[n] = *x
			n++
		default:
			n++
		}
	}
	clear(k.list[n:])
	k.list = k.list[:n]
}

// updated forgets what an access is about to change legally, or with a report of its own.
func (k *keeping) updated(c *claim, list []span) {
	if c.deed != DeedGet {
		k.drop(func(x *kept) bool { return x.within(list) })
	}
}

// within reports whether x has bytes of a list.
func (x *kept) within(list []span) bool {
	for _, y := range list {
		if !x.at.overlap(y).empty() {
			return true
		}
	}
	return false
}

// turnOff ends the keeping in this window.
func (k *keeping) turnOff() { *k = keeping{off: true} }

// stored returns an error if what was kept of epochs of one kind has changed, and forgets it. end is
// the call that has ended the epoch; of fences only the last one is looked at, since another goroutine
// of an origin may be late. No lock is held.
func (w *Window) stored(how standing, end Call) error {
	e, c := w.e, w.check
	var found *kept
	e.p.Lock()
	for i := range c.kept.list {
		x := &c.kept.list[i]
		r, at, err := w.place(x.at.lo, int64(len(x.was)))
		if x.claim.how != how || how == standsFence && x.claim.epoch != c.fences || c.blind || err != nil {
			continue
		}
		if lo, hi := differ(x.was, r.Mem[at:at+int64(len(x.was))]); lo < hi {
			found = &kept{claim: x.claim, at: span{x.at.lo + uint64(lo), x.at.lo + uint64(hi)}}
			break
		}
	}
	c.kept.drop(func(x *kept) bool { return x.claim.how == how })
	e.p.Unlock()
	t, err := w.target(w.Comm.Rank)
	if found == nil || err != nil {
		return nil
	}
	w.locate(&found.claim)
	epoch := "between the same two fences"
	if how == standsStart {
		epoch = "in the same epoch of Post"
	}
	return fail(class.RMAConflict, "%s have changed since %s, before %s: a store here, %s, conflicts with it",
		t.bytes(found.at), found.claim.says(), e.called(&end, " at "), epoch)
}

// differ is from which byte on, up to which, a and b of equal length differ.
func differ(a, b []byte) (lo, hi int) {
	for lo < len(a) && a[lo] == b[lo] {
		lo++
	}
	for hi = len(a); hi > lo && a[hi-1] == b[hi-1]; {
		hi--
	}
	return lo, hi
}

// hides tells the target of an access that is about to be made, and that it will not be asked about,
// or not be told the end of. No lock is held.
func (w *Window) hides(t *target) {
	e, c := w.e, w.check
	e.p.Lock()
	known := c.hidden[t]
	c.hidden[t] = true
	e.p.Unlock()
	if !known {
		own := claim{origin: int32(w.Comm.Rank)}
		e.inquire(t.process, w, own.encode([]byte{byte(verbUnseen)}))
	}
}
