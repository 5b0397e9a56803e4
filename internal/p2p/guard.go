package p2p

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/sys"
)

// bufferGuard watches the memory of an operation of the program, in checking mode, from its start until the
// program learns that it is complete (Land): so long the memory belongs to the operation.
//
// Of a send the guard keeps a checksum. A receive fills other memory, shadow, and the program's memory has a
// pattern meanwhile: what the program stores is found by its absence, and what it reads too early
// is wrong in every run. Land gives the program what was received. Parts that the message does not
// fill contain what they contained before.
//
// Rejected: page protection. Buffers share their pages with other variables of the program, system
// calls of a thread that uses those would fail without a signal, and the handler of SIGSEGV is the
// program's.
type bufferGuard struct {
	mem    mem.Mem // of the program
	sum    uint64  // of what is sent
	shadow []byte  // what is received; before that what mem contained. nil for a send
}

const (
	// guardPattern is each byte of the memory of a receive that is not complete, as in results of
	// one-sided operations.
	guardPattern = 0xdb
	// guardMax bounds the memory that receives fill in place of that of the program, in bytes. Further receives
	// are not guarded.
	guardMax = 256 << 20
)

// guards is what the engine keeps for all guards.
type guards struct {
	of    map[*Request]struct{} // the requests that have one
	bytes int                   // of their shadows
	seed  maphash.Seed
}

// Guards reports whether any request has a guard.
func (e *Engine) Guards() bool { return len(e.guards.of) > 0 }

// beginGuard guards the memory of r, which is about to start, if the program must not use it meanwhile.
func (e *Engine) beginGuard(r *Request) {
	c := r.checked
	if !c.guarded {
		return
	}
	c.guarded = r.Persistent
	n := r.mem.Len()
	if c.guard != nil || n <= 0 || r.mem.Err() != nil || r.peer == ProcNull {
		return
	}
	b, contiguous := r.mem.Bytes()
	if r.Send {
		if contiguous && !sys.Readable(b) { // which the call itself reports
			return
		}
		c.guard = &bufferGuard{mem: r.mem, sum: e.sum(r.mem)}
	} else {
		if contiguous && !sys.Writable(b) || e.guards.bytes+n > guardMax {
			return
		}
		g := &bufferGuard{mem: r.mem, shadow: make([]byte, n)}
		r.mem.Pack(g.shadow, 0)
		r.mem.Unpack(bytes.Repeat([]byte{guardPattern}, n), 0)
		c.guard, r.mem = g, mem.Of(g.shadow)
		e.guards.bytes += n
	}
	if e.guards.of == nil {
		e.guards.of = make(map[*Request]struct{})
	}
	e.guards.of[r] = struct{}{}
}

// LandAll ends the guards of the requests on c that are complete: the program knows that they are. It takes the lock.
func (e *Engine) LandAll(c *comm.Comm) {
	e.p.Lock()
	defer e.p.Unlock()
	for r := range e.guards.of {
		if r.comm == c && r.Done() {
			e.Land(r)
		}
	}
}

// sum is a checksum of memory.
func (e *Engine) sum(m mem.Mem) uint64 {
	b, contiguous := m.Bytes()
	if !contiguous {
		b = make([]byte, m.Len())
		m.Pack(b, 0)
	}
	return maphash.Bytes(e.guards.seed, b)
}

// Land ends the guard of r, if it has one: the program is about to learn that r is complete. If the
// program has used the memory before, that becomes the error of r, unless it has another one. The caller is
// the goroutine of the program.
func (e *Engine) Land(r *Request) {
	if r.checked == nil || r.checked.guard == nil {
		return
	}
	if what := e.endGuard(r); what != "" && r.Status.Err == nil {
		text := fmt.Sprintf("the %d bytes that it %s before it was complete", r.size(), what)
		if at := e.place(r); at != "" {
			now := e.locator.Current()
			text += fmt.Sprintf(", between the call at %s and that at %s", at, e.locator.Portable(&now))
		}
		r.Status.Err = &class.Error{Class: class.Other, Text: text + ": until then they belong to the operation"}
	}
}

// dropGuard ends the guard of r, if it has one and the program does not learn that r is complete.
func (e *Engine) dropGuard(r *Request) {
	if c := r.checked; c != nil {
		if c.guard != nil {
			e.endGuard(r)
		}
		c.guarded = false
	}
}

// endGuard ends the guard of r. It says what the program has done to the memory, "" if nothing.
func (e *Engine) endGuard(r *Request) (what string) {
	g := r.checked.guard
	r.checked.guard = nil
	delete(e.guards.of, r)
	if g.shadow == nil {
		if e.sum(g.mem) != g.sum {
			what = "sends have changed"
		}
		return what
	}
	e.guards.bytes -= len(g.shadow)
	is := make([]byte, len(g.shadow))
	g.mem.Pack(is, 0)
	if len(bytes.ReplaceAll(is, []byte{guardPattern}, nil)) > 0 {
		what = "receives into have been stored to"
	}
	g.mem.Unpack(g.shadow, 0)
	r.mem = g.mem
	return what
}
