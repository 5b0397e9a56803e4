package main

import (
	"math"
	"slices"
	"testing"
)

// Runs with more ranks than two are of one application each; those with strangers are runs of their own.
func TestProxiesOfManyRanksAreJobsOfTheirOwn(t *testing.T) {
	var jobs []string
	for _, j := range jobsOf(proxyRows()) {
		jobs = append(jobs, j.String())
	}
	want := []string{"proxy shm, 1 ranks"}
	for _, beside := range []string{"", ", 1 strangers", ", 2 strangers", ", 4 strangers"} {
		want = append(want, "proxy shm, 2 ranks"+beside)
		for _, name := range proxyNames() {
			want = append(want, "proxy shm, 4 ranks, -op "+name+beside)
		}
	}
	if !slices.Equal(jobs, want) {
		t.Errorf("jobs %q, want %q", jobs, want)
	}
}

// Without a peer in time a row has no bar.
func TestProxiesThatNoPeerRunsHaveNoBars(t *testing.T) {
	openmpi := &implementation{name: "openmpi", stuck: map[string]bool{}}
	for _, r := range proxyRows() {
		_, runs := openmpi.about(jobsOf([]row{r})[0])
		if r.ranks > 1 && runs != (r.bars != nil) || runs != (r.ranks < 4 || r.strangers == 0 || r.variant != "tasks" && r.variant != "walk") {
			t.Errorf("%s: Open MPI runs it: %v, bars %v", r.name, runs, r.bars)
		}
	}
}

// The notes name the applications in which the C library is slower than the best peer, and how the compilers differ.
func TestProxiesAreJudgedForTheCLibrary(t *testing.T) {
	r := newResults(proxyRows(), columns())
	r.startRound()
	for name, ms := range map[string][3]float64{"proxy cg 2 ranks": {3, 3, 2}, "proxy md 2 ranks": {1, 1, 2}, "proxy cg 1 rank": {6, 4, 5}} {
		for k, c := range []string{"halo", clibrary, "openmpi"} {
			r.figures[c][rowIndex(t, r, name)][0] = ms[k]
		}
	}
	want := []string{"halo-c: 1 of 2 applications take at most the best peer's time; others take more: proxy cg 2 ranks (1.50 x, 1.50-1.50).",
		"On one rank, with nothing but their own loops, applications in Go take this times as long as in C with Halo's library: cg 1.50."}
	if got := r.proxyNotes(); !slices.Equal(got, want) {
		t.Errorf("notes\n%q\nwant\n%q", got, want)
	}
	if got := newResults(baseRows(), columns()).proxyNotes(); got != nil {
		t.Errorf("without applications: %q", got)
	}
	for i := range r.rows {
		if math.IsNaN(r.figures["halo"][i][0]) && r.rows[i].calls() != 0 {
			t.Errorf("%s is a time of calls", r.rows[i].name)
		}
	}
}
