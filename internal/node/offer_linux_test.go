package node_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// takers records the offers of each peer.
type takers struct{ heads map[int][]shmfmt.OfferHead }

func (s *takers) TakeOffer(from int, h *shmfmt.OfferHead, data, answer *[shmfmt.OfferData]byte) bool {
	if s.heads == nil {
		s.heads = map[int][]shmfmt.OfferHead{}
	}
	s.heads[from] = append(s.heads[from], *h)
	copy(answer[:], data[:8])
	return h.Do != 0
}

// PollOffers takes offers, also if no frame was sent. It takes none of a peer that was dropped, and none
// without a Taker.
func TestPollTakesOffers(t *testing.T) {
	h := nodetest.New(t, 3)
	f := h.Start(t)
	var by takers
	f[0].SetTaker(&by)
	for from := 1; from <= 2; from++ {
		for n := uint64(1); n <= 3; n++ {
			o := f[from].Offer(0)
			if o == nil {
				t.Fatal("no offers can be made")
			}
			copy(o.Data()[:], "answered")
			o.Make(n, &shmfmt.OfferHead{Window: 7, At: n, Do: uint32(n - 1), Size: 8})
			if got := f[0].PollOffers(true); got != 1 {
				t.Errorf("a poll that takes an offer took %d", got)
			}
			if ended, done := o.Ended(n); !ended || done != (n > 1) || string(o.Answer()[:8]) != "answered" {
				t.Errorf("offer %d of process %d: ended %v, done %v, %q", n, from, ended, done, o.Answer()[:8])
			}
		}
		if heads := by.heads[from]; len(heads) != 3 || heads[2] != (shmfmt.OfferHead{Window: 7, At: 3, Do: 2, Size: 8}) {
			t.Errorf("process %d has offered %+v", from, heads)
		}
	}
	f[0].Drop(2)
	for from := 1; from <= 2; from++ {
		o := f[from].Offer(0)
		o.Make(4, &shmfmt.OfferHead{Do: 1})
		f[0].PollOffers(true)
		if ended, _ := o.Ended(4); ended != (from == 1) {
			t.Errorf("the offer of process %d, 2 is dead: ended %v", from, ended)
		}
	}
	if f[0].Offer(2) != nil {
		t.Error("an offer can be made to the dead")
	}
	o := f[0].Offer(1) // which takes none
	o.Make(1, &shmfmt.OfferHead{Do: 1})
	f[1].PollOffers(true)
	if ended, _ := o.Ended(1); ended || !o.Retract(1) {
		t.Error("somebody has taken an offer for nobody")
	}
}

// Bits of processes that do not exist, and offers that no correct process makes, do no harm.
func TestForgedOffersHarmNobody(t *testing.T) {
	h := nodetest.New(t, 2)
	f := h.Start(t)
	var by takers
	f[0].SetTaker(&by)
	mem := h.Segment(t, 0)
	for i := 64; i < 80; i++ { // both bitmaps
		mem[i] = 0xff
	}
	seg, err := shmfmt.OpenSegment(mem, 0, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	seg.Offer(0).Make(1, &shmfmt.OfferHead{Do: 1}) // to itself
	seg.Offer(1).Make(^uint64(0), &shmfmt.OfferHead{Window: ^uint64(0), At: ^uint64(0), Do: ^uint32(0), Size: ^uint32(0)})
	for range 3 {
		f[0].PollOffers(true)
	}
	if len(by.heads[1]) != 1 || len(by.heads) != 1 || f[0].Losing() {
		t.Errorf("taken: %+v, lost %v", by.heads, f[0].TakeLosses())
	}
}
