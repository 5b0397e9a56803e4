package check

import (
	"encoding/binary"
	"fmt"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/op"
)

// Kind is the kind of an access in the rules for conflicts.
type Kind uint8

// The kinds. Load and Store are accesses of the program to its own window memory.
const (
	Put Kind = iota
	Get
	Accumulate
	Load
	Store
)

// Epoch is the kind of epoch that an access belongs to.
type Epoch uint8

// The kinds of epochs. Lock includes LockAll.
const (
	NoEpoch Epoch = iota
	Fence
	Start
	Lock
)

// entry describes accesses with the same properties, for example all accesses of one call in the
// source between two flushes. It is the key of the map from entries to the accessed memory.
type entry struct {
	call    Call
	origin  int32 // rank
	kind    Kind
	epoch   Epoch
	op      op.Op
	typ     op.Type
	sameOp  bool   // of accumulates: the program has promised that all have one operation
	phase   uint16 // of accumulates: offset of the elements modulo their size
	request bool   // gets with a request each, which are complete when the request is
	fences  uint64 // in epochs of Fence: number of fences that ended before
	gen     uint64 // Window.gen of the origin
	// segment is Window.segment of the origin; 0: each access is in a segment of its own, as in
	// views in order. The same number for all these accesses gives them one entry, which keeps
	// the log short.
	segment uint64
}

// concurrent reports whether a new access c is concurrent with the accesses of entry a in the log.
func (a *entry) concurrent(c *entry) bool {
	switch {
	case c.kind > Accumulate:
		return a.epoch != Fence || a.fences == c.fences
	case a.epoch != c.epoch || a.epoch == Fence && a.fences != c.fences:
		return false
	}
	return a.origin != c.origin || a.segment == c.segment && a.segment != 0
}

// conflicts reports whether two concurrent accesses to the same bytes conflict (MPI-5, 12.7). lo is
// the first byte of c.
func (a *entry) conflicts(c *entry, lo uint64) bool {
	x, y := a, c
	if x.kind > y.kind {
		x, y = y, x
	}
	switch {
	case x.kind == Put:
		return true
	case x.kind == Get:
		return y.kind == Store || y.kind == Accumulate && y.op != op.NoOp
	case x.kind != Accumulate:
		return false // both are loads or stores of the program
	case y.kind == Load:
		return x.op != op.NoOp
	case y.kind == Store:
		return true
	case a.op == op.NoOp && c.op == op.NoOp:
		return false
	case !sameElements(a.typ, c.typ) || uint64(a.phase) != lo%uint64(c.typ.Size()):
		return true // for different elements they are neither atomic nor ordered
	case a.origin == c.origin:
		return false // accumulates of one origin are ordered for any operations
	case a.sameOp && c.sameOp:
		return a.op != c.op && a.op != 0 && c.op != 0
	}
	return false
}

// sameElements reports whether accumulates treat two element types as the same. Elements of a byte
// slice of Go may be op.Byte or op.Uint8.
func sameElements(a, b op.Type) bool {
	return a == b || a == op.Byte && b == op.Uint8 || a == op.Uint8 && b == op.Byte
}

// text describes an entry in a report. The place of its call must be known.
func (a *entry) text() string {
	text := a.call.Name
	if a.kind == Accumulate && a.op != 0 {
		text += fmt.Sprintf(" (%v of %v)", a.op, a.typ)
	} else if a.kind == Accumulate {
		text += fmt.Sprintf(" (of %v)", a.typ)
	}
	return fmt.Sprintf("%s by rank %d at %s", text, a.origin, a.call.Site)
}

const (
	// entrySize is the length of an encoded entry without its texts, in bytes.
	entrySize = 4 + 1 + 1 + 1 + 1 + 2 + 2 + 4*8 + 2
	// nameMax and siteMax are the longest texts of an encoded entry in bytes.
	nameMax, siteMax = 40, callsite.Max
)

// encode appends c to b.
func (c *entry) encode(b []byte) []byte {
	le := binary.LittleEndian
	flags := byte(0)
	if c.sameOp {
		flags |= 1
	}
	if c.request {
		flags |= 2
	}
	b = le.AppendUint32(b, uint32(c.origin))
	b = append(b, byte(c.kind), byte(c.epoch), byte(c.op), flags)
	b = le.AppendUint16(b, uint16(c.typ))
	b = le.AppendUint16(b, c.phase)
	for _, n := range [...]uint64{c.fences, c.gen, c.segment, uint64(c.call.PC)} {
		b = le.AppendUint64(b, n)
	}
	name, site := c.call.Name, c.call.Site
	name, site = name[:min(len(name), nameMax)], site[max(0, len(site)-siteMax):]
	b = append(b, byte(len(name)), byte(len(site)))
	return append(append(b, name...), site...)
}

// decodeEntry decodes an entry that encode has written, with an origin below ranks, and returns the
// bytes after it. It reports false for bytes that encode never writes.
func decodeEntry(b []byte, ranks int) (c entry, rest []byte, ok bool) {
	if len(b) < entrySize {
		return c, nil, false
	}
	le := binary.LittleEndian
	flags := b[7]
	c = entry{
		origin: int32(le.Uint32(b)), kind: Kind(b[4]), epoch: Epoch(b[5]), op: op.Op(b[6]), sameOp: flags&1 != 0, request: flags&2 != 0,
		typ: op.Type(le.Uint16(b[8:])), phase: le.Uint16(b[10:]), fences: le.Uint64(b[12:]), gen: le.Uint64(b[20:]), segment: le.Uint64(b[28:]),
	}
	pc, name, site := uintptr(le.Uint64(b[36:])), int(b[44]), int(b[45])
	b = b[entrySize:]
	if name > nameMax || site > siteMax || len(b) < name+site {
		return c, nil, false
	}
	c.call = Call{Name: callsite.Printable(b[:name]), Site: callsite.Printable(b[name : name+site]), PC: pc}
	ok = c.origin >= 0 && int(c.origin) < ranks && c.kind <= Store && c.epoch <= Lock && flags < 4
	if c.kind == Accumulate {
		ok = ok && c.typ.Size() > 0 && (c.op == 0 || c.op.Accumulates(c.typ))
	}
	return c, b[name+site:], ok
}
