package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// phased is one row of five rounds, in which the machine had these times of a cache line before and
// after the row.
func phased(probes [5]probe, halo, mpich [5]float64) *results {
	j := job{bench: "latency", fabric: "shm", ranks: 2}
	r := newResults([]row{{name: "latency", bench: "latency", fabric: "shm", ranks: 2, unit: "us", limit: "copy", bars: []bar{{factor: 1, of: "best"}, {factor: 2, of: "limit"}}}},
		[]string{"halo", "mpich"})
	for k, p := range probes {
		r.startRound()
		r.addLimits(j, map[string]float64{line64: p.before, "copy": p.before}, map[string]float64{line64: p.after})
		r.figures["halo"][0][k], r.figures["mpich"][0][k] = halo[k], mpich[k]
	}
	return r
}

// A row is decided by the rounds of the phase in which most of its rounds were, and names it.
func TestRowsAreDecidedWithinAPhase(t *testing.T) {
	f, s := probe{0.05, 0.06}, probe{0.2, 3}
	for _, c := range []struct {
		probes       [5]probe
		phase, halo  string
		ratio, limit string
		met          string
	}{
		{[5]probe{f, s, f, s, f}, "fast 3/5", "0.060", "0.600", "0.050", "yes"},
		{[5]probe{s, s, f, s, f}, "slow 3/5", "0.400", "*1.33", "0.200", "missed by 33.3 %"},
		{[5]probe{f, f, f, f, f}, "fast", "0.060", "0.600", "0.050", "yes"},
		{[5]probe{f, {0.05, 0.2}, f, {0.2, 0.05}, s}, "fast 2/5", "0.060", "0.600", "0.050", "yes"},
		{[5]probe{f, {0.05, math.NaN()}, s, f, f}, "fast 3/5", "0.060", "0.600", "0.050", "yes"},
	} {
		halo, mpich := [5]float64{}, [5]float64{}
		for k, p := range c.probes {
			halo[k], mpich[k] = 0.06, 0.1
			if p == s {
				halo[k], mpich[k] = 0.4, 0.3
			} else if p != f {
				halo[k], mpich[k] = 9, 1 // belongs to no phase
			}
		}
		r := phased(c.probes, halo, mpich)
		cells := r.table(false)[1]
		if got, want := strings.Join([]string{cells[2], cells[4], cells[6], cells[7], cells[9]}, ", "),
			strings.Join([]string{c.halo, c.ratio, c.limit, c.phase, c.met}, ", "); got != want {
			t.Errorf("%v: %s, want %s", c.probes, got, want)
		}
	}
}

// Without a time of a cache line there are no phases, and all rounds count.
func TestRowsWithoutPhases(t *testing.T) {
	n := math.NaN()
	r := phased([5]probe{{n, n}, {n, n}, {n, n}, {n, n}, {n, n}}, [5]float64{1, 2, 3, 4, 5}, [5]float64{2, 2, 2, 2, 2})
	if cells := r.table(false)[1]; cells[2] != "3.00" || cells[4] != "*1.50" || cells[7] != "" {
		t.Errorf("%q", cells)
	}
}

// A row with too few rounds in one phase is run again.
func TestRowsBetweenPhasesAreRunAgain(t *testing.T) {
	f, s := probe{0.05, 0.06}, probe{0.2, 3}
	few := phased([5]probe{f, {0.05, 1}, {1, 0.05}, f, s}, [5]float64{1, 1, 1, 1, 1}, [5]float64{2, 2, 2, 2, 2})
	if got := rowNames(few.undecided()); len(got) != 1 {
		t.Errorf("two of five rounds are fast: to be run again are %q", got)
	}
	if got := rowNames(phased([5]probe{f, f, {1, 0.05}, f, s}, [5]float64{1, 1, 1, 1, 1}, [5]float64{2, 2, 2, 2, 2}).undecided()); len(got) != 0 {
		t.Errorf("three of five rounds are fast: to be run again are %q", got)
	}
}

// A process that measures limits prints each when it is known, so that one that never ends costs the others
// nothing.
func TestLimitsThatNeverEnd(t *testing.T) {
	got, err := limitsBy(exec.Command("sh", "-c", `echo '{"a": 1.5}'; echo '{"b": 2}'; kill -9 $$`))
	if err == nil || !strings.Contains(err.Error(), "killed") || got["a"] != 1.5 || got["b"] != 2 {
		t.Errorf("limits %v, error %v", got, err)
	}
	if got, err := limitsBy(exec.Command("sh", "-c", `echo '{"a": 1.5}'`)); err != nil || got["a"] != 1.5 {
		t.Errorf("limits %v, error %v", got, err)
	}
	if _, err := limitsBy(exec.Command("sh", "-c", `echo nonsense`)); err == nil {
		t.Error("nonsense is no error")
	}
}

// What measures prints what it is asked for, and leaves out what it does not know.
func TestLimitsArePrinted(t *testing.T) {
	var out bytes.Buffer
	printLimits([]string{"atomic add", "nonsense"}, &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if _, err := os.Stat("/proc/self"); err == nil && (len(lines) != 2 || !strings.HasPrefix(lines[0], `{"atomic add":0.`) || lines[1] != "{}") {
		t.Errorf("%q", lines)
	}
}

// The page of the documentation says when and on what it was measured, and shows the chart beside it.
func TestPage(t *testing.T) {
	r := sample()
	r.began = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	r.revision = ", revision 0123abcd"
	path := filepath.Join(t.TempDir(), "performance.md")
	if err := r.writePage(path); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Performance\n", "Measured on 26 November 2026, revision 0123abcd: 2 cores, sample.", "](performance.svg)", "| latency shm 8 B |", "rows with a bar meet it"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in the page:\n%.500s", want, page)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "performance.svg")); err != nil {
		t.Error(err)
	}
	if err := r.writePage(filepath.Join(path, "below a file")); err == nil {
		t.Error("a page that cannot be written is no error")
	}
}
