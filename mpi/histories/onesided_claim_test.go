package histories_test

import (
	"github.com/halo-mpi/halo/internal/dtype"
)

// claims records which agent accesses which bytes in a round, so that no two operations
// conflict: the program never does what the standard leaves undefined. It is used while a
// program is made, in the order of its steps.
type claims struct {
	bytes map[claimed][]claim
}

type claimed struct{ member, slot int }

// claim is the state of a byte.
type claim struct {
	kind  claimKind
	owner int16    // an agent, of reads and owned bytes; manyOwners if several read it
	view  int8     // the view through which its owner has accessed it
	last  int      // the last put or get that accessed it
	clean bool     // no operation is pending: the owner may do anything
	elem  dtype.ID // of accumulated and updated bytes
	at    uint8    // index of the byte in the element
	times uint8    // number of accumulates on the element
	begin int64    // of accumulated bytes: see rmaOp.begin; only operations with the same begin are atomic with each other
}

type claimKind uint8

const (
	unclaimed   claimKind = iota
	read                  // by get
	owned                 // by put, or by the next operation of its owner
	accumulated           // by any agent
	updated               // under exclusive locks
	addedTo               // by storms
)

const manyOwners = -1

// accumulatesMax is the maximum number of accumulates on an element in a phase: the oracle
// searches for an order of them.
const accumulatesMax = 10

func newClaims(w *window) *claims {
	c := &claims{bytes: map[claimed][]claim{}}
	for m, slots := range w.slots {
		for s := range slots {
			c.bytes[claimed{m, s}] = make([]claim, slots[s].size)
		}
	}
	return c
}

// nextRound removes the claims that a synchronisation of all members ends. Claims of accumulates and
// storms last for the whole phase.
func (c *claims) nextRound() {
	for _, b := range c.bytes {
		for i := range b {
			if b[i].kind != accumulated && b[i].kind != addedTo {
				b[i] = claim{}
			}
		}
	}
}

// each calls f for every basic element of o at the target, until f returns false. A pair is one
// element if o accumulates.
func (o *rmaOp) each(f func(off, size int64) bool) bool {
	ex := o.there.m.Extent()
	step := 1
	if o.kind >= isAccumulate {
		step = len(elementOf(o.elem).parts)
	}
	for i := range o.there.count {
		entries := o.there.m.Entries
		for k := 0; k < len(entries); k += step {
			size := entries[k].Elem.Size
			if o.kind >= isAccumulate {
				size = int64(elementOf(o.elem).size)
			}
			if !f(o.at+i*ex+entries[k].Off, size) {
				return false
			}
		}
	}
	return true
}

// kindOf is the kind of the claims that an update or a storm makes.
func kindOf(o *rmaOp) claimKind {
	if o.kind == isStorm {
		return addedTo
	}
	return updated
}

// take claims the bytes that o accesses, or returns false and changes nothing.
func (c *claims) take(o *rmaOp) bool {
	b := c.bytes[claimed{o.target, o.slot}]
	me, view := o.agent, int8(o.view)
	free := o.each(func(off, size int64) bool {
		for i := range size {
			switch k := b[off+i]; {
			case k.kind == unclaimed:
			case o.kind >= isUpdate:
				if k.kind != kindOf(o) || k.elem != o.elem || int64(k.at) != i || k.begin != o.begin {
					return false
				}
			case o.accumulates():
				if k.kind != accumulated || k.elem != o.elem || int64(k.at) != i || k.begin != o.begin || k.times == accumulatesMax {
					return false
				}
			case k.kind == read && o.kind == isGet:
			case (k.kind == owned || k.kind == read) && k.owner == me && (k.clean || o.order && k.view == view):
			default:
				return false
			}
		}
		return true
	})
	if !free {
		return false
	}
	o.each(func(off, size int64) bool {
		for i := range size {
			k := &b[off+i]
			switch {
			case o.kind >= isUpdate:
				*k = claim{kind: kindOf(o), elem: o.elem, at: uint8(i), begin: o.begin}
			case o.accumulates():
				*k = claim{kind: accumulated, elem: o.elem, at: uint8(i), times: k.times + 1, begin: o.begin}
			case o.kind != isGet:
				*k = claim{kind: owned, owner: me, view: view}
			case k.kind == unclaimed:
				*k = claim{kind: read, owner: me, view: view}
			case k.owner != me:
				*k = claim{kind: read, owner: manyOwners}
			default:
				k.clean, k.view = false, view
			}
		}
		return true
	})
	return true
}

// flushed records that operations of an agent at a target are complete, on one view or on all of
// them; target -1 means all targets.
func (c *claims) flushed(agent int16, target, view int) {
	for at, b := range c.bytes {
		if target >= 0 && at.member != target {
			continue
		}
		for i := range b {
			if b[i].owner == agent && (b[i].kind == owned || b[i].kind == read) && (view == allViews || b[i].view == int8(view)) {
				b[i].clean = true
			}
		}
	}
}

// hand transfers the bytes at a target that an agent owns, and on which its operations are complete, to
// another agent; target -1 means all targets.
func (c *claims) hand(from, to int16, target int) {
	for at, b := range c.bytes {
		if target >= 0 && at.member != target {
			continue
		}
		for i := range b {
			if b[i].clean && b[i].owner == from {
				b[i].owner = to
			}
		}
	}
}

// accumulates reports whether a byte of the range belongs to an element that is accumulated on
// in the phase.
func (c *claims) accumulates(member, slot int, off, size int64) bool {
	for _, k := range c.bytes[claimed{member, slot}][off : off+size] {
		if k.kind == accumulated || k.kind == addedTo {
			return true
		}
	}
	return false
}
