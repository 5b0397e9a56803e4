package coll

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// Side is what a member gives to a collective, or gets from it: memory, and the elements by which
// its length, counts and displacements are measured. Members, and the two sides of one, may have
// elements of their own. A Side of a Buffer refers to its type, not to the Buffer.
type Side struct {
	mem.Mem
	Code   dtype.Code // of the elements
	buffer bool       // of a Buffer; else of a slice, whose elements Args.Width measures
	width  int        // of an element in bytes; 0 if it is of a type without any
	typ    *dtype.Type
	number int // of elements of a Buffer
}

// Slice is the bytes of a slice of elements of a code.
func Slice(b []byte, code dtype.Code) Side { return Side{Mem: mem.Of(b), Code: code} }

// Bytes is the bytes of a slice.
func Bytes(b []byte) Side { return Slice(b, dtype.Mixed) }

// Elements is those of a Buffer, and nothing without one.
func Elements(b *dtype.Buffer) Side {
	if b == nil {
		return Side{}
	}
	x := Side{Mem: mem.In(b), buffer: true, typ: b.Type(), number: int(b.Count())}
	if x.typ != nil { // or it is the zero Buffer
		x.Code, x.width = b.Code(), int(x.typ.Size())
	}
	return x
}

// measure gives the sides of slices the width of their elements.
func (a *Args) measure() {
	if !a.Send.buffer {
		a.Send.width = a.Width
	}
	if !a.Recv.buffer {
		a.Recv.width = a.Width
	}
}

// word names the argument of the program in messages.
func (x *Side) word() string {
	if x.buffer {
		return "buffer"
	}
	return "slice"
}

// endsWithin reports whether x is a slice that ends within an element.
func (x *Side) endsWithin() bool { return !x.buffer && x.Len() > 0 && x.Len()%x.width != 0 }

// elements is how many elements take n bytes.
func (x *Side) elements(n int) int {
	if x.width == 0 {
		return 0
	}
	return n / x.width
}

// count is the number of elements.
func (x *Side) count() int {
	if x.buffer {
		return x.number
	}
	return x.elements(x.Len())
}

// whole checks that blocks of n bytes, which are whole elements of y, are whole ones
// of x, too.
func (x *Side) whole(n int, y *Side, what string) error {
	if x.width == y.width || n == 0 || x.width > 0 && n%x.width == 0 {
		return nil
	}
	return wrong(class.Count, "blocks of %d bytes are not a whole number of the %s buffer's elements of %d", n, what, x.width)
}

// receives checks that what is received comes to one place each.
func (x *Side) receives() error {
	if !x.overlaps(x.number) {
		return nil
	}
	return wrong(class.Type, "elements to receive overlap: %s", x.typ.Describe(int64(x.number)))
}

// overlaps reports whether bytes of n elements of a Buffer overlap.
func (x *Side) overlaps(n int) bool { return x.typ != nil && x.typ.Overlaps(int64(n)) }

// cutTo makes x, which is received into, the n blocks that are used of it.
func (x *Side) cutTo(n, each int) error {
	if high, size := bits.Mul64(uint64(n), uint64(each)); high != 0 || size > uint64(x.Len()) {
		return wrong(class.Count, "receive %s of %d elements for %d", x.word(), x.count(), n*x.elements(each))
	}
	x.Mem = x.First(n * each)
	return x.receives()
}

// fits checks that x is as long as the caller's block of y.
func (x *Side) fits(y *Side, me int, counts []int, what string) error {
	want := counts[me] * y.width
	switch {
	case x.Len() == want:
		return nil
	case x.width == y.width:
		return wrong(class.Count, "%s %s of %d elements, the count of rank %d is %d", what, x.word(), x.count(), me, counts[me])
	}
	return wrong(class.Count, "%s %s of %d bytes, the block of rank %d is of %d", what, x.word(), x.Len(), me, want)
}

// divides checks that x, which is sent, is n equal blocks.
func (x *Side) divides(n int) error {
	if count := x.count(); count%n != 0 {
		return wrong(class.Count, "send %s of %d elements is not a block for each of %d members", x.word(), count, n)
	}
	return nil
}

// checkBlocks checks the counts and displacements of n blocks.
func (x *Side) checkBlocks(n int, what string, counts, displs []int) error {
	if len(counts) != n {
		return wrong(class.Count, "%d %s counts for %d members", len(counts), what, n)
	}
	if displs != nil && len(displs) != n {
		return wrong(class.Arg, "%d %s displacements for %d members", len(displs), what, n)
	}
	room, next := x.count(), 0
	for r, k := range counts {
		at := next
		if displs != nil {
			at = displs[r]
		}
		switch {
		case k < 0:
			return wrong(class.Count, "%s count %d of rank %d is negative", what, k, r)
		case k > 0 && (at < 0 || at > room || k > room-at):
			return wrong(class.Count, "%s block of rank %d: %d elements at %d of a %s of %d", what, r, k, at, x.word(), room)
		}
		next = at + k
	}
	if what == "receive" {
		return x.receivesBlocks(counts)
	}
	return nil
}

// receivesBlocks is receives for blocks of so many elements. Elements between them may
// overlap: a type whose extent is the width of a block of a matrix stands for a block at
// any place of it.
func (x *Side) receivesBlocks(counts []int) error {
	if !x.overlaps(x.number) {
		return nil
	}
	for _, k := range counts {
		if k > 0 && x.overlaps(k) {
			return wrong(class.Type, "elements to receive overlap: %s", x.typ.Describe(int64(k)))
		}
	}
	return nil
}

// offset is where the block of rank r begins, in bytes.
func (x *Side) offset(r int, counts, displs []int) int {
	if displs != nil {
		return displs[r] * x.width
	}
	return sum(counts[:r]) * x.width
}

// apart checks that x shares no memory with y, or begins at that place of it and
// is the same there. In place x is that part of y, which is called what. Of layouts that
// interleave only what their first bytes tell is seen.
func (x *Side) apart(y *Side, at int, part, what string) error {
	if x.Len() == 0 || y.Len() == 0 {
		return nil
	}
	a, rowOfX := x.Bytes()
	b, rowOfY := y.Bytes()
	if rowOfX && rowOfY {
		if !mem.Overlap(a, b) || at < len(b) && &a[0] == &b[at] {
			return nil
		}
	} else if at >= y.Len() || !mem.Same(x.Mem, y.From(at)) || mem.Alike(x.Mem, y.From(at)) {
		return nil
	}
	return wrong(class.Buffer, "send and receive %ss overlap in part: in place the one is %sthe %s %s", x.word(), part, what, y.word())
}

// blocks is the parts of a side that are sent or received; without counts it is one.
type blocks struct {
	of             *Side
	counts, displs []int
}

// len is the number of blocks.
func (b *blocks) len() int {
	if b.counts == nil {
		return 1
	}
	return len(b.counts)
}

// bytes is block r of a slice.
func (b *blocks) bytes(r int) []byte {
	switch {
	case b.counts == nil:
		return flat(b.of.Mem)
	case b.counts[r] == 0:
		return nil // the displacement may be anything
	}
	at := b.of.offset(r, b.counts, b.displs)
	return flat(b.of.Cut(at, at+b.counts[r]*b.of.width))
}

// apartBlocks is apart for blocks: what is between those of one side may be of the other.
// There is no function that is called for each of them: Buffers would be moved to the heap.
func apartBlocks(x, y blocks, at int, part, what string) error {
	if err := x.of.apart(y.of, at, part, what); err != nil && x.meets(y) {
		return err
	}
	return nil
}

// meets reports whether a block of b and one of y share memory, of which it is known that
// the sides as a whole do. Of layouts no more is looked at.
func (b blocks) meets(y blocks) bool {
	_, row := b.of.Bytes()
	if _, rowToo := y.of.Bytes(); !row || !rowToo {
		return true
	}
	for i := range b.len() {
		a := b.bytes(i)
		for k := range y.len() {
			if mem.Overlap(a, y.bytes(k)) {
				return true
			}
		}
	}
	return false
}
