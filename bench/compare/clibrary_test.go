package main

import (
	"strings"
	"testing"
)

// Halo's C library is no peer of Halo, and its bars are its own: put and flush as the best
// peer's, and no call more than 130 ns slower than from Go.
func TestBarsOfTheCLibrary(t *testing.T) {
	for _, c := range []struct {
		put, sum, halo, c float64
		want              []string
	}{
		{0.1, 2, 1, 1.2, []string{"takes 0.500 x the best peer's time", "2 of 2 rows"}},
		{0.3, 2, 1, 1.4, []string{"takes 1.50 x", "1 of 2 rows", "1 take more in every round", "acc shm float64 64 KiB (0.200 us, 0.200-0.200; 2 calls)"}},
	} {
		r := newResults(oneSidedRows(), columns())
		r.startRound()
		put, acc := rowIndex(t, r, "put shm allocate 8 B"), rowIndex(t, r, "acc shm float64 64 KiB")
		r.figures["openmpi"][put][0], r.figures["halo"][put][0], r.figures[clibrary][put][0] = 0.2, 0.1, c.put
		r.figures["openmpi"][acc][0], r.figures["halo"][acc][0], r.figures[clibrary][acc][0] = c.sum, c.halo, c.c
		if best := r.bestPeer(put); best != "openmpi" {
			t.Errorf("the best peer is %s", best)
		}
		notes := strings.Join(r.clibraryNotes(), "\n")
		for _, w := range c.want {
			if !strings.Contains(notes, w) {
				t.Errorf("%q is not in\n%s", w, notes)
			}
		}
	}
	if n := newResults(oneSidedRows(), []string{"halo", "mpich"}).clibraryNotes(); n != nil {
		t.Errorf("without the column: %v", n)
	}
}

// A row that is above the bar in every round is told from one that may be noise.
func TestNoiseIsToldFromWhatIsAlwaysAbove(t *testing.T) {
	r := newResults(oneSidedRows(), columns())
	noisy, sure := rowIndex(t, r, "acc shm float64 64 KiB"), rowIndex(t, r, "acc shm float64 4 KiB")
	for k, more := range []float64{0.1, 0.4, 0.5} {
		r.startRound()
		r.figures["halo"][noisy][k], r.figures[clibrary][noisy][k] = 1, 1+2*more
		r.figures["halo"][sure][k], r.figures[clibrary][sure][k] = 1, 1+2*(more+0.1)
	}
	notes := strings.Join(r.clibraryNotes(), "\n")
	for _, w := range []string{
		"0 of 2 rows",
		"1 take more in every round (median, min-max): acc shm float64 4 KiB (0.500 us, 0.200-0.600; 2 calls);",
		"1 take more in the median, but not in every round: acc shm float64 64 KiB (0.400 us, 0.100-0.500; 2 calls).",
	} {
		if !strings.Contains(notes, w) {
			t.Errorf("%q is not in\n%s", w, notes)
		}
	}
}

// Bars of the C library are stated for times and for rates.
func TestBarsOfRowsForTheCLibrary(t *testing.T) {
	r := newResults(baseRows(), columns())
	r.startRound()
	for name, figure := range map[string]float64{"latency shm 8 B": 0.08, "msgrate shm 8 B": 30, "matching posted 10": 0.05} {
		i := rowIndex(t, r, name)
		r.figures["openmpi"][i][0], r.figures[clibrary][i][0] = 1, figure
	}
	notes := strings.Join(r.clibraryNotes(), "\n")
	for _, w := range []string{
		"halo-c: latency shm 8 B takes 0.080 x the best peer's time, the bar is 0.9.",
		"halo-c: msgrate shm 8 B has 30.0 x the best peer's rate, the bar is 1.",
		"halo-c: matching posted 10 takes 0.050 x the best peer's time, the bar is 1.6.",
	} {
		if !strings.Contains(notes, w) {
			t.Errorf("%q is not in\n%s", w, notes)
		}
	}
}

// Every row whose figure is a time of calls has their number.
func TestRowsSayHowManyCallsTheyAre(t *testing.T) {
	for _, r := range allRows() {
		if n := r.calls(); (n == 0) != (r.unit != "us" || r.bench == "matching" || r.bench == "phases") {
			t.Errorf("%s has %v calls", r.name, n)
		}
	}
}

func TestCommandLineOfTheCLibrary(t *testing.T) {
	m := &implementation{name: clibrary, program: "/b/p", command: func(j job, _ int) []string { return []string{"/b/halo", "run", "-n", "2", "-fabric", j.fabric} }}
	j := job{bench: "put", fabric: "tcp", ranks: 2, sizes: []int{8}}
	if got, want := strings.Join(m.arguments(j, 2), " "), "/b/halo run -n 2 -fabric tcp /b/p put -fabric tcp -sizes 8"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := m.text(m.arguments(j, 2)), "halo run -n 2 -fabric tcp p put -fabric tcp -sizes 8"; got != want {
		t.Errorf("in the report %s, want %s", got, want)
	}
}
