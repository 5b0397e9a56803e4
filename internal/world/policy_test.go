package world

import (
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
)

// A process that has a core of its own polls, on for a while, and then sleeps: to yield would give the core to strangers.
// With more processes than cores who waits for a frame yields, with far more it sleeps at once. Who watches a word of a
// collective yields with both.
func TestWhoWaitsYieldsToRanksOnly(t *testing.T) {
	for _, x := range []struct{ processes, cores, loads, yields, words int }{
		{1, 1, 4000, 0, 0}, {2, 2, 4000, 0, 0}, {3, 4, 4000, 0, 0},
		{4, 2, 16, waitYields, waitYields}, {8, 2, 16, waitYields, waitYields}, {16, 2, 16, waitYields, waitYields},
		{17, 2, 16, 0, waitYields}, {64, 2, 16, 0, waitYields}, {256, 2, 16, 0, waitYields},
		{64, 8, 16, waitYields, waitYields}, {8, 1, 16, waitYields, waitYields}, {9, 1, 16, 0, waitYields},
	} {
		p := processPolicy(&boot.Job{Local: make([]int, x.processes), Cores: x.cores}, false, false)
		if p.Loads != x.loads || p.Yields != x.yields || p.WordYields != x.words {
			t.Errorf("%d processes on %d cores: %d polls, %d yields, %d for words, want %d, %d, %d", x.processes, x.cores, p.Loads, p.Yields, p.WordYields, x.loads, x.yields, x.words)
		}
		if s := processPolicy(&boot.Job{Local: make([]int, x.processes), Cores: x.cores}, true, true); x.processes <= x.cores && (s.Yields != waitYields || s.WordYields != waitYields || s.Longer != 0 || s.Slice < time.Hour) {
			t.Errorf("%d processes on %d cores, several threads: %d yields, %d for words, on for %v, slice %v", x.processes, x.cores, s.Yields, s.WordYields, s.Longer, s.Slice)
		}
		if want := x.processes <= x.cores; p.Longer > 0 != want {
			t.Errorf("%d processes on %d cores poll on for %v", x.processes, x.cores, p.Longer)
		}
		if want := x.processes <= 8*x.cores; p.Often != want {
			t.Errorf("%d processes on %d cores yield for threads: %v", x.processes, x.cores, p.Often)
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
