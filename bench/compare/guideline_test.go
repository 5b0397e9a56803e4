package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each guideline has a row for the call, whose bar is the row of the other calls: of the same run, and of a figure
// that the same unit has.
func TestGuidelinesReferToRowsOfTheSameRun(t *testing.T) {
	rows := guidelineRows()
	names, bars := rowNames(rows), 0
	for _, r := range rows {
		if r.bars == nil {
			continue
		}
		bars++
		k := slices.Index(names, r.bars[0].of)
		if k < 0 {
			t.Errorf("%s: no row %q", r.name, r.bars[0].of)
			continue
		}
		other := rows[k]
		if other.bars != nil || other.bench != r.bench || other.ranks != r.ranks || other.size != r.size || other.unit != r.unit || other.variant == r.variant {
			t.Errorf("%+v is compared with %+v", r, other)
		}
	}
	if bars != len(rows)/2 {
		t.Errorf("%d guidelines in %d rows", bars, len(rows))
	}
	var jobs []string
	for _, j := range jobsOf(rows) {
		jobs = append(jobs, j.String())
	}
	want := []string{"guideline shm, 2 ranks, sizes 8,4096,1048576", "guideline shm, 4 ranks, sizes 8,4096,1048576",
		"waitsome shm, 2 ranks, sizes 600,6000,60000", "waitsome shm, 4 ranks, sizes 600,6000,60000"}
	if !slices.Equal(jobs, want) {
		t.Errorf("jobs %q, want %q", jobs, want)
	}
}

func TestGuidelineLinesFindTheirRows(t *testing.T) {
	lines, err := parseLines(strings.NewReader(
		`{"bench":"guideline","fabric":"shm","ranks":2,"size":8,"layout":"bcast","us":0.25}
{"bench":"guideline","fabric":"shm","ranks":2,"size":8,"layout":"scatter+allgather","us":0.75}
{"bench":"waitsome","fabric":"shm","ranks":4,"size":600,"layout":"complete waits","us":0.125}
{"bench":"proxy","fabric":"shm","ranks":2,"op":"cg","us":1500}
{"bench":"proxy","fabric":"shm","ranks":1,"op":"md","us":2500}
`))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, r := range append(guidelineRows(), proxyRows()...) {
		for _, l := range lines {
			if v, ok := r.figure(l); ok && r.strangers == 0 {
				found[r.name] = v
			}
		}
	}
	want := map[string]float64{"guideline bcast 8 B 2 ranks": 0.25, "guideline scatter+allgather 8 B 2 ranks": 0.75,
		"guideline waits 600 complete 4 ranks": 125, "proxy cg 2 ranks": 1.5, "proxy md 1 rank": 2.5}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("rows %v, want %v", found, want)
	}
}

// The notes say of each column but Halo from Go, which has the bars, how many guidelines hold.
func TestGuidelinesAreCountedForOtherColumns(t *testing.T) {
	r := newResults(guidelineRows(), columns())
	for round := range 3 {
		r.startRound()
		for name, us := range map[string]float64{"guideline bcast 8 B 2 ranks": 1.5, "guideline scatter+allgather 8 B 2 ranks": 1,
			"guideline waitsome 600 complete 2 ranks": 10, "guideline waits 600 complete 2 ranks": 20} {
			for _, c := range []string{"halo", clibrary, "openmpi"} {
				r.figures[c][rowIndex(t, r, name)][round] = us
			}
		}
		r.figures["openmpi"][rowIndex(t, r, "guideline bcast 8 B 2 ranks")][round] = 0.5
	}
	want := []string{"halo-c: 1 of 2 guidelines hold; others are slower than the calls with the same effect: guideline bcast 8 B 2 ranks (1.50 x, 1.50-1.50).",
		"openmpi: 2 of 2 guidelines hold."}
	if got := r.guidelineNotes(); !slices.Equal(got, want) {
		t.Errorf("notes\n%q\nwant\n%q", got, want)
	}
	if got := r.met(rowIndex(t, r, "guideline bcast 8 B 2 ranks")); got != "missed by 50.0 %" {
		t.Errorf("1.5 times the time of the other calls: %q", got)
	}
}
