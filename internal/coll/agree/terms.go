package agree

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/planted"
)

// Terms is what a member tells the others about a collective: the codes of the elements that it sends
// and receives, and the roots that it has named up to now, in a word; and the length of its
// contribution. In a slot the word and the length are the Statement of the member, which is stored when it
// changes. Beside the contribution, where there is room for 32 bits, is a digest of both. The others load the
// contribution and the digest together, and the Statement only if the digest is not their own.
//
// The roots are a number that is computed from all of them in their order. If two members both
// were the root, and received nothing from each other, they find that out in the next collective
// in which one of them receives from the other: at the latest in a Barrier, or the barrier in
// Finalize. Their numbers stay different as long as they name the same roots from then on. Programs
// in C do not tell their roots (Untell).
//
//	bits 0-7   code of what is sent
//	bits 8-15  code of what is received
//	bits 16-31 the roots, 0 if they are not told
type Terms struct {
	Said   uint32
	Digest uint32 // of Said and Length
	Length int    // in bytes
	Roots  uint16 // up to and including the current collective
	before uint16 // before the last collective with a root
	Tells  bool
	mute   bool      // this member has refused a collective with a root, so that its roots are not compared any more
	kind   kind.Kind // kind of the last collective with a root
	Fresh  bool      // a root has been named since the last Barrier
}

// NewTerms returns the terms of a new communicator. tells says whether members tell their roots.
func NewTerms(tells bool) Terms {
	if !tells {
		return Terms{}
	}
	return Terms{Tells: true, Roots: FirstRoots}
}

// FirstRoots is the number before any root is named. It is not 0, which means that roots are not
// told.
const FirstRoots = 1

// rootFactor is odd, so that different numbers stay different.
const rootFactor = 40503

// then returns the number of the roots after one more root is named.
func then(roots uint16, root int) uint16 { return roots*rootFactor + uint16(root) + 1 }

// Name notes the root of the current collective.
func (t *Terms) Name(k kind.Kind, root int) {
	if t.Tells {
		t.before, t.kind, t.Fresh = t.Roots, k, true
		t.Roots = then(t.Roots, root)
		if t.mute {
			t.Roots = 0
		}
	}
}

// Say makes the word and the digest for a collective to which the member gives n bytes. For lengths below
// 64 KiB digests of the same word and different lengths differ.
func (t *Terms) Say(send, recv dtype.Code, n int) {
	t.Said = uint32(send) | uint32(recv)<<8 | uint32(t.Roots)<<16
	t.Length = n
	t.Digest = Statement{t.Said, n}.Digest()
}

// Turn returns the word of a Bcast in 24 bits, since its two codes are the same. FromTurn is the
// inverse.
func (t *Terms) Turn() uint32 { return t.Said >> 8 }

// FromTurn returns the word of a Bcast from what Turn returned.
func FromTurn(w uint32) uint32 { return w<<8 | w&0xff }

// Statement is what a member states: see Terms.
type Statement struct {
	Said   uint32
	Length int // -1 if the member does not tell it
}

// Digest is the digest of the word and the length, 32 bits.
func (a Statement) Digest() uint32 {
	n := a.Length
	if planted.LengthUntold {
		n = 0
	}
	return a.Said + uint32(n+n>>16*rootFactor)<<16
}

// clash reports whether two statements disagree on the roots, on the elements or on the length.
func (a Statement) clash(b Statement) bool { return Clash(a.Said, b.Said) || a.otherLength(b) }

func (a Statement) otherLength(b Statement) bool {
	return a.Length != b.Length && a.Length >= 0 && b.Length >= 0
}

// Clash reports whether two words disagree on the roots or on the elements.
func Clash(a, b uint32) bool { return otherRoots(a, b) || mismatch(a, b) || mismatch(b, a) }

// Unlike reports whether the elements that this member sends differ from those that it receives.
func (t *Terms) Unlike() bool { return mismatch(t.Said, t.Said) }

// mismatch reports whether the elements sent with word a differ from those received with word b.
func mismatch(a, b uint32) bool { return dtype.Code(a).Differs(dtype.Code(b >> 8)) }

func otherRoots(a, b uint32) bool { return a>>16 != b>>16 && a>>16 != 0 && b>>16 != 0 }

// Compare returns the error of rank r with word a and rank q with word b, of n members, nil if
// they agree.
func (t *Terms) Compare(r int, a uint32, q int, b uint32, n int) error {
	switch {
	case otherRoots(a, b):
		x, y := t.RootOf(a, n), t.RootOf(b, n)
		if x < 0 || y < 0 {
			return class.Errorf(class.Root, "rank %d and rank %d have named different roots in an earlier collective", r, q)
		}
		return class.Errorf(class.Root, "rank %d names root %d, rank %d names root %d (%v)", r, x, q, y, t.kind)
	case mismatch(a, b):
		return class.Errorf(class.Type, "rank %d sends %v, rank %d receives %v", r, dtype.Code(a), q, dtype.Code(b>>8))
	case mismatch(b, a):
		return class.Errorf(class.Type, "rank %d sends %v, rank %d receives %v", q, dtype.Code(b), r, dtype.Code(a>>8))
	}
	return nil
}

// compareAll returns the error of rank r with statement a and rank q with statement b, of n members, nil if
// they agree. Elements of different types are the cause of different lengths, so they come first.
func (t *Terms) compareAll(r int, a Statement, q int, b Statement, n int) error {
	if err := t.Compare(r, a.Said, q, b.Said, n); err != nil || !a.otherLength(b) {
		return err
	}
	gives := func(x Statement) string { return dtype.Code(x.Said).Describe(int64(x.Length)) }
	if dtype.Code(a.Said) == dtype.Mixed || dtype.Code(b.Said) == dtype.Mixed {
		gives = func(x Statement) string { return fmt.Sprintf("%d bytes", x.Length) }
	}
	return class.Errorf(class.Count, "rank %d gives %s, rank %d gives %s", r, gives(a), q, gives(b))
}

// With adds the numbers of t and o. Members that disagree in one of the two disagree in the sum.
// The root that errors name is that of t.
func (t Terms) With(o Terms) Terms {
	if t.mute || o.mute {
		t.mute, t.Roots = true, 0
		return t
	}
	t.Roots += o.Roots
	t.before += o.Roots * rootInverse // then(before, root) also grows by o.Roots
	return t
}

// rootInverse is the inverse of rootFactor modulo 1<<16.
const rootInverse = 30599

var _ [rootFactor*rootInverse%(1<<16) - 1]struct{} // the length is 0 if the product is 1

// RootOf returns the root, below n, that the member with this word has named last. It returns -1
// if the member has disagreed with this one before.
func (t *Terms) RootOf(word uint32, n int) int {
	for root := range n {
		if then(t.before, root) == uint16(word>>16) {
			return root
		}
	}
	return -1
}

// Refuse notes that the member refuses a collective. If it has a root, members may name different
// ones in it, and this one is mute from then on.
func (t *Terms) Refuse(k kind.Kind) {
	if k.Rooted() && t.Tells {
		t.mute, t.Roots, t.kind, t.Fresh = true, 0, k, true
	}
}

// Disagreement returns the error of n members whose digests differ, nil if no two of them disagree, and whether they
// disagree on roots. The error is about the member of rank me if possible, and about roots rather than elements.
// statement returns what the member of a rank states, and rank and ranks are as errors name these.
func (t *Terms) Disagreement(me, n int, statement func(r int) Statement, rank func(r int) int, ranks int) (err error, roots bool) {
	for i := range n {
		first := (me + i) % n
		for q := range n {
			a, b := statement(first), statement(q)
			if !a.clash(b) {
				continue
			}
			e := t.compareAll(rank(first), a, rank(q), b, ranks)
			if err == nil || otherRoots(a.Said, b.Said) && !roots {
				err = e
			}
			roots = roots || otherRoots(a.Said, b.Said)
		}
	}
	return err, roots
}
