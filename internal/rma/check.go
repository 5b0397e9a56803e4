package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
)

// # Checking mode
//
// With HALO_CHECK=1 every access of a window whose members all check is compared with
// those that it may meet, before it is made, whatever way it is going to take. What is
// reported is wrong by the rules of MPI-5, 12.7, in every run; what only a guess about
// time could tell is not.
//
// The target of accesses keeps a log of those that are not known to be complete (claim).
// An origin asks it by a frame (WinCheck), and waits: if the access conflicts with one in
// the log the call fails and nothing is accessed, else it is in the log from then on.
// Two accesses in the log are concurrent
//
//   - of Fence, if as many fences have ended before them: none is complete before the next;
//   - of Start, always: the log loses them, gets too, when the target's Wait has returned,
//     which is what completes them there, and an access that is issued before the target has
//     posted is checked by Complete;
//   - of Lock and LockAll, as long as they are there: an origin has its own removed before
//     the call returns that completes them, and before it gives a lock back. So neither
//     locks nor messages need to be followed.
//
// Accesses of different kinds of epochs are not compared. A get with a request is over when
// the program has waited for that, which only its origin knows, and is asked.
//
// The origin keeps the memory of its own operations until they are complete there
// (Pending): what is sent must be the same then, and what is fetched into is not to be used by
// another operation, nor by the program, which gets it no sooner (result).
//
// Loads and stores are seen where the program says so (View.Access). They are compared with
// the log, and are in it while they last, not longer: a message may order them before
// what comes next. So are operations that notify their target, which may know at once that they
// are complete, and say so to others.
//
// Stores that the program does not tell of are found by their effect, where they are: see kept.
//
// All of it is guarded by the engine's lock. Questions are asked one at a time in each
// process (engineCheck), and answered by the service at once.

// Deed is what an access does, as far as conflicts are concerned.
type Deed uint8

// The deeds. Load and Store are the program's own.
const (
	DeedPut Deed = iota
	DeedGet
	DeedAccumulate
	DeedLoad
	DeedStore
)

// Call is a call of the program: its name, and where in the source it is. A binding of another
// language knows an address only, PC, which becomes text when a report is written (where).
type Call struct {
	Name, Site string
	PC         uintptr // of a program in another language: where the call returns to; 0: Site is known
}

// deed is what an operation does.
func (o *Op) deed() Deed {
	switch o.Kind {
	case Put:
		return DeedPut
	case Get:
		return DeedGet
	}
	return DeedAccumulate
}

// check is what checking mode keeps of a window. It is under the engine's lock.
type check struct {
	made  Call // that has created the window
	blind bool // a member has died: who knows what has been completed

	fences uint64 // that have ended
	gen    uint64 // of own operations: those that a call completes, and those that come after it
	turn   uint64 // of own operations: what View.Order has kept apart; from 1 on
	opened map[opening]Call
	// signals are targets that are told by synchronisation objects when operations are
	// complete. Those operations are not checked: nobody else knows what has been completed.
	signals map[*target]bool

	checkLog
	checkOrigin
}

// opening names an epoch that is open.
type opening struct {
	call string // the one that ends it
	rank int    // or AllTargets
}

// Check makes this process check one-sided communication with those processes of the job
// that check, too. It is called before anything is sent.
func (e *Engine) Check(checkers []bool) { e.checkers = checkers }

// checks returns what is kept of a window with these members, nil unless all check.
func (e *Engine) checks(members []int32) *check {
	if e.checkers == nil {
		return nil
	}
	for _, m := range members {
		if !e.checkers[m] {
			return nil
		}
	}
	return &check{turn: 1, opened: make(map[opening]Call), signals: make(map[*target]bool), checkLog: newCheckLog(), checkOrigin: newCheckOrigin()}
}

// Checks reports whether accesses by this view are checked: not those by a memory handle.
func (v *View) Checks() bool { return v.w.check != nil && v.handle == nil }

// ChecksSync reports whether synchronisation by this view is followed: that by a memory handle
// is, as far as it completes operations of the window, which none of thread scope does.
func (v *View) ChecksSync() bool {
	return v.w.check != nil && (v.handle == nil || !v.Options().Thread)
}

// covered is a rank, or AllTargets, whose operations a call for that rank completes.
func (v *View) covered(rank int) int {
	if rank == AllTargets && v.handle != nil {
		return v.handle.rank
	}
	return rank
}

// Made notes the call that has made the window.
func (v *View) Made(call Call) {
	v.w.e.p.Lock()
	v.w.check.made = call
	v.w.e.p.Unlock()
}

// standing is the kind of epoch that an access belongs to.
type standing uint8

const (
	standsNowhere standing = iota
	standsFence
	standsStart
	standsLock
)

// standing says what epoch an access of t would belong to, as far as that is legal.
func (w *Window) standing(t *target) standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.epoch == epochFence:
		return standsFence
	case w.epoch == epochStart && t.rec.Gate.Load() != gateClosed:
		return standsStart
	case w.epoch == epochLockAll || w.epoch == epochLock && t.held == heldLocked:
		return standsLock
	}
	return standsNowhere
}

// DoChecked is Do in checking mode. It compares the operation with those of others first, and makes
// it only if they do not conflict. An operation that is Remote is not compared: the program may tell
// others that its request is complete, and the checker does not see that.
func (v *View) DoChecked(call Call, o *Op, rank int) (*p2p.Request, error) {
	if o.Done == Remote {
		return v.Do(o, rank)
	}
	p, err := v.check(call, o, rank)
	if err != nil {
		return nil, err
	}
	o.Result = v.aside(p, o.Result)
	r, err := v.Do(o, rank)
	v.issued(p, r, err)
	return r, err
}

// check compares what a call is about to do with what others do. It returns what is to be
// handed to issued, nil if the call is one that will do nothing or fail. It takes the lock,
// and waits for the target.
func (v *View) check(call Call, x *Op, rank int) (*Pending, error) {
	w, c := v.w, v.w.check
	size, deed, notifies := x.size(), x.deed(), x.Notify != 0
	if rank == ProcNull || size == 0 || x.Disp < 0 && w.flavor != Dynamic {
		return nil, nil
	}
	if deed == DeedAccumulate && (x.Elem.Size() == 0 || size%int64(x.Elem.Size()) != 0) {
		return nil, nil
	}
	t, err := w.target(rank)
	if err != nil {
		return nil, nil
	}
	how := w.standing(t)
	lo, hi, err := x.Place.span(size)
	if how == standsNowhere || x.Done != None && how != standsLock || err != nil || w.live() != nil {
		return nil, nil
	}
	off, err := t.offset(x.Disp, lo, hi)
	if err != nil {
		return nil, fail(class.RMARange, "%v: %s, the window was made at %s", err, w.e.called(&call, " is at "), w.e.where(&c.made))
	}
	if notifies {
		w.hides(t)
	}
	if notifies && v.inOrder() {
		v.Released(rank) // who is notified of this one knows of those before it
	}
	e := w.e
	e.p.Lock()
	if c.blind || c.signals[t] {
		e.p.Unlock()
		return nil, nil
	}
	turn := c.turn
	if v.inOrder() {
		turn = 0 // of its own
	}
	p := &Pending{t: t, claim: claim{
		call: call, origin: int32(w.Comm.Rank), deed: deed, how: how, gen: c.gen, turn: turn, request: x.Done != None && deed == DeedGet,
	}}
	if deed == DeedAccumulate {
		p.claim.op, p.claim.typ, p.claim.alike = x.Fn.Bare(), x.Elem, v.Options().SameOp
	}
	if how == standsFence {
		p.claim.epoch = c.fences
		if _, ok := c.opened[opening{"Fence", AllTargets}]; !ok {
			c.opened[opening{"Fence", AllTargets}] = call
		}
	}
	p.spans = x.Place.spans(off, size)
	p.hold(x)
	if err := c.clash(p); err != nil {
		e.p.Unlock()
		return nil, err
	}
	c.keep(p)
	known := c.knows(p)
	p.watched = !known && !notifies && c.watches(w, p)
	early := how == standsStart && t.rec.Gate.Load()&gateOpen == 0 && !w.exposed(t)
	switch {
	case !early:
		c.touched[t] = c.gen
	case !notifies && len(c.early) < pendingMax: // what notifies is over before it could be asked about
		c.early = append(c.early, p)
	}
	e.p.Unlock()
	if early || known {
		p.watched = false
		return p, nil
	}
	question := verbAccess
	switch {
	case notifies:
		question = verbLook
	case p.watched && deed == DeedGet:
		question = verbWatch
	}
	err = w.asks(question, p)
	e.p.Lock()
	defer e.p.Unlock()
	if err != nil {
		c.lose(p)
		return nil, err
	}
	c.touched[t] = max(c.touched[t], p.claim.gen) // a flush may have come in between
	if !notifies {
		c.learns(p)
	}
	return p, nil
}

// issued tells what has become of a call that check has let through.
func (v *View) issued(p *Pending, r *p2p.Request, err error) {
	if p == nil {
		return
	}
	w, c := v.w, v.w.check
	w.e.p.Lock()
	if err != nil {
		if p.result != nil {
			c.handOver(p) // what was there before
		}
		c.lose(p)
		c.unlearns(p.t, p.claim.gen)
	} else if r != nil && p.kept {
		p.request, p.made = r, r.Gen
		c.requests[r] = p
	}
	if p.result != nil {
		w.arrives(p)
	}
	w.e.p.Unlock()
	switch {
	case err != nil:
		w.forget(p.t, p.claim, p.spans)
	case p.watched && p.claim.deed == DeedPut:
		w.leaves(p)
	}
}

// span is bytes lo to hi-1: of a target's memory, by address in dynamic windows; or of the
// own memory by address.
type span struct{ lo, hi uint64 }

// spans are the bytes of size bytes at this place, with displacement 0 at off.
func (l *Place) spans(off uint64, size int64) []span {
	if l.Type == nil {
		return []span{{off, off + uint64(size)}}
	}
	b, err := dtype.At(nil, l.Type, l.Count)
	if err != nil {
		return nil
	}
	var list []span
	eachRun(&b, 0, size, func(r dtype.Run) error {
		lo := off + uint64(r.Off)
		list = appendSpan(list, span{lo, lo + uint64(r.Len)})
		return nil
	})
	return list
}

// appendSpan appends s, or makes the last one longer.
func appendSpan(list []span, s span) []span {
	if n := len(list); n > 0 && list[n-1].hi == s.lo {
		list[n-1].hi = s.hi
		return list
	}
	return append(list, s)
}

// overlap is what a and b have in common, nothing if lo is not below hi.
func (a span) overlap(b span) span { return span{max(a.lo, b.lo), min(a.hi, b.hi)} }

func (a span) empty() bool { return a.lo >= a.hi }
