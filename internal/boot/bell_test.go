package boot

import "testing"

// The name of a bell differs from the names of all other files, and identifies its rank.
func TestNamesOfBells(t *testing.T) {
	for _, rank := range []int{0, 1, 255, MaxRanks - 1} {
		if got, ok := BellRank(BellFile(rank)); !ok || got != rank {
			t.Errorf("the bell of rank %d is that of %d, %t", rank, got, ok)
		}
	}
	for _, which := range []int{ControlSegment, NotesSegment, 0, 1} {
		if rank, ok := BellRank(which); ok {
			t.Errorf("segment %d is the bell of rank %d", which, rank)
		}
	}
}

// More than 8 processes for each core oversubscribe a node.
func TestOversubscribed(t *testing.T) {
	for _, x := range []struct {
		processes, cores int
		crowded          bool
	}{{1, 1, false}, {8, 1, false}, {9, 1, true}, {16, 2, false}, {17, 2, true}, {64, 8, false}} {
		if j := (&Job{Local: make([]int, x.processes), Cores: x.cores}); j.Oversubscribed() != x.crowded {
			t.Errorf("%d processes on %d cores: %t", x.processes, x.cores, j.Oversubscribed())
		}
	}
}
