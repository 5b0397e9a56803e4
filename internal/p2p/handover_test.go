package p2p

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// overheard is a sink that notes what it is given.
type overheard struct {
	whole, begun, done []wire.Kind
	down               []int
	place              []byte
}

func (o *overheard) Frame(_ int, h *wire.Header, _ []byte) { o.whole = append(o.whole, h.Kind) }
func (o *overheard) Place(_ int, h *wire.Header) []byte {
	o.begun = append(o.begun, h.Kind)
	return o.place
}
func (o *overheard) Placed(_ int, h *wire.Header) { o.done = append(o.done, h.Kind) }
func (o *overheard) Down(peer int, _ error)       { o.down = append(o.down, peer) }
func kinds(first, last wire.Kind) (k []wire.Kind) {
	for ; first <= last; first++ {
		k = append(k, first)
	}
	return k
}

// The frames of one-sided communication, and no others, are another layer's; and it
// hears of deaths when this one has ended what they end.
func TestOneSidedFramesAreHandedOver(t *testing.T) {
	e, _, w := alone(t)
	o := &overheard{place: make([]byte, 8)}
	e.HandOver(o)
	for k := wire.Eager; k <= wire.User; k++ {
		h := wire.Header{Kind: k, Size: 8, Name: 1}
		if dst := e.Place(1, &h); dst == nil {
			e.Frame(1, &h, make([]byte, 8))
		} else {
			e.Placed(1, &h)
		}
	}
	if want := kinds(wire.WinPut, wire.WinEpoch); !slices.Equal(o.begun, want) || !slices.Equal(o.done, want) || o.whole != nil {
		t.Errorf("placed %v, then %v; whole %v; want %v", o.begun, o.done, o.whole, want)
	}
	o.place = nil
	for k := wire.WinPut; k <= wire.WinEpoch; k++ {
		e.Frame(2, &wire.Header{Kind: k}, nil)
	}
	if want := kinds(wire.WinPut, wire.WinEpoch); !slices.Equal(o.whole, want) {
		t.Errorf("whole frames %v, want %v", o.whole, want)
	}
	if !slices.Equal(w.lost, []int{1}) { // for the kind User
		t.Errorf("peers %v are taken down", w.lost)
	}
	e.Down(1, errEnd)
	if !slices.Equal(o.down, []int{1}) || e.p.DownCause(1) == nil {
		t.Errorf("told of the death of %v", o.down)
	}
}
