package node

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

// SetTaker makes PollOffers take the offers of peers; without it PollOffers takes none. It must be
// called before the first PollOffers.
func (n *Node) SetTaker(t Taker) { n.taker = t }

// offering is the memory in which a peer makes offers.
type offering struct {
	offer *shmfmt.Offer
	job   int
}

// Offer returns the memory in which this process makes offers to a peer of the node, nil if
// it cannot. The first call makes the peer look there, so call it only before an offer.
func (n *Node) Offer(peer int) *shmfmt.Offer {
	seg := n.Segment(peer)
	if seg == nil {
		return nil
	}
	offer := seg.Offer(n.me)
	if offer != nil {
		seg.Offers(n.me)
	}
	return offer
}

// scanEvery is after how many calls PollOffers looks for peers that make their first offer, even
// if frames arrive all the time.
const scanEvery = 64

// PollOffers takes the offers of peers, and reports how many there were. Whoever polls the fabrics
// calls it. It looks for peers that have begun to make offers when there is nothing else to do,
// which idle says of the frames, and every scanEvery calls. It exists so that it inlines.
func (n *Node) PollOffers(idle bool) int {
	n.turns++
	if idle || n.offers != nil || n.turns%scanEvery == 0 {
		return n.pollOffers()
	}
	return 0
}

func (n *Node) pollOffers() int {
	taken := 0
	if len(n.offers) > 0 {
		taken = n.TakeOffers()
	}
	if taken != 0 && n.turns%scanEvery != 0 {
		return taken
	}
	for w, known := range n.offered {
		if fresh := n.seg.Offering(w) &^ known; fresh != 0 && n.addOffers(w, fresh) {
			taken += n.TakeOffers()
		}
	}
	return taken
}

// TakeOffers takes the offers of peers that have made some before, and reports how many there
// were. A goroutine that holds the engine's lock and waits without polling may call it.
func (n *Node) TakeOffers() int {
	taken := 0
	for i := range n.offers {
		if o := &n.offers[i]; o.offer.Made() {
			taken += n.take(o)
		}
	}
	return taken
}

func (n *Node) take(o *offering) int {
	number, taken := o.offer.Take(&n.head)
	if !taken {
		return 0
	}
	o.offer.End(number, n.taker.TakeOffer(o.job, &n.head, o.offer.Data(), o.offer.Answer()))
	return 1
}

// addOffers adds the peers whose bits in word w of the bitmap are fresh, because they have begun to
// make offers. It reports whether it has added any.
func (n *Node) addOffers(w int, fresh uint64) bool {
	added := false
	n.offered[w] |= fresh
	for ; fresh != 0; fresh &= fresh - 1 {
		i := w*64 + bits.TrailingZeros64(fresh)
		if i >= len(n.members) || i == n.me || n.dropped[i] {
			continue
		}
		if offer := n.seg.Offer(i); offer != nil && n.taker != nil {
			n.offers = append(n.offers, offering{offer, n.members[i]})
			added = true
		}
	}
	return added
}

// dropOffers removes a peer from those whose offers are taken.
func (n *Node) dropOffers(job int) {
	for i := range n.offers {
		if n.offers[i].job == job {
			n.offers = append(n.offers[:i], n.offers[i+1:]...)
			return
		}
	}
}
