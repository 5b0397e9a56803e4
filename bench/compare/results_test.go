package main

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// A row is run again when its bar lies amid its ratios, and so is the row that the bar names.
func TestRowsThatAreUndecidedAreRunAgain(t *testing.T) {
	rows := []row{
		{name: "clear", unit: "us", bars: []bar{{factor: 1, of: "best"}}},
		{name: "one bad round", unit: "us", bars: []bar{{factor: 1, of: "best"}}},
		{name: "amid", unit: "us", bars: []bar{{factor: 1, of: "best"}}},
		{name: "other", unit: "us"},
		{name: "by other", unit: "us", bars: []bar{{factor: 2, of: "other"}}},
		{name: "by limit", unit: "us", limit: "copy", bars: []bar{{factor: 1.5, of: "limit"}}},
		{name: "no figure", unit: "us", bars: []bar{{factor: 1, of: "best"}}},
	}
	r := newResults(rows, []string{"halo", "mpich"})
	for round := range 5 {
		r.startRound()
		r.limits[slices.Index(rowNames(rows), "by limit")][round] = 1
		for i, halo := range [][]float64{
			{0.7, 0.8, 0.9, 0.7, 0.8},
			{0.7, 0.8, 1.9, 0.7, 0.8},
			{0.9, 0.9, 0.9, 1.1, 1.1},
			{1, 1, 1, 1, 1},
			{1.8, 1.9, 2.1, 2.2, 2.3},
			{1.6, 1.6, 1.7, 1.8, 1.2},
			{math.NaN(), math.NaN(), math.NaN(), 0.9, 1.1},
		} {
			r.figures["halo"][i][round], r.figures["mpich"][i][round] = halo[round], 1
		}
	}
	if got, want := rowNames(r.undecided()), []string{"amid", "other", "by other"}; !slices.Equal(got, want) {
		t.Errorf("to be run again are %q, want %q", got, want)
	}
}

// A round that does not measure a limit has NaN for it, so that the limits of later rounds keep their
// round.
func TestLimitsKeepTheirRound(t *testing.T) {
	j := job{bench: "bw", fabric: "shm", ranks: 2}
	r := newResults([]row{{name: "bw", bench: "bw", fabric: "shm", ranks: 2, limit: "copy"}}, nil)
	r.startRound()
	r.addLimits(j, map[string]float64{"copy": 1, line64: 0.1}, nil)
	r.startRound()
	r.startRound()
	r.addLimits(j, map[string]float64{"copy": 3}, nil)
	if v := r.limits[0]; len(v) != 3 || v[0] != 1 || !math.IsNaN(v[1]) || v[2] != 3 {
		t.Errorf("limits of three rounds, the second without: %v", v)
	}
}

// A failure of a peer is excused unless all runs of the peer failed. A failure of Halo is never excused.
func TestFailuresOfPeersAreExcusedUnlessAllFailed(t *testing.T) {
	r := newResults(nil, columns())
	fence, put := job{bench: "fence", fabric: "tcp", ranks: 2}, job{bench: "put", fabric: "tcp", ranks: 2}
	for round := range 5 {
		r.startRound()
		for _, c := range columns() {
			r.attempt(c, fence)
		}
		if round == 0 {
			r.attempt("mpich", put)
			r.fail("mpich", put, errors.New("never worked"))
			r.fail("openmpi", fence, errors.New("once"))
			r.fail(clibrary, fence, errors.New("ours"))
		}
	}
	var got []string
	for _, f := range r.unexcused() {
		got = append(got, f.err.Error())
	}
	if want := []string{"never worked", "ours"}; !slices.Equal(got, want) {
		t.Errorf("not excused are %q, want %q", got, want)
	}
}
