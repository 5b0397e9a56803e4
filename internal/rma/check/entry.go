package check

import (
	"encoding/binary"
	"fmt"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Kind is what an access does, as far as conflicts are concerned.
type Kind uint8

// The kinds. Load and Store are the program's own.
const (
	Put Kind = iota
	Get
	Accumulate
	Load
	Store
)

// Epoch is the kind of epoch that an access belongs to.
type Epoch uint8

// The kinds of epochs. Lock is LockAll, too.
const (
	NoEpoch Epoch = iota
	Fence
	Start
	Lock
)

// entry describes accesses that are alike: for example all accesses of one call in the source
// between two flushes. The memory that they access is kept beside it.
type entry struct {
	call    Call
	origin  int32 // rank
	kind    Kind
	epoch   Epoch
	op      op.Op
	typ     op.Type
	sameOp  bool   // of accumulates: the program has promised that all have one operation
	phase   uint16 // of accumulates: where elements begin, modulo their size
	request bool   // of gets that have a request each, and are complete when that is
	fences  uint64 // of Fence: how many fences ended before
	gen     uint64 // Window.gen of the origin
	// segment is Window.segment of the origin; 0: each access is in a segment of its own, as
	// those of views in order are. One number for all of them keeps the log short, however many
	// there are.
	segment uint64
}

// concurrent reports whether an access c that comes now is concurrent with those of a in the log.
func (a *entry) concurrent(c *entry) bool {
	switch {
	case c.kind > Accumulate:
		return a.epoch != Fence || a.fences == c.fences
	case a.epoch != c.epoch || a.epoch == Fence && a.fences != c.fences:
		return false
	}
	return a.origin != c.origin || a.segment == c.segment && a.segment != 0
}

// conflicts reports whether two concurrent accesses to one place conflict (MPI-5, 12.7). lo is
// where c begins.
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
		return false // both are the program's own
	case y.kind == Load:
		return x.op != op.NoOp
	case y.kind == Store:
		return true
	case a.op == op.NoOp && c.op == op.NoOp:
		return false
	case !sameElements(a.typ, c.typ) || uint64(a.phase) != lo%uint64(c.typ.Size()):
		return true // of other elements they are neither atomic nor, of one origin, in order
	case a.origin == c.origin:
		return false // they have an order, whatever operations they are
	case a.sameOp && c.sameOp:
		return a.op != c.op && a.op != 0 && c.op != 0
	}
	return false
}

// sameElements reports whether two types of elements are one to accumulates. Bytes of a slice of
// Go are either.
func sameElements(a, b op.Type) bool {
	return a == b || a == op.Byte && b == op.Uint8 || a == op.Uint8 && b == op.Byte
}

// text describes an entry in a report. The place of its call is known.
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
	nameMax, siteMax = 40, 200
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

// decodeEntry reads what encode wrote, of a rank below ranks, and returns what follows. It reports
// false for what encode never writes.
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
	c.call = Call{Name: p2p.Printable(b[:name]), Site: p2p.Printable(b[name : name+site]), PC: pc}
	ok = c.origin >= 0 && int(c.origin) < ranks && c.kind <= Store && c.epoch <= Lock && flags < 4
	if c.kind == Accumulate {
		ok = ok && c.typ.Size() > 0 && (c.op == 0 || c.op.Accumulates(c.typ))
	}
	return c, b[name+site:], ok
}
