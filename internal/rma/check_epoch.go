package rma

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/class"
)

// AllTargets stands for the rank of a target in calls that have none, or are for all.
const AllTargets = -1

// Ending is a synchronisation call in checking mode, from before it is made until after.
type Ending struct {
	w     *Window
	call  Call
	rank  int // of the target, or AllTargets
	how   standing
	local bool // operations complete here only
	gen   uint64
	found error // what is wrong, of which the call itself knows nothing
}

// End begins to end operations: those of Fence, Complete, Unlock, UnlockAll, Flush and the
// like, as the call's name says; rank is AllTargets for those that have none. The call itself
// comes then, and Ended. No lock is held.
func (v *View) End(call Call, rank int) *Ending {
	w, c := v.w, v.w.check
	x := &Ending{w: w, call: call, rank: v.covered(rank), how: standsLock}
	switch call.Name {
	case "Fence":
		x.how = standsFence
	case "Complete":
		x.how = standsStart
	case "FlushLocal", "FlushLocalAll":
		x.local = true
	}
	w.e.p.Lock()
	for p := range c.pending {
		if x.ends(p) {
			x.found = firstOf(x.found, c.changed(p, call))
			if x.how != standsStart {
				x.found = firstOf(x.found, c.take(p, call))
			}
		}
	}
	x.gen = c.gen
	c.gen++
	early := c.early
	if x.how == standsStart {
		c.early = nil
	}
	w.e.p.Unlock()
	switch {
	case x.how == standsStart:
		for _, p := range early {
			x.checkEarly(p)
		}
	case call.Name == "Unlock" || call.Name == "UnlockAll":
		x.tell(DeedPut) // before others can have the lock
	}
	return x
}

// checkEarly checks what was issued before its target had posted. Complete waits for that
// post, too.
func (x *Ending) checkEarly(p *Pending) {
	w := x.w
	if w.await(w.posts(p.t), p.t.starts, x.call.Name, p.t) != nil {
		return
	}
	w.e.p.Lock()
	w.check.touched[p.t] = p.claim.gen
	w.e.p.Unlock()
	x.found = firstOf(x.found, w.asks(verbAccess, p))
}

// ends reports whether p is among the operations.
func (x *Ending) ends(p *Pending) bool {
	return p.claim.how == x.how && (x.rank == AllTargets || x.rank == p.t.rank)
}

// tell has the targets take out of their logs the operations that are over: with DeedGet
// the gets, else all.
func (x *Ending) tell(deed Deed) {
	w, c := x.w, x.w.check
	var over []*target
	w.e.p.Lock()
	for t := range c.touched {
		if x.rank == AllTargets || x.rank == t.rank {
			over = append(over, t)
			c.unlearns(t, x.gen)
		}
	}
	w.e.p.Unlock()
	for _, t := range over {
		w.tellOver(t, x.how, x.gen, deed)
	}
	if deed == DeedGet {
		return
	}
	w.e.p.Lock()
	for _, t := range over { // only now: another goroutine's flush must not pass this one
		if gen, ok := c.touched[t]; ok && gen <= x.gen {
			delete(c.touched, t)
		}
	}
	w.e.p.Unlock()
}

// Ended follows the call, which has returned err, and returns what the program is to be
// told.
func (x *Ending) Ended(err error) error {
	w, c := x.w, x.w.check
	switch classOf(err) {
	case class.RMASync, class.Assert, class.Win, class.Rank:
		return err // nothing has ended
	}
	if x.how == standsFence {
		x.found = firstOf(x.found, w.stored(standsFence, x.call))
		w.e.colls.Barrier(w.Comm) // an error is one of the Fence that comes next
	}
	w.e.p.Lock()
	for p := range c.pending {
		if x.ends(p) && p.claim.gen <= x.gen {
			x.found = firstOf(x.found, c.take(p, x.call))
			c.lose(p)
		}
	}
	delete(c.opened, opening{x.call.Name, x.rank})
	if x.how != standsLock {
		c.watched = 0
	}
	if x.how == standsStart { // the log loses them when the target's Wait returns
		for t := range c.touched {
			c.unlearns(t, x.gen)
		}
	}
	if x.how == standsFence {
		c.fences++
		c.fenced(c.fences)
		clear(c.told)
		for t, gen := range c.touched {
			if gen <= x.gen {
				delete(c.touched, t)
			}
		}
	}
	blind := c.blind
	w.e.p.Unlock()
	switch {
	case blind || w.live() != nil:
	case x.local:
		x.tell(DeedGet)
	case x.how == standsLock:
		x.tell(DeedPut)
	}
	return firstOf(err, x.found)
}

// Exposed says that a call, Wait or Test, has ended an exposure epoch of this process: what was
// done in it is complete. It returns what the program is to be told. No lock is held.
func (v *View) Exposed(call Call) error {
	found := v.w.stored(standsStart, call)
	v.w.e.p.Lock()
	c := v.w.check
	delete(c.opened, opening{"Wait", AllTargets})
	c.drop(func(c *claim) bool { return c.how == standsStart })
	v.w.e.p.Unlock()
	return found
}

// Opened notes that a call has begun an epoch, which a call with that name ends. rank is
// AllTargets if the epoch has none.
func (v *View) Opened(call Call, end string, rank int) {
	v.w.e.p.Lock()
	v.w.check.opened[opening{end, rank}] = call
	v.w.e.p.Unlock()
}

// Apart keeps the operations of this process before the call apart from those after it, of
// which they are complete at their targets first.
func (v *View) Apart() {
	v.w.e.p.Lock()
	v.w.check.turn++
	v.w.e.p.Unlock()
}

// Released says that operations on a target, or AllTargets, are about to be completed by a
// call that End is not for: nothing is said of them any more. No lock is held.
func (v *View) Released(rank int) {
	w, c := v.w, v.w.check
	x := &Ending{w: w, rank: v.covered(rank), how: standsLock}
	if !v.handle.reaches(x.rank) {
		return // the call is going to fail
	}
	w.e.p.Lock()
	x.gen = c.gen
	c.gen++
	for p := range c.pending {
		if x.ends(p) {
			c.lose(p)
		}
	}
	w.e.p.Unlock()
	x.tell(DeedPut)
}

// Signals says that a target is told of operations by synchronisation objects from now on.
// It takes the lock.
func (v *View) Signals(rank int) {
	t, err := v.w.target(rank)
	if err != nil {
		return // ProcNull
	}
	v.w.e.p.Lock()
	v.w.check.signals[t] = true
	v.w.e.p.Unlock()
	v.w.hides(t)
	v.Released(rank)
}

// renew forgets everything: ranks are about to be others. No epoch is open. The lock is
// held.
func (c *check) renew() {
	if c == nil {
		return
	}
	c.opened, c.fences = make(map[opening]Call), 0
	for p := range c.pending {
		c.lose(p)
	}
	places, off := c.places, c.kept.off
	c.checkLog, c.checkOrigin = newCheckLog(), newCheckOrigin()
	c.places, c.kept.off = places, off
}

// Open returns an error that names what epochs are open, and where they began; nil if none
// is. err is what Idle has found.
func (v *View) Open(err error) error {
	c := v.w.check
	if classOf(err) != class.RMASync {
		return err
	}
	v.w.e.p.Lock()
	defer v.w.e.p.Unlock()
	return fail(class.RMASync, "%v%s", err, c.begun(v.w.e))
}

// begun is where open epochs were begun.
func (c *check) begun(e *Engine) string {
	keys := make([]opening, 0, len(c.opened))
	for k := range c.opened {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b opening) int {
		return cmp.Or(strings.Compare(a.call, b.call), cmp.Compare(a.rank, b.rank))
	})
	text := ""
	for _, k := range keys {
		call, how := c.opened[k], " at "
		if k.rank >= 0 {
			how = " of rank " + strconv.Itoa(k.rank) + how
		}
		text += ", " + e.called(&call, how)
	}
	return text
}

// OpenEpochs returns an error in checking mode if epochs of windows are open.
func (e *Engine) OpenEpochs() error {
	if e.checkers == nil {
		return nil
	}
	var list []*Window
	e.p.Lock()
	for _, w := range e.windows {
		if w.check != nil {
			list = append(list, w)
		}
	}
	e.p.Unlock()
	slices.SortFunc(list, func(a, b *Window) int { return cmp.Compare(a.id, b.id) })
	for _, w := range list {
		if err := w.idle(); err != nil {
			e.p.Lock()
			err = fail(class.RMASync, "window%s made at %s: %v%s", strings.TrimPrefix(string(w.AppendOn(nil)), " on"), e.where(&w.check.made), err, w.check.begun(e))
			e.p.Unlock()
			return err
		}
	}
	return nil
}
