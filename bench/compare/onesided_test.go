package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Every kind of run is one job, so that its rows cost one launch.
func TestOneSidedJobs(t *testing.T) {
	jobs := jobsOf(oneSidedRows())
	seen := map[string]bool{}
	for _, j := range jobs {
		s := j.String()
		if seen[s] {
			t.Errorf("%s runs twice", s)
		}
		seen[s] = true
		if !j.oneSided() || j.ranks != 2 {
			t.Errorf("%s is no job of one-sided communication on two ranks", s)
		}
	}
	for _, want := range []string{
		"put shm, 2 ranks, -win allocate,shared,create,dynamic,create-heap,dynamic-heap, sizes 8",
		"put tcp, 2 ranks, -win allocate,dynamic-heap, sizes 8",
		"put tcp, 2 ranks, sizes 65536,1048576",
		"acc shm, 2 ranks, -types float64, sizes 8,4096,32768,65536,262144",
		"mtflush tcp, 2 ranks, -workers 1,32",
		"passive tcp, 2 ranks, -busy-ms 100 -win allocate,dynamic-heap",
	} {
		if !seen[want] {
			t.Errorf("no job %q", want)
		}
	}
	names := rowNames(allRows())
	slices.Sort(names)
	if n := len(names); n != len(slices.Compact(names)) {
		t.Error("two rows have one name: a bar cannot refer to them")
	}
	for _, r := range oneSidedRows() {
		for _, b := range r.bars {
			if b.of != "best" && b.of != "limit" && b.of != "us" && !slices.Contains(names, b.of) {
				t.Errorf("%s has a bar of %q, which is no row", r.name, b.of)
			}
		}
	}
}

func TestOneSidedLinesFindTheirRows(t *testing.T) {
	lines, err := parseLines(strings.NewReader(`{"bench":"put","fabric":"shm","ranks":2,"win":"allocate","size":8,"us":0.025,"mbps":800.0,"mrate":100000000}
{"bench":"put","fabric":"shm","ranks":2,"win":"dynamic-heap","size":8,"us":0.43,"mbps":20.0,"mrate":2500000}
{"bench":"put","fabric":"shm","ranks":2,"win":"allocate","size":65536,"us":2.5,"mbps":50000.0,"mrate":800000}
{"bench":"acc","fabric":"shm","ranks":2,"win":"allocate","type":"int8","size":65536,"us":1.5}
{"bench":"fop","fabric":"tcp","ranks":2,"win":"allocate","type":"int64","size":8,"us":9.5}
{"bench":"lock","fabric":"shm","ranks":2,"win":"allocate","lock":"shared","size":8,"us":0.1}
{"bench":"mtflush","fabric":"tcp","ranks":2,"win":"allocate","workers":32,"us":64,"mrate":500000}
{"bench":"passive","fabric":"shm","ranks":2,"win":"allocate","op":"put","busy":1,"ops":20000,"early":20000,"busy_us":0.05,"attentive_us":0.04}
{"bench":"passive","fabric":"shm","ranks":2,"win":"create-heap","op":"acc","busy":1,"ops":2,"early":1,"busy_us":30000,"attentive_us":0.5}
{"bench":"passive","fabric":"tcp","ranks":2,"win":"dynamic-heap","op":"acc","busy":4,"ops":100,"early":100,"busy_us":900,"attentive_us":8}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := newResults(oneSidedRows(), columns())
	r.startRound()
	r.add("mpich", 0, lines)
	want := map[string]float64{"put shm allocate 8 B": 0.025, "put shm 8 B in flight": 100, "put shm dynamic-heap 8 B": 0.43, "put shm 64 KiB in flight": 50000,
		"acc shm int8 64 KiB": 1.5, "fop tcp int64": 9.5, "lock shm shared": 0.1, "mtflush tcp 32": 64, "mtflush tcp 32 rate": 0.5,
		"passive shm allocate put": 0.05, "passive shm allocate put, attentive": 0.04,
		"passive shm create-heap acc": math.Inf(1), "passive tcp dynamic-heap acc, all cores": 900}
	for i := range r.rows {
		got := r.figures["mpich"][i][0]
		if w, ok := want[r.rows[i].name]; ok && got != w || !ok && !math.IsNaN(got) {
			t.Errorf("%s: %v, want %v", r.rows[i].name, got, w)
		}
	}
}

// one is a report of one row with one round of figures.
func one(t *testing.T, name string, figures map[string]float64) *results {
	t.Helper()
	r := newResults(oneSidedRows(), columns())
	r.startRound()
	i := rowIndex(t, r, name)
	for column, v := range figures {
		r.figures[column][i][0] = v
	}
	return r
}

// A target that makes progress only in calls of MPI is reported as such, and meets no bar.
func TestOperationsThatWaitForTheTarget(t *testing.T) {
	const name = "passive tcp allocate put"
	inf := math.Inf(1)
	for _, c := range []struct {
		halo, mpich float64
		want        string
	}{{17, inf, "yes"}, {51, inf, "missed by 2.00 %"}, {inf, inf, "missed by all"}, {inf, 3, "missed by all"}} {
		r := one(t, name, map[string]float64{"halo": c.halo, "mpich": c.mpich})
		i := rowIndex(t, r, name)
		if got := r.met(i); got != c.want {
			t.Errorf("halo %v, mpich %v: %q, want %q", c.halo, c.mpich, got, c.want)
		}
		line := r.table(false)[1+i]
		if (line[2] == "none") != math.IsInf(c.halo, 1) || (line[5] == "none") != math.IsInf(c.mpich, 1) {
			t.Errorf("halo %v, mpich %v: %q", c.halo, c.mpich, line)
		}
		if s := r.svg(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Error("the chart has positions that are no numbers")
		}
		if _, err := r.lines(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(r.text(), "none: operations were not complete") {
			t.Error("the report does not say what none is")
		}
	}
}

// A window over memory of AllocMem may take 10 % or 5 ns more than an allocated one.
func TestBarWithSlack(t *testing.T) {
	for _, c := range []struct {
		allocate, create float64
		want             string
	}{{0.02, 0.025, "yes"}, {0.02, 0.026, "missed by 4.00 %"}, {0.2, 0.22, "yes"}, {0.2, 0.242, "missed by 10.0 %"}} {
		r := one(t, "put shm create 8 B", map[string]float64{"halo": c.create})
		r.figures["halo"][rowIndex(t, r, "put shm allocate 8 B")][0] = c.allocate
		if got := r.met(rowIndex(t, r, "put shm create 8 B")); got != c.want {
			t.Errorf("%v beside %v: %q, want %q", c.create, c.allocate, got, c.want)
		}
	}
}

// Open MPI is not run where it does not work, and the report says so.
func TestWhatOpenMPICannotDo(t *testing.T) {
	peer := &implementation{name: "openmpi"}
	for _, c := range []struct {
		j    job
		text string
		runs bool
	}{
		{job{bench: "put", fabric: "tcp"}, "no working one-sided communication over TCP", false},
		{job{bench: "cas", fabric: "shm"}, "single-copy", true},
		{job{bench: "put", fabric: "shm"}, "", true},
		{job{bench: "latency", fabric: "tcp"}, "", true},
	} {
		remark, runs := peer.about(c.j)
		if runs != c.runs || !strings.Contains(remark, c.text) || (c.text == "") != (remark == "") {
			t.Errorf("%s: %q, %v", c.j, remark, runs)
		}
	}
	if _, runs := (&implementation{name: "mpich"}).about(job{bench: "put", fabric: "tcp"}); !runs {
		t.Error("MPICH is not run")
	}
	j := job{bench: "put", fabric: "tcp"}
	if _, runs := (&implementation{name: "mpich", stuck: map[string]bool{j.String(): true}}).about(j); runs {
		t.Error("a job that did not end is tried again")
	}
	r := newResults(oneSidedRows(), columns())
	r.remark("something to know")
	r.remark("something to know")
	if strings.Count(r.text(), "something to know") != 1 {
		t.Error("a remark is not reported once")
	}
}

// Benchmarks with several threads are not bound to cores.
func TestRanksWithManyThreadsAreNotBound(t *testing.T) {
	for bench, want := range map[string]string{"mtflush": "none", "passive": "none", "put": "core"} {
		if got := bindTo(job{bench: bench, ranks: 2}, 2); got != want {
			t.Errorf("%s is bound to %s, want %s", bench, got, want)
		}
	}
	j := job{bench: "passive", fabric: "tcp", ranks: 2, args: "-busy-ms 100 -win allocate"}
	if got, want := strings.Join(launchLibrary("/b", j, 2), " "), "/b/halo run -bind none -n 2 -fabric tcp"; got != want {
		t.Errorf("the C library: %s\nwant %s", got, want)
	}
	m := &implementation{name: "halo", program: "/b/halo"}
	if got, want := strings.Join(m.arguments(j, 2), " "), "/b/halo bench -json -n 2 -fabric tcp -busy-ms 100 -win allocate passive"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
