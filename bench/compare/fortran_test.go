package main

import (
	"strings"
	"testing"
)

// The Fortran library is no peer, and its bars are its own: 10 ns a call beyond C, and a section as
// fast as the datatype of its places.
func TestBarsOfTheFortranLibrary(t *testing.T) {
	r := newResults(allRows(), columns())
	at := func(name string) int { return rowIndex(t, r, name) }
	latency, direct, typed := at("latency shm 8 B"), at("section 1000 x 1000"), at("section 1000 x 1000, datatype")
	for k, more := range []float64{0.01, 0.03, 0.02} {
		r.startRound()
		r.figures[clibrary][latency][k], r.figures[fortran][latency][k] = 0.1, 0.1+more
		r.figures[fortran][direct][k], r.figures[fortran][typed][k] = 1000+1000*more, 1000
	}
	notes := strings.Join(r.fortranNotes(), "\n")
	for _, w := range []string{
		"the bar is 10: latency shm 8 B 10.0 (5.00-15.0).",
		"a section takes 1.02 x the time of the datatype (1.01-1.03), the bar is 1.",
	} {
		if !strings.Contains(notes, w) {
			t.Errorf("%q is not in\n%s", w, notes)
		}
	}
	if isPeer(fortran) || r.bestPeer(latency) != "" {
		t.Errorf("%s is a peer", fortran)
	}
	if n := newResults(allRows(), []string{"halo", clibrary}).fortranNotes(); n != nil {
		t.Errorf("without the column: %v", n)
	}
	// The two libraries alone have no rows to decide.
	two := newResults(allRows(), []string{clibrary, fortran})
	two.startRound()
	if u := two.undecided(); len(u) > 0 {
		t.Errorf("undecided without halo: %v", rowNames(u))
	}
}

// Only the Fortran library runs what is in Fortran alone, and it runs no loops in C.
func TestJobsOfTheFortranLibrary(t *testing.T) {
	for _, j := range jobsOf(allRows()) {
		for _, name := range columns() {
			m := &implementation{name: name}
			_, runs := m.about(j)
			switch {
			case name == fortran && runs != inFortran(j), name != fortran && j.bench == "section" && runs:
				t.Errorf("%s runs %s: %v", name, j, runs)
			}
		}
	}
}
