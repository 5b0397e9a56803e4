package coll

import (
	"reflect"
	"testing"

	"github.com/halo-mpi/halo/internal/coll/choice"
)

// All members of an algorithm that is shifted do what rank 0 does, with the ranks that are higher by their
// own.
func TestShiftedAlgorithms(t *testing.T) {
	for a := choice.Auto + 1; a.Kind() < Kind(Kinds); a++ {
		if !shifted(a) {
			continue
		}
		for n := 1; n < 20; n++ {
			moving, err := NewTracer(a, n, 0, 8)
			if err != nil {
				t.Fatal(err)
			}
			each, _ := NewTracer(a, n, 0, 8)
			each.shifted = false
			for rank := range n {
				for number, more := 0, n > 1; more; number++ {
					got, m1 := moving.Round(rank, number)
					want, m2 := each.Round(rank, number)
					if !reflect.DeepEqual(append([]Transfer{}, got.Sends...), append([]Transfer{}, want.Sends...)) ||
						!reflect.DeepEqual(append([]Transfer{}, got.Receives...), append([]Transfer{}, want.Receives...)) || got.Work != want.Work || m1 != m2 {
						t.Errorf("%v: rank %d of %d, round %d: %+v %v, want %+v %v", a, rank, n, number, got, m1, want, m2)
					}
					more = m2
				}
			}
		}
	}
}

// Algorithms whose rounds depend on more than the number of members have no Tracer, and arguments that no
// collective has are errors.
func TestWhatHasNoTracer(t *testing.T) {
	for _, a := range []choice.Algorithm{choice.BcastChain, choice.BarrierLeaders, choice.AlltoallvDirect, choice.NeighborAlltoallDirect} {
		if _, err := NewTracer(a, 4, 0, 8); err == nil {
			t.Errorf("%v has a Tracer", a)
		}
	}
	for _, x := range [][3]int{{0, 0, 8}, {4, 4, 8}, {4, -1, 8}, {4, 0, -1}} {
		if _, err := NewTracer(choice.BcastBinomial, x[0], x[1], x[2]); err == nil {
			t.Errorf("members, root, bytes %v: no error", x)
		}
	}
}
