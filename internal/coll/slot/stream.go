package slot

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// stream carries the broadcasts of a slot, of all roots, in pieces: a root
// announces each piece in the next turn, and all others copy it from there. A root waits
// only when all turns, or all bytes behind them, are in use. So it runs ahead
// of members that have no core, and a member that gets a core finds many pieces at once. The
// stream is independent of the numbers of the slot.
//
// Turns and bytes are rings. Every member derives the place of a piece from the lengths of the
// broadcasts, so that any member can be the next root. A piece may be
// overwritten when all members have passed it.
type stream shmfmt.SlotStream

// flow is the stream of the slot.
func (s *Slot) flow() *stream { return (*stream)(&s.Stream) }

const (
	// StreamPiece is the longest piece in bytes. Several of them fit into the memory, so
	// that the root writes one while others read another.
	StreamPiece = 32 << 10
	// streamMax is the longest broadcast that goes through a stream, in bytes.
	streamMax = 64 << 20
)

// RootsDiffer is what a root gives as the code of a broadcast if it has found that members name different roots. No
// type has this code.
const RootsDiffer dtype.Code = 0xfe

// Bcast copies buf from the root. An empty buf tells the members, when bcast returns, that the root
// has called it. Members that disagree on the length of buf get an error.
func (s *Slot) Bcast(buf mem.Mem, code dtype.Code, root int) error {
	s.Kind = uint8(kind.Bcast)
	s.Terms.Name(kind.Bcast, root)
	s.Terms.Say(code, code, buf.Len())
	if root == s.me {
		return s.sendPieces(buf)
	}
	size, said, err := s.receivePieces(buf)
	switch {
	case err != nil:
		return err
	case said != s.Terms.Turn() && dtype.Code(said) == RootsDiffer:
		return class.Errorf(class.Root, "rank %d has found that members name different roots", s.owner.Rank(root))
	case said != s.Terms.Turn() && agree.Clash(agree.FromTurn(said), s.Terms.Said):
		word, giver := agree.FromTurn(said), s.owner.Rank(root)
		if other := s.Terms.RootOf(word, s.owner.Ranks()); other >= 0 {
			giver = other
		}
		return s.Terms.Compare(giver, word, s.owner.Rank(s.me), s.Terms.Said, s.owner.Ranks())
	case size > buf.Len():
		return class.Errorf(class.Truncate, "rank %d gives %d bytes, rank %d receives %d", s.owner.Rank(root), size, s.owner.Rank(s.me), buf.Len())
	case size < buf.Len():
		return class.Errorf(class.Count, "rank %d gives %d bytes, rank %d receives %d", s.owner.Rank(root), size, s.owner.Rank(s.me), buf.Len())
	}
	return nil
}

// place returns the place in the memory of the next piece, of n bytes: from start to end,
// counted as At is. A short piece is in its turn.
func (t *stream) place(n int) (start, end uint64) {
	if n <= shmfmt.StreamShort {
		return t.At, t.At
	}
	start = t.At
	if left := shmfmt.StreamBytes - start%shmfmt.StreamBytes; left < uint64(n) {
		start += left
	}
	return start, start + uint64(n+shmfmt.Line-1)&^(shmfmt.Line-1)
}

// take makes the next piece the last one; it ends at end.
func (t *stream) take(end uint64) {
	t.Number++
	t.At = end
	t.Ends[t.Number%shmfmt.StreamTurns] = end
}

// fits reports whether there is room for a piece that ends at end when all others
// have passed a number of pieces.
func (t *stream) fits(end, passed uint64) bool {
	return t.Number-passed < shmfmt.StreamTurns && end-t.Ends[passed%shmfmt.StreamTurns] <= shmfmt.StreamBytes
}

// memory is the memory of pieces that are not short.
func (s *Slot) memory() *[shmfmt.StreamBytes]byte {
	if s.pieces == nil {
		s.pieces = s.mem.Stream()
		s.Stream.Memory = uintptr(unsafe.Pointer(s.pieces))
	}
	return s.pieces
}

// room waits until there is room for a piece that ends at end.
func (s *Slot) room(end uint64) error {
	t := s.flow()
	if t.fits(end, t.Passed) {
		return nil
	}
	t.Passed = s.lowest()
	if t.fits(end, t.Passed) {
		return nil
	}
	// Wait until half of the stream is free, so that the root can then send many pieces.
	target := t.Passed
	for !t.fits(end, target) || t.Number-target > shmfmt.StreamTurns/2 || t.At-t.Ends[target%shmfmt.StreamTurns] > shmfmt.StreamBytes/2 {
		target++
	}
	for _, c := range s.others {
		if err := s.await(&c.Passed, target); err != nil {
			return err
		}
	}
	t.Passed = target
	return nil
}

// lowest returns the last piece that all others have passed.
func (s *Slot) lowest() uint64 {
	low := s.Stream.Number
	for _, c := range s.others {
		low = min(low, c.Passed.Load()) // pairs with Publish in pass
	}
	return low
}

// pass publishes that the member has finished the last piece. A root may wait for that.
func (s *Slot) pass() {
	shmfmt.Publish(&s.own.Passed, s.Stream.Number)
}

// sendPieces sends buf to all others.
func (s *Slot) sendPieces(buf mem.Mem) error {
	t := s.flow()
	b, row := buf.Bytes()
	for at, more := 0, true; more; more = at < buf.Len() {
		n := min(buf.Len()-at, StreamPiece)
		start, end := t.place(n)
		if err := s.room(end); err != nil {
			return err
		}
		t.take(end)
		turn := &s.head.Turns[t.Number%shmfmt.StreamTurns]
		turn.Size = uint64(buf.Len()) | uint64(s.Terms.Turn())<<shmfmt.TurnBits
		switch {
		case n > shmfmt.StreamShort:
			buf.Pack(s.memory()[start%shmfmt.StreamBytes:][:n], at)
		case row:
			copy(turn.Short[:], b[at:])
		default:
			buf.Pack(turn.Short[:n], at)
		}
		shmfmt.Publish(&turn.Number, t.Number)
		s.pass()
		s.wake()
		at += n
	}
	return nil
}

// receivePieces receives what the root sends, of any length, as far as it fits into buf, and returns
// its length and the root's word.
func (s *Slot) receivePieces(buf mem.Mem) (size int, said uint32, err error) {
	t := s.flow()
	b, row := buf.Bytes()
	size = buf.Len()
	for got, more := 0, true; more; more = got < size {
		number := t.Number + 1
		turn := &s.head.Turns[number%shmfmt.StreamTurns]
		if err := s.await(&turn.Number, number); err != nil {
			return 0, 0, err
		}
		if got == 0 {
			length := turn.Size & (1<<shmfmt.TurnBits - 1)
			if length > streamMax {
				return 0, 0, class.Errorf(class.Intern, "broadcast of %d bytes in a slot", length)
			}
			size, said = int(length), uint32(turn.Size>>shmfmt.TurnBits)
		}
		n := min(size-got, StreamPiece)
		start, end := t.place(n)
		piece := turn.Short[:]
		if n > shmfmt.StreamShort {
			piece = s.memory()[start%shmfmt.StreamBytes:]
		}
		switch {
		case got >= buf.Len():
		case row:
			copy(b[got:], piece[:n])
		default:
			buf.Unpack(piece[:n], got)
		}
		t.take(end)
		s.pass()
		got += n
	}
	s.wake()
	return size, said, nil
}
