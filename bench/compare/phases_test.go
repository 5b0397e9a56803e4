package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// A row has the median, the 99th percentile, the processor time or the time of a step of the line with its operation.
func TestPhaseLinesFindTheirRows(t *testing.T) {
	lines, err := parseLines(strings.NewReader(
		`{"bench":"phases","fabric":"shm","ranks":2,"op":"exchange","layout":"","size":20,"us":1.5,"p99_us":30,"mean_us":2,"processor_us":1.75,"step_us":23}
{"bench":"phases","fabric":"shm","ranks":2,"op":"exchange","layout":"skewed","size":20,"us":20.5,"p99_us":50,"mean_us":22,"processor_us":-0.5}
{"bench":"phases","fabric":"tcp","ranks":2,"op":"allreduce","layout":"","size":20,"us":9,"p99_us":19,"mean_us":10,"processor_us":3,"step_us":31}
`))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, r := range phaseRows() {
		for _, l := range lines {
			if v, ok := r.figure(l); ok && r.strangers == 0 {
				found[r.name] = v
			}
		}
	}
	want := map[string]float64{
		"phases exchange 20 us": 1.5, "phases exchange 20 us p99": 30, "phases exchange 20 us processor": 1.75, "phases exchange 20 us step": 23,
		"phases exchange 20 us skewed": 20.5, "phases exchange 20 us skewed p99": 50,
		"phases allreduce 20 us 2 ranks tcp": 9, "phases allreduce 20 us 2 ranks tcp p99": 19, "phases allreduce 20 us 2 ranks tcp processor": 3, "phases allreduce 20 us 2 ranks tcp step": 31,
	}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("rows %v, want %v", found, want)
	}
}

// A run with strangers shares neither a job nor figures with one that has none.
func TestStrangersAreJobsOfTheirOwn(t *testing.T) {
	var got []string
	for _, j := range jobsOf(selectRows(phaseRows(), "phases lock")) {
		got = append(got, j.String())
	}
	const one = "phases shm, 2 ranks%s, sizes 5,20,60,500"
	want := []string{fmt.Sprintf(one, "")}
	for _, n := range []int{1, 2, 4} {
		want = append(want, fmt.Sprintf(one, fmt.Sprintf(", %d strangers", n)))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("jobs %q, want %q", got, want)
	}
	const row = "phases lock 20 us"
	r := newResults(selectRows(phaseRows(), row), []string{"halo"})
	r.startRound()
	size := 20
	for n, us := range map[int]float64{0: 1, 2: 3, 4: 5} {
		r.add("halo", n, []line{{Bench: "phases", Fabric: "shm", Ranks: 2, Op: "lock", Size: &size, US: us}})
	}
	figures := map[string]float64{}
	for i, rw := range r.rows {
		if rw.of == "" && !math.IsNaN(r.figures["halo"][i][0]) {
			figures[rw.name] = r.figures["halo"][i][0]
		}
	}
	if want := map[string]float64{row: 1, row + " beside 2": 3, row + " beside 4": 5}; fmt.Sprint(figures) != fmt.Sprint(want) {
		t.Errorf("figures %v, want %v", figures, want)
	}
}

// Strangers compute during the run, and have ended after it.
func TestStrangersRunBesideIt(t *testing.T) {
	children := func() (n int) {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Skip("this system has no /proc")
		}
		for _, task := range tasks {
			text, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
			n += len(strings.Fields(string(text)))
		}
		return n
	}
	before, during := children(), 0
	if _, err := besideStrangers(3, func() ([]line, error) { during = children(); return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if after := children(); during-before != 3 || after != before {
		t.Errorf("%d processes before, %d during the run, %d after it", before, during, after)
	}
}
