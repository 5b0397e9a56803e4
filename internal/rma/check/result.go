package check

import (
	"bytes"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
)

// result is the data that an operation fetches in checking mode. The data arrive in separate memory
// (the result is redirected), and the checker delivers them to the program at the beginning of the
// call that completes the operation. Until then the program's memory is filled with unfetched. So a
// program that reads it too early gets wrong values in every run and over every fabric, and a byte
// with another value shows a store of the program.
//
//   - The result has arrived before that call begins, because Issued waits for it. So the program has
//     it before the call synchronises with others, which may then write to the same memory if it is
//     part of a window. Only an epoch of Start cannot wait, because its target may not have posted:
//     there the result is delivered when Complete has returned, which synchronises with nobody else.
//   - The removal of an operation from origin.pending always delivers its result: requests, flushes
//     of other goroutines, and calls without End (Window.Release) need no code of their own.
//   - If nothing arrives, because the target has died, the program's memory gets its old values.
//
// Rejected: delivery after the call. A member that leaves a fence first may put to the memory into
// which this process has fetched, and the delivery would overwrite the put.
type result struct {
	into  mem.Mem // of the program
	data  []byte  // packed; before the result arrives, the old content of the program's memory
	armed bool    // the operation has been issued: the program's memory is filled with unfetched
}

// unfetched is the value of each byte of memory for a result that is not delivered yet: numbers of
// such bytes are implausible in every type.
const unfetched = 0xdb

// redirectedMax bounds the redirected results of a window in bytes; further results arrive directly
// in the program's memory.
const redirectedMax = 256 << 20

// Redirect returns the memory into which the operation must fetch instead of into. It takes the lock.
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
		return into // the memory that it sends may be read later
	}
	x := &result{into: into, data: make([]byte, n)}
	into.Pack(x.data, 0)
	p.result = x
	w.redirected += n
	return mem.Of(x.data)
}

// arm is called after the issue of an operation whose result is redirected. The lock is held; others
// may hold it in between.
func (w *Window) arm(p *Pending) {
	if p.entry.epoch != Start {
		w.host.AwaitIssued(p.target, p.entry.call.Number, true)
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

// deliver copies the result of p to the program's memory.
func (c *origin) deliver(p *Pending) {
	x := p.result
	x.into.Unpack(x.data, 0)
	c.redirected -= int64(len(x.data))
	p.result = nil
}

// deliverChecked copies the result of p to the program's memory, if it is redirected and has arrived.
// It returns an error if the program has stored to this memory before end.
func (c *origin) deliverChecked(p *Pending, end Call) (err error) {
	if p.result == nil || !p.result.armed {
		return nil
	}
	if p.result.stored() {
		w := p.w
		err = class.Errorf(class.RMAConflict, "the %d bytes here that %s fetches from %s into have been stored to before %s: until then they belong to the operation",
			len(p.result.data), w.Called(&p.entry.call, " at "), p.where(), w.Called(&end, " at "))
	}
	c.deliver(p)
	return err
}
