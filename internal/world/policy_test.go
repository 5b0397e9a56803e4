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

// Each P has memory of its own: a process in C has one for the one thread that calls and one for
// each service, one in a crowd has none to spare, and what the user has chosen holds.
func TestProcessesHaveNoMorePsThanTheyNeed(t *testing.T) {
	threads, several := Callers{Locked: true, Places: 4}, Callers{Locked: true, Several: true, Places: 4}
	goroutines := Callers{Places: 4}
	for i, x := range []struct {
		processes int
		callers   Callers
		threads   bool
		services  int
		chosen    bool
		places    int
	}{
		{1, goroutines, false, 0, false, 4}, {1, goroutines, false, 0, true, 4},
		{2, goroutines, false, 1, false, 5}, {16, goroutines, false, 1, false, 5}, {2, goroutines, false, 2, true, 5},
		{17, goroutines, false, 1, false, 1}, {256, goroutines, false, 1, false, 1}, {256, goroutines, false, 1, true, 5},
		{1, threads, true, 0, false, 1}, {1, threads, true, 0, true, 4},
		{2, threads, true, 1, false, 2}, {16, threads, true, 1, false, 2}, {16, threads, true, 2, false, 3}, {16, threads, true, 2, true, 5},
		{17, threads, true, 1, false, 2}, {17, threads, true, 2, false, 2}, {256, threads, true, 1, true, 5},
		{2, Callers{Locked: true, Places: 1}, true, 2, false, 2}, {2, Callers{Locked: true, Places: 1}, true, 1, true, 2},
		{1, several, true, 0, false, 4}, {16, several, true, 1, false, 5}, {17, several, true, 1, false, 2}, {256, several, true, 1, true, 5},
		{17, threads, false, 1, false, 1}, {256, several, false, 1, false, 1}, {256, threads, false, 1, true, 5},
	} {
		if got := threadPs(&boot.Job{Local: make([]int, x.processes), Cores: 2}, x.callers, x.threads, x.services, x.chosen); got != x.places {
			t.Errorf("%d: %+v: %d", i, x, got)
		}
	}
}
