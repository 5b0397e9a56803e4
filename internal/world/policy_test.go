package world

import (
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
)

// Who waits for a frame sleeps at once with far more processes than cores, and as ever with
// some more. Who watches a word of a collective sleeps as ever.
func TestWhoWaitsAmongManySleepsSooner(t *testing.T) {
	for _, x := range []struct{ processes, cores, yields int }{
		{2, 2, waitYields}, {4, 2, waitYields}, {8, 2, waitYields}, {16, 2, waitYields},
		{17, 2, 0}, {64, 2, 0}, {256, 2, 0},
		{64, 8, waitYields}, {8, 1, waitYields}, {9, 1, 0},
	} {
		p := processPolicy(&boot.Job{Local: make([]int, x.processes), Cores: x.cores}, false)
		if p.Yields != x.yields || p.WordYields != waitYields {
			t.Errorf("%d processes on %d cores: %d yields, and %d for words, want %d and %d", x.processes, x.cores, p.Yields, p.WordYields, x.yields, waitYields)
		}
	}
}

// In a crowd a process has no P to spare, unless the user has chosen.
func TestProcessesInACrowdSpareNoP(t *testing.T) {
	for _, x := range []struct {
		processes       int
		threads, chosen bool
		places          int
	}{
		{2, false, false, 5}, {16, false, false, 5}, {16, true, false, 5},
		{17, false, false, 1}, {17, true, false, 2}, {256, false, false, 1},
		{256, false, true, 5}, {256, true, true, 5},
	} {
		if got := places(&boot.Job{Local: make([]int, x.processes), Cores: 2}, x.threads, 4, x.chosen); got != x.places {
			t.Errorf("%+v: %d", x, got)
		}
	}
}
