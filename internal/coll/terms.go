package coll

import (
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// terms is what a member tells the others about a collective: the codes of the elements that it sends
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
type terms struct {
	said   uint32
	digest uint32 // of said and length
	length int    // in bytes
	roots  uint16 // up to and including the current collective
	before uint16 // before the last collective with a root
	tells  bool
	mute   bool // this member has refused a collective with a root, so that its roots are not compared any more
	kind   Kind // kind of the last collective with a root
	fresh  bool // a root has been named since the last Barrier
}

// newTerms returns the terms of a new communicator.
func (e *Engine) newTerms() terms {
	if !e.tells {
		return terms{}
	}
	return terms{tells: true, roots: firstRoots}
}

// rootFactor is odd, so that different numbers stay different.
const rootFactor = 40503

// then returns the number of the roots after one more root is named.
func then(roots uint16, root int) uint16 { return roots*rootFactor + uint16(root) + 1 }

// name notes the root of the current collective.
func (t *terms) name(k Kind, root int) {
	if t.tells {
		t.before, t.kind, t.fresh = t.roots, k, true
		t.roots = then(t.roots, root)
		if t.mute {
			t.roots = 0
		}
	}
}

// say makes the word and the digest for a collective to which the member gives n bytes. For lengths below
// 64 KiB digests of the same word and different lengths differ.
func (t *terms) say(send, recv dtype.Code, n int) {
	t.said = uint32(send) | uint32(recv)<<8 | uint32(t.roots)<<16
	t.length = n
	t.digest = statement{t.said, n}.digest()
}

// turn returns the word of a Bcast in 24 bits, since its two codes are the same. fromTurn is the
// inverse.
func (t *terms) turn() uint32 { return t.said >> 8 }

func fromTurn(w uint32) uint32 { return w<<8 | w&0xff }

// statement is what a member states: see terms.
type statement struct {
	said   uint32
	length int // -1 if the member does not tell it
}

func (a statement) digest() uint32 {
	n := a.length
	if planted.LengthUntold {
		n = 0
	}
	return a.said + uint32(n+n>>16*rootFactor)<<16
}

// clash reports whether two statements disagree on the roots, on the elements or on the length.
func (a statement) clash(b statement) bool { return clash(a.said, b.said) || a.otherLength(b) }

func (a statement) otherLength(b statement) bool {
	return a.length != b.length && a.length >= 0 && b.length >= 0
}

// clash reports whether two words disagree on the roots or on the elements.
func clash(a, b uint32) bool { return otherRoots(a, b) || mismatch(a, b) || mismatch(b, a) }

// mismatch reports whether the elements sent with word a differ from those received with word b.
func mismatch(a, b uint32) bool { return dtype.Code(a).Differs(dtype.Code(b >> 8)) }

func otherRoots(a, b uint32) bool { return a>>16 != b>>16 && a>>16 != 0 && b>>16 != 0 }

// compare returns the error of rank r with word a and rank q with word b, of n members, nil if
// they agree.
func (t *terms) compare(r int, a uint32, q int, b uint32, n int) error {
	switch {
	case otherRoots(a, b):
		x, y := t.rootOf(a, n), t.rootOf(b, n)
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
func (t *terms) compareAll(r int, a statement, q int, b statement, n int) error {
	if err := t.compare(r, a.said, q, b.said, n); err != nil || !a.otherLength(b) {
		return err
	}
	gives := func(x statement) string { return dtype.Code(x.said).Describe(int64(x.length)) }
	if dtype.Code(a.said) == dtype.Mixed || dtype.Code(b.said) == dtype.Mixed {
		gives = func(x statement) string { return fmt.Sprintf("%d bytes", x.length) }
	}
	return class.Errorf(class.Count, "rank %d gives %s, rank %d gives %s", r, gives(a), q, gives(b))
}

// with adds the numbers of t and o. Members that disagree in one of the two disagree in the sum.
// The root that errors name is that of t.
func (t terms) with(o terms) terms {
	if t.mute || o.mute {
		t.mute, t.roots = true, 0
		return t
	}
	t.roots += o.roots
	t.before += o.roots * rootInverse // then(before, root) also grows by o.roots
	return t
}

// rootInverse is the inverse of rootFactor modulo 1<<16.
const rootInverse = 30599

var _ [rootFactor*rootInverse%(1<<16) - 1]struct{} // the length is 0 if the product is 1

// rootOf returns the root, below n, that the member with this word has named last. It returns -1
// if the member has disagreed with this one before.
func (t *terms) rootOf(word uint32, n int) int {
	for root := range n {
		if then(t.before, root) == uint16(word>>16) {
			return root
		}
	}
	return -1
}

// agreeOn gives s the terms of the communicator, in which s names its root. A persistent
// schedule gets terms of its own, since it may be started in any order. Members of an
// intercommunicator name roots in different ways, so these are not compared.
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

// otherRoots returns the error of a rank that tells other roots.
func (s *schedule) otherRoots(rank int, roots uint16) error {
	t := &s.terms
	return t.compare(rank, uint32(roots)<<16, s.c.Rank, uint32(t.roots)<<16, s.c.Size())
}

// metWords reports whether the words of the current collective are in Met.
func (s *slot) metWords() bool { return Kind(s.Kind) == Barrier && !s.inCells() }

// digest returns the digest of the member of rank r for the current collective. That in Met is a word, as
// a Barrier has no length.
func (s *slot) digest(r int) uint32 {
	switch {
	case r == s.c.Rank:
		return s.terms.digest
	case s.metWords():
		return s.cells[r].Met[s.Turns&1]
	}
	return s.cells[r].Said[s.Number&1]
}

// statement returns the statement of the member of rank r for the current collective. A member that runs
// a Barrier, and has named no roots, has none: its digest is 0. The member may have entered the next collective, and
// have stored a statement for that.
func (s *slot) statement(r int) statement {
	switch {
	case r == s.c.Rank:
		return statement{s.terms.said, s.terms.length}
	case s.metWords():
		return statement{s.cells[r].Met[s.Turns&1], 0}
	}
	var last *shmfmt.Statement
	since := uint64(0)
	for i := range s.cells[r].Stated {
		x := &s.cells[r].Stated[i]
		if from := atomic.LoadUint64(&x.Since); from <= s.Number && (last == nil || from > since) {
			last, since = x, from
		}
	}
	if last != nil {
		if x := (statement{uint32(last.Said), int(last.Length)}); x.digest() == s.digest(r) && x.digest() != 0 {
			return x
		}
	}
	return statement{0, -1}
}

// state stores the own statement for the current collective, unless it is the last one. The memory for it may be
// written: all others have left the collective before the last one, so that they need only the last statement.
func (s *slot) state() {
	if s.Last.Said != uint64(s.terms.said) || s.Last.Length != uint64(s.terms.length) {
		s.restate()
	}
}

func (s *slot) restate() {
	s.Latest ^= 1
	s.Last = shmfmt.Statement{Since: s.Number, Said: uint64(s.terms.said), Length: uint64(s.terms.length)}
	to := &s.own.Stated[s.Latest]
	atomic.StoreUint64(&to.Since, s.Number) // members that are still in the collective before look which one is theirs
	to.Said, to.Length = s.Last.Said, s.Last.Length
}

// rank returns the rank of a member in the communicator of the program's call, and ranks the
// number of its members.
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

// judge compares the digests of all members for the current collective. All members come to the
// same result.
func (s *slot) judge() error {
	mine := s.terms.digest
	for r := range s.cells {
		if s.digest(r) != mine {
			return s.disagreement()
		}
	}
	if mismatch(s.terms.said, s.terms.said) {
		return s.disagreement()
	}
	return nil
}

// disagreement returns the error of judge if digests differ: an error if two members disagree,
// with this member as one of them if possible. If all members have compared, the comparison of
// roots starts again with the next one.
func (s *slot) disagreement() error {
	n, me := len(s.cells), s.c.Rank
	var err error
	roots := false
	for i := range n {
		first := (me + i) % n
		for q := range n {
			a, b := s.statement(first), s.statement(q)
			if !a.clash(b) {
				continue
			}
			e := s.terms.compareAll(s.rank(first), a, s.rank(q), b, s.ranks())
			if err == nil || otherRoots(a.said, b.said) && !roots {
				err = e
			}
			roots = roots || otherRoots(a.said, b.said)
		}
	}
	if roots && Kind(s.Kind) != Reduce {
		s.terms.roots = firstRoots
	}
	return err
}

// firstRoots is the number before any root is named. It is not 0, which means that roots are not
// told.
const firstRoots = 1
