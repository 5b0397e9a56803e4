package rma

import (
	"bytes"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
)

// result is what an operation fetches in checking mode. It arrives in memory of its own, and the
// program gets it at the beginning of the call that completes the operation. Until then
// the program's memory is full of unfetched, so that a program which reads it too early finds
// nonsense in every run, and over every fabric; and a byte that is something else has been stored
// by the program.
//
//   - It has arrived before that call begins: issued waits for it. So the program has it before
//     the call says anything to others, who may write to the same memory then, if that is
//     part of a window. Only an epoch of Start cannot wait, because its target may not have posted:
//     there the program gets it when Complete has returned, of which nobody else knows anything.
//   - Whoever takes the operation out of checkOrigin.pending hands it over, for whatever reason, so
//     that it cannot be forgotten: requests, flushes of other goroutines, and calls that are not
//     followed (View.Released) need nothing of their own.
//   - Where nothing arrives, because the target has died, the program's memory is as it was.
//
// Rejected: to hand it over after the call. Who leaves a fence first may put to where the own
// process has fetched to, which would be overwritten.
type result struct {
	into   mem.Mem // of the program
	data   []byte  // packed; before it arrives, what was in the program's memory
	handed bool    // the call has been made: the program's memory is full of unfetched
}

// unfetched is each byte of memory that a result is to arrive in: no number that programs compute
// with, in any type.
const unfetched = 0xdb

// asideMax bounds what results of operations that are under way have in a window, in bytes; what
// goes beyond is fetched into the program's memory.
const asideMax = 256 << 20

// aside returns where an operation that check has let through is to put what it fetches. It takes
// the lock.
func (v *View) aside(p *Pending, into mem.Mem) mem.Mem {
	if p == nil || len(p.writes) == 0 {
		return into
	}
	e, c, n := v.w.e, v.w.check, int64(into.Len())
	e.p.Lock()
	defer e.p.Unlock()
	if !p.kept || n > asideMax-c.aside {
		return into
	}
	if _, found := common(p.reads, p.writes); found && p.claim.how == standsStart {
		return into // what it sends may be read after this
	}
	x := &result{into: into, data: make([]byte, n)}
	into.Pack(x.data, 0)
	p.result = x
	c.aside += n
	return mem.Of(x.data)
}

// arrives follows the call of an operation that has a result aside. The lock is held; others may
// hold it in between.
func (w *Window) arrives(p *Pending) {
	if p.claim.how != standsStart {
		w.e.awaitIssued(p.t, &p.claim.call, true)
	}
	x := p.result
	if !p.kept { // another goroutine has completed it meanwhile
		w.check.handOver(p)
		return
	}
	var scratch [accumulatePiece]byte
	fill := scratch[:]
	for i := range fill {
		fill[i] = unfetched
	}
	for at, size := 0, x.into.Len(); at < size; at += accumulatePiece {
		x.into.Unpack(fill[:min(accumulatePiece, size-at)], at)
	}
	x.handed = true
}

// awaitIssued waits until what was issued to t is complete, here if local, else there. Errors stay
// for the call that completes it. The lock is held; others may hold it in between.
func (e *Engine) awaitIssued(t *target, call *Call, local bool) {
	type moment struct {
		c *channel
		mark
	}
	var all []moment // not channel.mark, which a flush of another goroutine may be using
	for c := range t.channels {
		all = append(all, moment{c, e.farMark(c, local)})
	}
	x := t.w.waiter(call.Name, t)
	defer e.rest(x)
	for _, m := range all {
		e.farReach(m.c, m.mark, local, x)
	}
}

// stored reports whether the program has stored into memory that belongs to a result.
func (x *result) stored() bool {
	var scratch [accumulatePiece]byte
	for at, size := 0, x.into.Len(); at < size; at += accumulatePiece {
		b := scratch[:min(accumulatePiece, size-at)]
		x.into.Pack(b, at)
		if bytes.Count(b, []byte{unfetched}) != len(b) {
			return true
		}
	}
	return false
}

// handOver gives the program what p has fetched.
func (c *checkOrigin) handOver(p *Pending) {
	x := p.result
	x.into.Unpack(x.data, 0)
	c.aside -= int64(len(x.data))
	p.result = nil
}

// take gives the program what p has fetched, if there is a result aside that has arrived, and
// returns an error if the program has used its memory before end.
func (c *checkOrigin) take(p *Pending, end Call) (err error) {
	if p.result == nil || !p.result.handed {
		return nil
	}
	if p.result.stored() {
		e := p.t.w.e
		err = fail(class.RMAConflict, "the %d bytes here that %s fetches from %s into have been stored to before %s: until then they belong to the operation",
			len(p.result.data), e.called(&p.claim.call, " at "), p.where(), e.called(&end, " at "))
	}
	c.handOver(p)
	return err
}
