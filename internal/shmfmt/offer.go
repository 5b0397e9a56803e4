package shmfmt

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// OfferSize is the size of an Offer in bytes: a page, of which each side writes half.
	OfferSize = page
	// OfferData is how many bytes an offer takes, either way.
	OfferData = 1984
)

// An Offer is a way for one process, the origin, to have another, the target, do
// something short at once, if that one polls at this moment; and to do without it, if
// not. It stands in the segment of the target, one for each process of the node.
//
// The origin fills in what is to be done, and Makes the offer. Whoever polls at the target
// Takes it, does it, and Ends it. If nobody has taken it after a moment the origin
// Retracts it: of the two who may want to change the word, to taken or to retracted, one
// succeeds. Who has retracted knows that nothing was done and nothing will be; who has not
// waits for the end, which comes soon, since the target does nothing in between that
// waits for others for long.
//
// So nothing depends on the target: it is quicker if it is there. That takes two lines
// from core to core and back. The target says in a line of its own how it ended, because
// the origin looks there meanwhile: if that were the line that was offered, looks would
// take it away between the two stores of the target, which made it half as slow again.
//
// Each offer has a number, so that the end of one is not taken for that of the next. A
// target that was about to take an offer when it was retracted and another one made may
// take that: it looks at what is to be done after.
//
// Neither side trusts the other: a target copies what it decides by, once (OfferHead), and
// an end is no more than an end.
type Offer struct {
	// word is the number and state. The origin stores it when it makes an offer; then both
	// change it by swaps.
	word   atomic.Uint64
	window atomic.Uint64
	at     atomic.Uint64
	what   atomic.Uint64
	data   [OfferData]byte
	_      [OfferSize/2 - 4*8 - OfferData]byte

	// ended is the number of the last offer that was taken and has ended, and how. Only
	// the target stores it; what is in answer then is stored before.
	ended  atomic.Uint64
	answer [OfferData]byte
	_      [OfferSize/2 - 8 - OfferData]byte
}

// OfferHead is what is offered but for the data. What the fields mean is up to the two
// sides: see package rma.
type OfferHead struct {
	Window, At uint64
	// What is to be done, and with how many bytes.
	Do   uint32
	Size uint32
}

// States of an offer, in the lower bits of its word.
const (
	offerIdle  = 0
	offerMade  = 1
	offerTaken = 2
	offerBits  = 2
)

// Data is where the origin puts what goes with an offer, before it makes it.
func (o *Offer) Data() *[OfferData]byte { return &o.data }

// Answer is where the target puts what it returns, before it ends the offer.
func (o *Offer) Answer() *[OfferData]byte { return &o.answer }

// Make makes offer number n, which nobody else of the origin's process does.
func (o *Offer) Make(n uint64, h *OfferHead) {
	// One plain store each: these words are of the origin until the word is stored.
	plain(&o.window, h.Window)
	plain(&o.at, h.At)
	plain(&o.what, uint64(h.Do)<<32|uint64(h.Size))
	Publish(&o.word, n<<offerBits|offerMade) // pairs with the swap in Take
}

// Ended reports whether offer number n has ended, and whether the target has done what was
// asked. If it has not, it has refused, and changed nothing.
func (o *Offer) Ended(n uint64) (ended, done bool) {
	w := o.ended.Load() // pairs with the store in End
	return w>>1 == n, w&1 != 0
}

// Retract takes back offer number n. It reports false if that has been taken: then it will
// end.
func (o *Offer) Retract(n uint64) bool {
	return o.word.CompareAndSwap(n<<offerBits|offerMade, n<<offerBits|offerIdle) // one of this and the swap in Take succeeds
}

// Made reports whether there is an offer: one load.
func (o *Offer) Made() bool { return o.word.Load()&(1<<offerBits-1) == offerMade }

// Take takes the offer, if there still is one, and says what it is.
func (o *Offer) Take(h *OfferHead) (n uint64, taken bool) {
	w := o.word.Load()
	if w&(1<<offerBits-1) != offerMade || !o.word.CompareAndSwap(w, w-offerMade+offerTaken) { // pairs with the store in Make
		return 0, false
	}
	what := o.what.Load()
	h.Window, h.At, h.Do, h.Size = o.window.Load(), o.at.Load(), uint32(what>>32), uint32(what)
	return w >> offerBits, true
}

// End ends offer number n, and says whether it was done.
func (o *Offer) End(n uint64, done bool) {
	n <<= 1
	if done {
		n |= 1
	}
	Publish(&o.ended, n) // pairs with the load in Ended
}

// plain stores n where nobody else looks before something else is published.
func plain(word *atomic.Uint64, n uint64) {
	if sys.Race {
		word.Store(n)
		return
	}
	*(*uint64)(unsafe.Pointer(word)) = n
}
