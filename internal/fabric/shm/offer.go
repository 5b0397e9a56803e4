package shm

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Taker carries out the operations that peers offer in shared memory. It is called like a
// fabric.Sink, and must not trust its arguments. The content of answer goes back to the peer.
// It reports false if it refuses the operation and has done nothing.
type Taker interface {
	TakeOffer(from int, h *shmfmt.OfferHead, data, answer *[shmfmt.OfferData]byte) bool
}

// SetTaker makes Poll take the offers of peers; without it Poll takes none. It must be called
// before the first Poll.
func (f *Fabric) SetTaker(t Taker) { f.taker = t }

// offering is the memory in which a peer makes offers.
type offering struct {
	offer *shmfmt.Offer
	job   int
}

// Offer returns the memory in which this process makes offers to a peer of the node, nil if
// it cannot. The first call makes the peer look there, so call it only before an offer.
func (f *Fabric) Offer(peer int) *shmfmt.Offer {
	o := f.out[peer]
	if o == nil {
		o = f.connect(peer)
	}
	if o.dead {
		return nil
	}
	seg, err := f.node.Segment(o.peer)
	if err != nil {
		return nil
	}
	offer := seg.Offer(f.me)
	if offer != nil {
		seg.Offers(f.me)
	}
	return offer
}

// Sleeps reports that nobody at a peer with an Offer polls, so that no goroutine would take
// an offer soon. False does not prove that a goroutine polls.
func (f *Fabric) Sleeps(peer int) bool { return f.out[peer].door.Armed.Load() != 0 } // pairs with the stores in Arm and Disarm

// WakeWaiter makes a goroutine of a peer poll that waits and sleeps, and reports whether there
// was one. It costs a system call.
func (f *Fabric) WakeWaiter(peer int) bool {
	o := f.out[peer]
	seg, err := f.node.Segment(o.peer)
	if err != nil || !seg.Nudge() {
		return false
	}
	f.Ring(o.peer)
	return true
}

// SetWaits tells peers how many goroutines of this process wait and sleep.
func (f *Fabric) SetWaits(n int) { f.seg.SetWaits(n) }

// WaiterWanted reports whether a peer has called WakeWaiter, once for each call.
func (f *Fabric) WaiterWanted() bool { return f.seg.Nudged() }

// TakeOffers takes the offers of peers, and reports how many there were. Poll calls it. A
// goroutine that holds the engine's lock and waits without polling may call it too.
func (f *Fabric) TakeOffers() int {
	n := 0
	for i := range f.offers {
		if o := &f.offers[i]; o.offer.Made() {
			n += f.take(o)
		}
	}
	return n
}

func (f *Fabric) take(o *offering) int {
	number, taken := o.offer.Take(&f.head)
	if !taken {
		return 0
	}
	o.offer.End(number, f.taker.TakeOffer(o.job, &f.head, o.offer.Data(), o.offer.Answer()))
	return 1
}

// findOffers adds peers that have begun to make offers, and reports whether there are any.
func (f *Fabric) findOffers() bool {
	found := false
	for w, known := range f.offered {
		fresh := f.seg.Offering(w) &^ known
		if fresh == 0 {
			continue
		}
		f.offered[w] |= fresh
		for ; fresh != 0; fresh &= fresh - 1 {
			i := w*64 + bits.TrailingZeros64(fresh)
			if i >= len(f.job) || i == f.me || f.down[f.job[i]] {
				continue
			}
			if offer := f.seg.Offer(i); offer != nil && f.taker != nil {
				f.offers = append(f.offers, offering{offer, f.job[i]})
				found = true
			}
		}
	}
	return found
}

// dropOffers removes a peer from those whose offers are taken.
func (f *Fabric) dropOffers(job int) {
	for i := range f.offers {
		if f.offers[i].job == job {
			f.offers = append(f.offers[:i], f.offers[i+1:]...)
			return
		}
	}
}
