package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// terms is what a member tells the others about a collective, in a word beside its contribution: the
// codes of the elements that it sends and receives, and the roots that it has named up to now.
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
type terms struct {
	said   uint32
	roots  uint16 // up to and with the current collective
	before uint16 // up to the last one with a root
	tells  bool
	kind   Kind // of that
	fresh  bool // a root has been named since the last Barrier
}

// newTerms is the terms of a new communicator.
func (e *Engine) newTerms() terms {
	if !e.tells {
		return terms{}
	}
	return terms{tells: true, roots: firstRoots}
}

// rootFactor is odd: so different numbers stay different.
const rootFactor = 40503

// then is the number of the roots after one more root is named.
func then(roots uint16, root int) uint16 { return roots*rootFactor + uint16(root) + 1 }

// name notes the root of the current collective.
func (t *terms) name(k Kind, root int) {
	if t.tells {
		t.before, t.kind, t.fresh = t.roots, k, true
		t.roots = then(t.roots, root)
	}
}

// say makes the word for a collective.
func (t *terms) say(send, recv dtype.Code) {
	t.said = uint32(send) | uint32(recv)<<8 | uint32(t.roots)<<16
}

// turn is the word for a Bcast, whose two codes are one: 24 bits. fromTurn is the reverse.
func (t *terms) turn() uint32 { return t.said >> 8 }

func fromTurn(w uint32) uint32 { return w<<8 | w&0xff }

// clash reports whether two words differ in something that both tell.
func clash(a, b uint32) bool { return otherRoots(a, b) || mismatch(a, b) || mismatch(b, a) }

// mismatch reports whether what is sent with word a is not what is received with b.
func mismatch(a, b uint32) bool { return dtype.Code(a).Differs(dtype.Code(b >> 8)) }

func otherRoots(a, b uint32) bool { return a>>16 != b>>16 && a>>16 != 0 && b>>16 != 0 }

// compare is the error of rank r with word a and rank q with word b, of n members, nil if there
// is none.
func (t *terms) compare(r int, a uint32, q int, b uint32, n int) error {
	switch {
	case otherRoots(a, b):
		x, y := t.rootOf(a, n), t.rootOf(b, n)
		if x < 0 || y < 0 {
			return wrong(class.Root, "rank %d and rank %d have named different roots in an earlier collective", r, q)
		}
		return wrong(class.Root, "rank %d names root %d, rank %d names root %d (%v)", r, x, q, y, t.kind)
	case mismatch(a, b):
		return wrong(class.Type, "rank %d sends %v, rank %d receives %v", r, dtype.Code(a), q, dtype.Code(b>>8))
	case mismatch(b, a):
		return wrong(class.Type, "rank %d sends %v, rank %d receives %v", q, dtype.Code(b), r, dtype.Code(a>>8))
	}
	return nil
}

// with is the terms of what both have been told, where members disagree if they do in one of the
// two: the numbers are added. The root to be named is that of t.
func (t terms) with(o terms) terms {
	t.roots += o.roots
	t.before += o.roots * rootInverse // so that then(before, root) grows by o.roots, too
	return t
}

// rootInverse is the inverse of rootFactor.
const rootInverse = 30599

var _ [rootFactor*rootInverse%(1<<16) - 1]struct{} // is 0 long, or the product is not 1

// rootOf is the root that a member with a word has named last, of n that it may be; -1 if it has
// disagreed with this one before.
func (t *terms) rootOf(word uint32, n int) int {
	for root := range n {
		if then(t.before, root) == uint16(word>>16) {
			return root
		}
	}
	return -1
}

// agreeOn makes the terms of s those of the communicator, where it names its root; or if it is
// persistent, and so may be started in any order, its own. Members of an intercommunicator name
// roots in different ways, which are not compared.
func (s *schedule) agreeOn(persistent bool) {
	if !s.e.tells || s.c.Inter != nil {
		return
	}
	t := &stateOf(s.c).terms
	if persistent {
		fresh := s.e.newTerms()
		t = &fresh
	}
	if s.kind.rooted() {
		t.name(s.kind, s.Root)
	}
	s.terms = *t
}

// otherRoots is the error of a rank that tells other roots.
func (s *schedule) otherRoots(rank int, roots uint16) error {
	t := &s.terms
	return t.compare(rank, uint32(roots)<<16, s.c.Rank, uint32(t.roots)<<16, s.c.Size())
}

// word is what the member of rank r says about the current collective.
func (s *slot) word(r int) uint32 {
	switch {
	case r == s.c.Rank:
		return s.terms.said
	case Kind(s.Kind) == Barrier && !s.inCells():
		return s.cells[r].Met[s.Turns&1]
	}
	return s.cells[r].Said[s.Number&1]
}

// rank is that of a member in the communicator that the program has called with, and ranks the
// number of those.
func (s *slot) rank(r int) int {
	if s.whole == nil {
		return r
	}
	return s.whole.RankOf(s.c.Members[r])
}

func (s *slot) ranks() int {
	if s.whole == nil {
		return s.c.Size()
	}
	return s.whole.Size()
}

// judge compares what all members say about the current collective. All come to the same.
func (s *slot) judge() error {
	mine := s.terms.said
	for r := range s.cells {
		if s.word(r) != mine {
			return s.disagreement()
		}
	}
	if mismatch(mine, mine) {
		return s.disagreement()
	}
	return nil
}

// disagreement is what judge finds where words differ: an error if two members disagree, of
// which this one is one if it can be. From then on only the roots count that are named later,
// where all members have looked.
func (s *slot) disagreement() error {
	n, me, word := len(s.cells), s.c.Rank, s.word
	var err error
	roots := false
	for i := range n {
		first := (me + i) % n
		for q := range n {
			a, b := word(first), word(q)
			if !clash(a, b) {
				continue
			}
			e := s.terms.compare(s.rank(first), a, s.rank(q), b, s.ranks())
			if err == nil || otherRoots(a, b) && !roots {
				err = e
			}
			roots = roots || otherRoots(a, b)
		}
	}
	if roots && Kind(s.Kind) != Reduce {
		s.terms.roots = firstRoots
	}
	return err
}

// firstRoots is the number of no roots: not 0, which tells nothing.
const firstRoots = 1
