package p2p

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// recordingSink is a sink that records its calls.
type recordingSink struct {
	frames, placing, placed []wire.Kind
	downs                   []int
	place                   []byte
}

func (o *recordingSink) Frame(_ int, h *wire.Header, _ []byte) { o.frames = append(o.frames, h.Kind) }
func (o *recordingSink) Place(_ int, h *wire.Header) []byte {
	o.placing = append(o.placing, h.Kind)
	return o.place
}
func (o *recordingSink) Placed(_ int, h *wire.Header) { o.placed = append(o.placed, h.Kind) }
func (o *recordingSink) Down(peer int, _ error)       { o.downs = append(o.downs, peer) }
func kinds(first, last wire.Kind) (k []wire.Kind) {
	for ; first <= last; first++ {
		k = append(k, first)
	}
	return k
}

// The frames of one-sided communication, and no others, go to another sink. It gets Down
// after this engine has completed the operations that the failure ends.
func TestOneSidedFramesAreHandedOver(t *testing.T) {
	e, _, w := alone(t)
	o := &recordingSink{place: make([]byte, 8)}
	e.SetOneSided(o)
	for k := wire.Eager; k <= wire.User; k++ {
		h := wire.Header{Kind: k, Size: 8, Name: 1}
		if dst := e.Place(1, &h); dst == nil {
			e.Frame(1, &h, make([]byte, 8))
		} else {
			e.Placed(1, &h)
		}
	}
	if want := kinds(wire.WinPut, wire.WinEpoch); !slices.Equal(o.placing, want) || !slices.Equal(o.placed, want) || o.frames != nil {
		t.Errorf("placed %v, then %v; whole %v; want %v", o.placing, o.placed, o.frames, want)
	}
	o.place = nil
	for k := wire.WinPut; k <= wire.WinEpoch; k++ {
		e.Frame(2, &wire.Header{Kind: k}, nil)
	}
	if want := kinds(wire.WinPut, wire.WinEpoch); !slices.Equal(o.frames, want) {
		t.Errorf("whole frames %v, want %v", o.frames, want)
	}
	if !slices.Equal(w.lost, []int{1}) { // because of the frame of kind User
		t.Errorf("peers %v are taken down", w.lost)
	}
	e.Down(1, errEnd)
	if !slices.Equal(o.downs, []int{1}) || e.p.DownCause(1) == nil {
		t.Errorf("told of the death of %v", o.downs)
	}
}
