package slot

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// What members state in a slot: see agree.Terms.

// metWords reports whether the words of the current collective are in Met.
func (s *Slot) metWords() bool { return kind.Kind(s.Kind) == kind.Barrier && !s.inCells() }

// digest returns the digest of the member of rank r for the current collective. That in Met is a word, as
// a Barrier has no length.
func (s *Slot) digest(r int) uint32 {
	switch {
	case r == s.me:
		return s.Terms.Digest
	case s.metWords():
		return s.cells[r].Met[s.Turns&1]
	}
	return s.cells[r].Said[s.Number&1]
}

// statement returns the statement of the member of rank r for the current collective. A member that runs
// a Barrier, and has named no roots, has none: its digest is 0. The member may have entered the next collective, and
// have stored a statement for that.
func (s *Slot) statement(r int) agree.Statement {
	switch {
	case r == s.me:
		return agree.Statement{Said: s.Terms.Said, Length: s.Terms.Length}
	case s.metWords():
		return agree.Statement{Said: s.cells[r].Met[s.Turns&1], Length: 0}
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
		if x := (agree.Statement{Said: uint32(last.Said), Length: int(last.Length)}); x.Digest() == s.digest(r) && x.Digest() != 0 {
			return x
		}
	}
	return agree.Statement{Length: -1}
}

// state stores the own statement for the current collective, unless it is the last one. The memory for it may be
// written: all others have left the collective before the last one, so that they need only the last statement.
func (s *Slot) state() {
	if s.Last.Said != uint64(s.Terms.Said) || s.Last.Length != uint64(s.Terms.Length) {
		s.restate()
	}
}

func (s *Slot) restate() {
	s.Latest ^= 1
	s.Last = shmfmt.Statement{Since: s.Number, Said: uint64(s.Terms.Said), Length: uint64(s.Terms.Length)}
	to := &s.own.Stated[s.Latest]
	atomic.StoreUint64(&to.Since, s.Number) // members that are still in the collective before look which one is theirs
	to.Said, to.Length = s.Last.Said, s.Last.Length
}

// judge compares the digests of all members for the current collective. All members come to the
// same result.
func (s *Slot) judge() error {
	mine := s.Terms.Digest
	for r := range s.cells {
		if s.digest(r) != mine {
			return s.Disagreement()
		}
	}
	if s.Terms.Unlike() {
		return s.Disagreement()
	}
	return nil
}

// Disagreement returns the error of judge if digests differ: an error if two members disagree,
// with this member as one of them if possible. If all members have compared, the comparison of
// roots starts again with the next one.
func (s *Slot) Disagreement() error {
	err, roots := s.Terms.Disagreement(s.me, len(s.cells), s.statement, s.owner.Rank, s.owner.Ranks())
	if roots && kind.Kind(s.Kind) != kind.Reduce {
		s.Terms.Roots = agree.FirstRoots
	}
	return err
}
