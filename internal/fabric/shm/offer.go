package shm

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Taker does what peers offer, if it is asked for by one that may. It is called as a
// fabric.Sink is. Nothing that it is given is to be trusted; what it puts into answer goes
// back. It reports false if it has done nothing.
type Taker interface {
	TakeOffer(from int, h *shmfmt.OfferHead, data, answer *[shmfmt.OfferData]byte) bool
}

// TakeBy has Poll take what peers offer; without it nothing is taken. Call it before the
// first Poll.
func (f *Fabric) TakeBy(t Taker) { f.taker = t }

// offering is where a peer makes offers.
type offering struct {
	offer *shmfmt.Offer
	job   int
}

// Offer returns where this process makes offers to a peer on the node, nil if it cannot.
// The first call announces it: call it when there is something to offer.
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

// Sleeps reports whether nobody at a peer, to which there is an Offer, polls, so that an
// offer would be in vain. It may be that nobody polls though it reports false.
func (f *Fabric) Sleeps(peer int) bool { return f.out[peer].door.Armed.Load() != 0 } // pairs with the stores in Arm and Disarm

// Nudge has a goroutine of a peer poll that sleeps while it waits for something, and reports
// whether there was any. It is a system call.
func (f *Fabric) Nudge(peer int) bool {
	o := f.out[peer]
	seg, err := f.node.Segment(o.peer)
	if err != nil || !seg.Nudge() {
		return false
	}
	f.Ring(o.peer)
	return true
}

// SetWaits tells peers how many goroutines of this process sleep while they wait for
// something.
func (f *Fabric) SetWaits(n int) { f.seg.SetWaits(n) }

// Nudged reports whether a peer would have one of these poll, once for each time.
func (f *Fabric) Nudged() bool { return f.seg.Nudged() }

// TakeOffers takes what peers offer, and reports how many there were. Poll does it; whoever
// holds the engine's lock and waits for long without polling may.
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

// meetOffers finds peers that have begun to make offers, and reports whether there are
// any.
func (f *Fabric) meetOffers() bool {
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

// dropOffers takes no more offers of a peer.
func (f *Fabric) dropOffers(job int) {
	for i := range f.offers {
		if f.offers[i].job == job {
			f.offers = append(f.offers[:i], f.offers[i+1:]...)
			return
		}
	}
}
