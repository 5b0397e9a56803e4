package shmfmt

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// OfferSize is the size of an Offer in bytes: a page, of which each side writes half.
	OfferSize = page
	// OfferData is the largest number of bytes of an offer, and of its answer.
	OfferData = 1984
)

// An Offer is a short operation that one process, the origin, offers to another, the target, to carry
// out at once if that one polls at this moment. The segment of the target has one Offer for each
// process of the node.
//
// The origin writes the operation, and Makes the offer. A goroutine of the target that polls Takes
// the offer, carries out the operation, and Ends it. If the target has not taken it after a short
// time, the origin Retracts it. Take and Retract change the same word by compare-and-swap, so exactly
// one of them succeeds. After a successful Retract the operation was not done and will not be, and
// the origin uses another way. Otherwise the origin waits for the end, which comes soon, since the
// target waits for nobody in between.
//
// So the origin does not depend on the target; it is faster if the target polls. An offer costs two
// transfers of a line from core to core. The target stores the end in a line of its own, because the
// origin polls that line meanwhile: in the line of the offer these loads would fetch the line between
// the two stores of the target, which made it half as slow again.
//
// Each offer has a number, so that the origin does not take the end of one for the end of the next. A
// target that is about to take an offer while the origin retracts it and makes another one may take
// the second: it reads the operation after it has taken it.
//
// Neither side trusts the other: the target copies what it decides by once (OfferHead), and the
// origin takes from the answer no more than data.
type Offer struct {
	// word is the number and state. The origin stores it when it makes an offer; then both sides
	// change it by compare-and-swap.
	word   atomic.Uint64
	window atomic.Uint64
	at     atomic.Uint64
	what   atomic.Uint64
	data   [OfferData]byte
	_      [OfferSize/2 - 4*8 - OfferData]byte

	// ended is the number of the last offer that was taken and has ended, and whether it was
	// done. Only the target stores it, after answer.
	ended  atomic.Uint64
	answer [OfferData]byte
	_      [OfferSize/2 - 8 - OfferData]byte
}

// OfferHead is the operation that is offered, without its data. Package rma defines the fields.
type OfferHead struct {
	Window, At uint64
	// Do is the kind of operation, and Size its number of bytes.
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

// Data returns the memory that the origin fills with the data of an offer before it makes it.
func (o *Offer) Data() *[OfferData]byte { return &o.data }

// Answer returns the memory that the target fills with the result before it ends the offer.
func (o *Offer) Answer() *[OfferData]byte { return &o.answer }

// Make makes offer number n. One goroutine of the origin at a time calls it.
func (o *Offer) Make(n uint64, h *OfferHead) {
	// One plain store each: only the origin uses these words until word is stored.
	plain(&o.window, h.Window)
	plain(&o.at, h.At)
	plain(&o.what, uint64(h.Do)<<32|uint64(h.Size))
	Publish(&o.word, n<<offerBits|offerMade) // pairs with the swap in Take
}

// Ended reports whether offer number n has ended, and whether the target has done the operation. If
// not, the target has refused it and changed nothing.
func (o *Offer) Ended(n uint64) (ended, done bool) {
	w := o.ended.Load() // pairs with the store in End
	return w>>1 == n, w&1 != 0
}

// Retract retracts offer number n. It returns false if the target has taken it: then it will end.
func (o *Offer) Retract(n uint64) bool {
	return o.word.CompareAndSwap(n<<offerBits|offerMade, n<<offerBits|offerIdle) // one of this and the swap in Take succeeds
}

// Made reports whether there is an offer. It costs one load.
func (o *Offer) Made() bool { return o.word.Load()&(1<<offerBits-1) == offerMade }

// Take takes the offer, if there still is one, and copies its head to h.
func (o *Offer) Take(h *OfferHead) (n uint64, taken bool) {
	w := o.word.Load()
	if w&(1<<offerBits-1) != offerMade || !o.word.CompareAndSwap(w, w-offerMade+offerTaken) { // pairs with the store in Make
		return 0, false
	}
	what := o.what.Load()
	h.Window, h.At, h.Do, h.Size = o.window.Load(), o.at.Load(), uint32(what>>32), uint32(what)
	return w >> offerBits, true
}

// End ends offer number n. done says whether the operation was done.
func (o *Offer) End(n uint64, done bool) {
	n <<= 1
	if done {
		n |= 1
	}
	Publish(&o.ended, n) // pairs with the load in Ended
}

// plain stores n in a word that nobody else loads before something else is published.
func plain(word *atomic.Uint64, n uint64) {
	if sys.Race {
		word.Store(n)
		return
	}
	*(*uint64)(unsafe.Pointer(word)) = n
}
