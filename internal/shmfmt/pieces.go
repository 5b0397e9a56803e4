package shmfmt

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/planted"
)

// Pieces divides the copy of one long message between its receiver and its sender. The receiver copies
// pieces from the first one on, out of the sender's memory. A sender that polls meanwhile copies pieces
// from the last one on, into the receiver's memory. Both claim each piece by compare-and-swap before they
// copy it, so neither waits for the other until all pieces are claimed. Then the receiver waits for the
// pieces that the sender has claimed.
//
// Each ring has a Pieces, for the messages of its producer; it is used for one message at a time. A number
// tells its uses apart, so that a sender that comes late claims nothing of the next message.
type Pieces struct {
	// claims is the number of the use and the pieces that nobody has claimed: the first one, and the one
	// after the last. Open stores it; then both sides change it by compare-and-swap.
	claims atomic.Uint64
	_      [Line - 8]byte
	// copied is the number of the use, how many pieces the sender has copied, and whether it could not
	// copy one. Only the sender stores it.
	copied atomic.Uint64
	_      [Line - 8]byte
}

// PiecesMax is the largest number of pieces of one message.
const PiecesMax = 1<<15 - 1

// failed is the bit of copied that says that the sender could not copy a piece.
const failed = 1 << 31

func claims(use uint32, first, end int) uint64 {
	return uint64(use)<<32 | uint64(first)<<16 | uint64(end)
}

// Open begins a use for a message of n pieces. The receiver calls it when no piece of the use before is
// claimed and not copied.
func (p *Pieces) Open(use uint32, n int) { p.claims.Store(claims(use, 0, n)) } // pairs with the loads in Front and Back

// Front claims the first piece for the receiver. It returns false if all are claimed.
func (p *Pieces) Front() (piece int, ok bool) {
	for {
		w := p.claims.Load()
		first, end := int(w>>16&0xffff), int(w&0xffff)
		if first >= end {
			return 0, false
		}
		if p.claims.CompareAndSwap(w, claims(uint32(w>>32), first+1, end)) { // one of this and the swap in Back succeeds
			return first, true
		}
	}
}

// Back claims the last piece for the sender. It returns false if all are claimed, or another use has begun.
func (p *Pieces) Back(use uint32) (piece int, ok bool) {
	for {
		w := p.claims.Load() // pairs with the store in Open
		first, end := int(w>>16&0xffff), int(w&0xffff)
		if uint32(w>>32) != use && !planted.PieceOfAnother || first >= end {
			return 0, false
		}
		if p.claims.CompareAndSwap(w, claims(use, first, end-1)) { // one of this and the swap in Front succeeds
			return end - 1, true
		}
	}
}

// Left reports whether there are pieces that nobody has claimed.
func (p *Pieces) Left() bool {
	w := p.claims.Load()
	return w>>16&0xffff < w&0xffff
}

// Close claims all pieces that nobody has claimed.
func (p *Pieces) Close() {
	for {
		if _, ok := p.Front(); !ok {
			return
		}
	}
}

// Copied publishes that the sender has copied n pieces of a use, or that it could not copy the last one.
func (p *Pieces) Copied(use uint32, n int, ok bool) {
	w := uint64(use)<<32 | uint64(n)
	if !ok {
		w |= failed
	}
	p.copied.Store(w) // pairs with the load in Ended
}

// Ended reports whether all pieces of a message of n are claimed, and the sender has copied, or could not
// copy, those that it has claimed. ok says whether it has copied them.
func (p *Pieces) Ended(use uint32, n int) (ended, ok bool) {
	if p.Left() {
		return false, true
	}
	theirs := n - int(p.claims.Load()&0xffff)
	w := p.copied.Load() // pairs with the store in Copied
	if uint32(w>>32) != use {
		return theirs == 0, true
	}
	return int(w&(failed-1)) == theirs, w&failed == 0
}
