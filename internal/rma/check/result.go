package check

import (
	"bytes"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
)

// result is what an operation fetches in checking mode. It arrives in memory of its own (it is
// redirected), and the program gets it at the beginning of the call that completes the operation.
// Until then the program's memory is filled with unfetched, so that a program which reads it too early
// finds nonsense in every run and over every fabric; and a byte that has another value was stored by
// the program.
//
//   - The result has arrived before that call begins: Issued waits for it. So the program has it
//     before the call says anything to others, who may write to the same memory then, if that is
//     part of a window. Only an epoch of Start cannot wait, because its target may not have posted:
//     there the program gets it when Complete has returned, which tells nobody else.
//   - Whatever removes the operation from origin.pending delivers the result, so that it cannot be
//     forgotten: requests, flushes of other goroutines, and calls that are not followed
//     (Window.Release) need nothing of their own.
//   - Where nothing arrives, because the target has died, the program's memory keeps its values.
//
// Rejected: to deliver it after the call. A member that leaves a fence first may put to the memory
// into which this process has fetched, which would be overwritten.
type result struct {
	into  mem.Mem // of the program
	data  []byte  // packed; before it arrives, what was in the program's memory
	armed bool    // the operation has been issued: the program's memory is filled with unfetched
}

// unfetched is each byte of memory that a result is to arrive in: no number that programs compute
// with, in any type.
const unfetched = 0xdb

// redirectedMax bounds the redirected results of a window in bytes; what goes beyond is fetched into
// the program's memory.
const redirectedMax = 256 << 20

// Redirect returns the memory that an operation is to fetch into instead of into. It takes the lock.
func (p *Pending) Redirect(into mem.Mem) mem.Mem {
	if p == nil || len(p.writes) == 0 {
		return into
	}
	w, n := p.w, int64(into.Len())
	w.lock.Lock()
	defer w.lock.Unlock()
	if !p.kept || n > redirectedMax-w.redirected {
		return into
	}
	if _, found := common(p.reads, p.writes); found && p.entry.epoch == Start {
		return into // what it sends may be read after this
	}
	x := &result{into: into, data: make([]byte, n)}
	into.Pack(x.data, 0)
	p.result = x
	w.redirected += n
	return mem.Of(x.data)
}

// arm follows the issue of an operation whose result is redirected. The lock is held; others may
// hold it in between.
func (w *Window) arm(p *Pending) {
	if p.entry.epoch != Start {
		w.host.AwaitIssued(p.target, p.entry.call.Name, true)
	}
	x := p.result
	if !p.kept { // another goroutine has completed it meanwhile
		w.deliver(p)
		return
	}
	var scratch [packPiece]byte
	fill := scratch[:]
	for i := range fill {
		fill[i] = unfetched
	}
	for at, size := 0, x.into.Len(); at < size; at += packPiece {
		x.into.Unpack(fill[:min(packPiece, size-at)], at)
	}
	x.armed = true
}

// stored reports whether the program has stored into memory that belongs to a result.
func (x *result) stored() bool {
	var scratch [packPiece]byte
	for at, size := 0, x.into.Len(); at < size; at += packPiece {
		b := scratch[:min(packPiece, size-at)]
		x.into.Pack(b, at)
		if bytes.Count(b, []byte{unfetched}) != len(b) {
			return true
		}
	}
	return false
}

// deliver gives the program what p has fetched.
func (c *origin) deliver(p *Pending) {
	x := p.result
	x.into.Unpack(x.data, 0)
	c.redirected -= int64(len(x.data))
	p.result = nil
}

// deliverChecked gives the program what p has fetched, if its result is redirected and has arrived.
// It returns an error if the program has used its memory before end.
func (c *origin) deliverChecked(p *Pending, end Call) (err error) {
	if p.result == nil || !p.result.armed {
		return nil
	}
	if p.result.stored() {
		w := p.w
		err = fail(class.RMAConflict, "the %d bytes here that %s fetches from %s into have been stored to before %s: until then they belong to the operation",
			len(p.result.data), w.called(&p.entry.call, " at "), p.where(), w.called(&end, " at "))
	}
	c.deliver(p)
	return err
}
