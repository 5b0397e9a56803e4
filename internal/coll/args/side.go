package args

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// Side is what a member gives to a collective, or gets from it: memory, and the elements that
// are the unit of its length, counts and displacements. Different members, and the two sides of
// one member, may have different elements. A Side of a Buffer refers to the type of the Buffer,
// not to the Buffer. An Alltoallw has two Sides for each rank.
//
// Algorithms use only mem.Mem: ranges of bytes, which for a layout are ranges of its packed form. So all
// that members must agree on (sizes, pieces, choices) is the same for a member that gives a slice and for
// one that gives a layout of the same signature. No message is packed as a whole: package p2p takes the
// memory of a Side as it is, and slots are filled and emptied a stage or a piece at a time. Scratch memory
// holds packed data in two cases: short blocks that an algorithm collects on the way (trees and leaders do
// so), and the data that an in-place alltoall is about to overwrite.
type Side struct {
	mem.Mem
	Code     dtype.Code // of the elements
	IsBuffer bool       // the side is of a Buffer; else of a slice with elements of Args.Width bytes
	Width    int        // of an element in bytes; 0 if the type has no bytes
	Type     *dtype.Type
	Number   int // of elements of a Buffer
}

// Slice returns the side of a slice with elements of a code.
func Slice(b []byte, code dtype.Code) Side { return Side{Mem: mem.Of(b), Code: code} }

// Bytes returns the side of a slice of bytes.
func Bytes(b []byte) Side { return Slice(b, dtype.Mixed) }

// Elements returns the side of a Buffer, an empty side without one.
func Elements(b *dtype.Buffer) Side {
	if b == nil {
		return Side{}
	}
	x := Side{Mem: mem.In(b), IsBuffer: true, Type: b.Type(), Number: int(b.Count())}
	if x.Type != nil { // nil for the zero Buffer
		x.Code, x.Width = b.Code(), int(x.Type.Size())
	}
	return x
}

// Measure sets the width of the elements of sides of slices.
func (a *Args) Measure() {
	if !a.Send.IsBuffer {
		a.Send.Width = a.Width
	}
	if !a.Recv.IsBuffer {
		a.Recv.Width = a.Width
	}
}

// word returns how messages name the argument of the program.
func (x *Side) word() string {
	if x.IsBuffer {
		return "buffer"
	}
	return "slice"
}

// endsWithin reports whether x is a slice that ends within an element.
func (x *Side) endsWithin() bool { return !x.IsBuffer && x.Len() > 0 && x.Len()%x.Width != 0 }

// elements returns how many elements have n bytes.
func (x *Side) elements(n int) int {
	if x.Width == 0 {
		return 0
	}
	return n / x.Width
}

// count returns the number of elements.
func (x *Side) count() int {
	if x.IsBuffer {
		return x.Number
	}
	return x.elements(x.Len())
}

// whole checks that blocks of n bytes, which are whole elements of y, are also whole elements of
// x.
func (x *Side) whole(n int, y *Side, what string) error {
	if x.Width == y.Width || n == 0 || x.Width > 0 && n%x.Width == 0 {
		return nil
	}
	return class.Errorf(class.Count, "blocks of %d bytes are not a whole number of the %s buffer's elements of %d", n, what, x.Width)
}

// receives checks that no two elements that are received share memory.
func (x *Side) receives() error {
	if !x.overlaps(x.Number) {
		return nil
	}
	return class.Errorf(class.Type, "elements to receive overlap: %s", x.Type.Describe(int64(x.Number)))
}

// overlaps reports whether bytes of n elements of a Buffer overlap.
func (x *Side) overlaps(n int) bool { return x.Type != nil && x.Type.Overlaps(int64(n)) }

// cutTo cuts x, a receive side, to its first n blocks of each bytes, and checks that it has
// them.
func (x *Side) cutTo(n, each int) error {
	if high, size := bits.Mul64(uint64(n), uint64(each)); high != 0 || size > uint64(x.Len()) {
		return class.Errorf(class.Count, "receive %s of %d elements for %d", x.word(), x.count(), n*x.elements(each))
	}
	x.Mem = x.First(n * each)
	return x.receives()
}

// fits checks that x is as long as the caller's block of y.
func (x *Side) fits(y *Side, me int, counts []int, what string) error {
	want := counts[me] * y.Width
	switch {
	case x.Len() == want:
		return nil
	case x.Width == y.Width:
		return class.Errorf(class.Count, "%s %s of %d elements, the count of rank %d is %d", what, x.word(), x.count(), me, counts[me])
	}
	return class.Errorf(class.Count, "%s %s of %d bytes, the block of rank %d is of %d", what, x.word(), x.Len(), me, want)
}

// divides checks that x, a send side, consists of n equal blocks.
func (x *Side) divides(n int) error {
	if count := x.count(); count%n != 0 {
		return class.Errorf(class.Count, "send %s of %d elements is not a block for each of %d members", x.word(), count, n)
	}
	return nil
}

// checkBlocks checks the counts and displacements of blocks for n members.
func (x *Side) checkBlocks(n int, what string, counts, displs []int) error {
	return x.checkBlocksOf("members", "rank", n, what, counts, displs)
}

// checkBlocksOf is checkBlocks for blocks of others than members: all and each name them.
func (x *Side) checkBlocksOf(all, each string, n int, what string, counts, displs []int) error {
	if len(counts) != n {
		return class.Errorf(class.Count, "%d %s counts for %d %s", len(counts), what, n, all)
	}
	if displs != nil && len(displs) != n {
		return class.Errorf(class.Arg, "%d %s displacements for %d %s", len(displs), what, n, all)
	}
	room, next := x.count(), 0
	for r, k := range counts {
		at := next
		if displs != nil {
			at = displs[r]
		}
		switch {
		case k < 0:
			return class.Errorf(class.Count, "%s count %d of %s %d is negative", what, k, each, r)
		case k > 0 && (at < 0 || at > room || k > room-at):
			return class.Errorf(class.Count, "%s block of %s %d: %d elements at %d of a %s of %d", what, each, r, k, at, x.word(), room)
		}
		next = at + k
	}
	if what == "receive" {
		return x.receivesBlocks(counts)
	}
	return nil
}

// receivesBlocks is receives for blocks of the given numbers of elements. Elements of the whole
// buffer may overlap if those of no block do: a type whose extent is the width of a block of a
// matrix describes a block at any place of the matrix.
func (x *Side) receivesBlocks(counts []int) error {
	if !x.overlaps(x.Number) {
		return nil
	}
	for _, k := range counts {
		if k > 0 && x.overlaps(k) {
			return class.Errorf(class.Type, "elements to receive overlap: %s", x.Type.Describe(int64(k)))
		}
	}
	return nil
}

// offset returns where the block of rank r begins, in bytes.
func (x *Side) offset(r int, counts, displs []int) int {
	if displs != nil {
		return displs[r] * x.Width
	}
	return Sum(counts[:r]) * x.Width
}

// apart checks that x shares no memory with y, or that x is in place: x and the part of y that
// begins at the given place are the same memory. part describes that part in the error, and what
// names y. Of layouts that interleave, apart compares only where their first bytes are.
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
	return class.Errorf(class.Buffer, "send and receive %ss overlap in part: in place the one is %sthe %s %s", x.word(), part, what, y.word())
}

// blocks describes the parts of a side that are sent or received; without counts it is one
// block.
type blocks struct {
	of             *Side
	counts, displs []int
}

// len returns the number of blocks.
func (b *blocks) len() int {
	if b.counts == nil {
		return 1
	}
	return len(b.counts)
}

// bytes returns block r of a slice.
func (b *blocks) bytes(r int) []byte {
	switch {
	case b.counts == nil:
		return flat(b.of.Mem)
	case b.counts[r] == 0:
		return nil // the displacement may be anything
	}
	at := b.of.offset(r, b.counts, b.displs)
	return flat(b.of.Cut(at, at+b.counts[r]*b.of.Width))
}

// apartBlocks is apart for blocks: a block of one side may be between blocks of the other. It
// calls no function value for each block, since that would move Buffers to the heap.
func apartBlocks(x, y blocks, at int, part, what string) error {
	if err := x.of.apart(y.of, at, part, what); err != nil && x.meets(y) {
		return err
	}
	return nil
}

// meets reports whether a block of b and one of y share memory. The caller knows that the sides
// as a whole do. For layouts meets examines nothing more, and reports true.
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
