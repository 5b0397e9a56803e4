package slot

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// owed is what a member has not done in the collectives that it has refused. Until it has, it
// counts as Broken, so that the next collective, in Go or in C, comes to mended first.
type owed struct {
	step   uint64 // the number of the collective that it has refused, 0 if there is none
	turn   bool   // that collective ends by a release
	pieces int    // broadcasts of others that it has to skip
}

// Miss refuses the next collective through the slot. It does not wait: this member neither
// publishes its number nor arrives, but marks its cell. Members that depend on it wait for long,
// find the mark (without), and fail. So no member looks for marks before it has to wait anyway.
//
// The member may publish its number only when all others have left the collective, since a member
// that is late would take the number for a contribution. The others say so in Left, and mended
// waits for that before the next collective.
//
// A refused broadcast has the member as its root, or the member skips it before the next collective.
// A root that is wrong is taken for 0, by all members that refuse.
//
// rank is that of the member that gives the reason, in the whole communicator.
func (s *Slot) Miss(k kind.Kind, root, rank int, cl class.Class) {
	s.Kind = uint8(k)
	if uint(root) >= uint(len(s.cells)) {
		root = 0
	}
	if k == kind.Bcast {
		s.MissPieces(root, rank, cl)
		return
	}
	s.Number++
	if k == kind.Reduce && root == s.me || planted.RefusalPublished { // nobody else needs it
		shmfmt.Publish(&s.own.Number, s.Number)
		s.wake()
		return
	}
	s.own.Why = reason(rank, cl)
	shmfmt.Publish(&s.own.Taken, s.after()) // neighbours do not wait until it takes what they send
	s.own.Refused.Store(s.Number)           // pairs with the load in without
	s.head.Refusals.Add(1)
	s.wake()
	s.owed.step, s.owed.turn, s.Broken = s.Number, k != kind.Reduce && !s.inCells(), true
}

// MissPieces refuses the next broadcast through the slot.
func (s *Slot) MissPieces(root, rank int, cl class.Class) {
	if root != s.me {
		s.owed.pieces++
		s.Broken = true
		s.own.Skips.Store(s.Stream.Number + uint64(s.owed.pieces)) // pairs with the load in without
		s.head.Refusals.Add(1)
		s.wake()
		return
	}
	for _, c := range s.others { // they must have seen the mark that this one replaces
		if s.await(&c.Passed, s.own.RefusedPiece.Load()) != nil {
			return
		}
	}
	s.own.PieceWhy = reason(rank, cl)
	s.skipPiece()
	s.own.RefusedPiece.Store(s.Stream.Number)
	s.head.Refusals.Add(1)
	s.wake()
}

// skipPiece passes a broadcast that its root has refused.
func (s *Slot) skipPiece() {
	t := s.flow()
	t.take(t.At)
	s.pass()
}

// reason returns the rank and the class of a refusal in a word.
func reason(rank int, cl class.Class) uint64 { return uint64(rank)<<32 | uint64(uint32(cl)) }

// refusal returns the error of a word of reason.
func (s *Slot) refusal(why uint64) error {
	return s.owner.Refusal(int(why>>32)%s.owner.Ranks(), class.Class(uint32(why)))
}

// without finds out whether a member has refused what this one waits for: a word that is to reach n.
// It reports true if there is nothing to wait for. If arrivals is not 0, this member has to wait for
// so many first: if it left a collective that ends by a release before all others have arrived, and
// arrived in the next one, the last of them would take that for the arrival of a member that refuses.
func (s *Slot) without(word *atomic.Uint64, n uint64) (done bool, arrivals uint64, err error) {
	at := uintptr(unsafe.Pointer(word))
	turns := uintptr(unsafe.Pointer(&s.head.Turns[0]))
	piece := at >= turns && at < turns+unsafe.Sizeof(s.head.Turns)
	left, refused, skip := uint64(0), uint64(0), piece
	// Waits for the number of a member in the current collective, or its release, end with an error
	// if any member refuses it, or among neighbours if that one does. Earlier waits are for members that are still in the one before.
	inside := word == &s.head.Release.Number
	for _, c := range s.cells {
		inside = inside || word == &c.Number && n >= s.Number
	}
	for _, c := range s.cells {
		if c == s.own {
			continue
		}
		if piece && c.RefusedPiece.Load() == n {
			err = s.refusal(c.PieceWhy)
		}
		skip = skip && c.Skips.Load() == n
		switch m := c.Refused.Load(); { // pairs with the store in miss
		case m == 0:
		case inside && m == s.Number && (!s.pairwise || word == &c.Number):
			err, left = s.refusal(c.Why), m
			refused++
		case word == &c.Number && !inside && m >= n:
			done, left = true, max(left, min(m, s.Number-1))
		case m < s.Number || piece && m == s.Number:
			left = max(left, m)
		}
	}
	if refused > 0 && word == &s.head.Release.Number {
		arrivals = s.Turns*uint64(len(s.cells)) - refused
		if s.head.Arrived.Load() < arrivals {
			return false, arrivals, nil
		}
	}
	switch {
	case piece && err != nil:
		s.skipPiece()
	case skip: // members that name different roots: nobody sends the piece
		err = s.owner.Refusal(s.owner.Rank((s.me+1)%len(s.cells)), class.Root)
	}
	if left > s.own.Left.Load() {
		s.own.Left.Store(left) // pairs with the loads in settled
		s.wake()
	}
	return done || err != nil, 0, err
}

// Mended does what this member owes the slot, and reports whether the slot is usable. No lock is
// held.
func (s *Slot) Mended() bool {
	if s.owed == (owed{}) {
		return false // a member has died
	}
	for ; s.owed.pieces > 0; s.owed.pieces-- {
		if _, _, err := s.receivePieces(mem.Mem{}); err != nil && !agree.IsRefusal(err) {
			s.owed = owed{}
			return false
		}
	}
	if n := s.owed.step; n != 0 {
		for _, c := range s.others {
			if err := s.settled(c, n); err != nil {
				s.owed = owed{}
				return false
			}
		}
		shmfmt.Publish(&s.own.Number, n)
		s.Known = n
		if s.owed.turn {
			s.Turns++
			s.head.Arrived.Add(1) // nobody is released: all others have left
		}
		s.wake()
	}
	s.owed, s.Broken = owed{}, false
	return true
}

// settled waits until a member has left the collective of a number, or has refused it, too.
func (s *Slot) settled(c *shmfmt.Cell, n uint64) error {
	p := s.p
	p.Lock()
	defer p.Unlock()
	for {
		before := s.head.Refusals.Load()
		if c.Left.Load() >= n || c.Refused.Load() >= n {
			return nil
		}
		if err := s.owner.Lost(); err != nil {
			return err
		}
		s.event.Watch(&c.Left, n, &s.head.Sleepers)
		s.event.Alarm(&s.head.Refusals, before)
		p.Wait(&s.event, -1)
	}
}
