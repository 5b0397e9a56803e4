package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sample is a run of three rounds in which Halo meets some bars and misses others.
func sample() *results {
	r := newResults(baseRows(), columns())
	r.machine = []string{"2 cores, sample", "Halo, MPICH 4.0.2, Open MPI 4.1.4"}
	factor := map[string]float64{"halo": 0.7, clibrary: 0.8, fortran: 0.85, "mpich": 1.5, "openmpi": 1}
	for round := range 3 {
		r.startRound()
		for i := range r.rows {
			rw := &r.rows[i]
			for _, c := range r.columns {
				f := factor[c] * (1 + 0.1*float64(round))
				if rw.more {
					f = 1 / f
				}
				v := f * float64(1+i)
				switch {
				case rw.bench == "matching" && c == "halo":
					v = 0.08
				case rw.bench == "barrier" && rw.ranks > 2 && c == "mpich":
					v *= 3000
				case rw.bench == "init" && c == "halo":
					v = 0.59 * float64(1+i) * (1 + 0.1*float64(round))
				}
				r.figures[c][i][round] = v
			}
			if rw.limit != "" {
				r.limits[i][round] = 0.6 * float64(1+i)
			}
		}
	}
	return r
}

func rowIndex(t *testing.T, r *results, name string) int {
	t.Helper()
	i := slices.Index(rowNames(r.rows), name)
	if i < 0 {
		t.Fatalf("no row %q", name)
	}
	return i
}

func TestMedianIgnoresMissingFigures(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{nan, 7, nan}, 7},
		{[]float64{nan}, nan},
		{nil, nan},
	} {
		got := median(c.in)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
	in := []float64{3, 1, 2}
	median(in)
	if !slices.Equal(in, []float64{3, 1, 2}) {
		t.Errorf("median reordered its argument to %v: figures would lose their round", in)
	}
	if low, high := spread([]float64{2, nan, 1}); low != 1 || high != 2 {
		t.Errorf("spread = %v, %v, want 1, 2", low, high)
	}
}

// The two figures of a ratio are of one round: a slow round slows both.
func TestRatiosAreTakenWithinARound(t *testing.T) {
	r := newResults(selectRows(allRows(), "latency shm 8 B"), columns())
	for _, f := range [][3]float64{{1, 2, 9}, {100, 200, 900}, {1, 4, 9}} {
		r.startRound()
		n := r.rounds - 1
		r.figures["halo"][0][n], r.figures["mpich"][0][n], r.figures["openmpi"][0][n] = f[0], f[1], f[2]
	}
	if got := r.ratios("halo", 0); !slices.Equal(got, []float64{0.5, 0.5, 0.25}) {
		t.Errorf("ratios %v, want 0.5, 0.5, 0.25", got)
	}
	if got := r.bestPeer(0); got != "mpich" {
		t.Errorf("best peer %q, want mpich", got)
	}
}

func TestBestPeerOfARateIsTheHighest(t *testing.T) {
	r := sample()
	if got := r.bestPeer(rowIndex(t, r, "bw shm 1 MiB")); got != "openmpi" {
		t.Errorf("best peer %q, want openmpi", got)
	}
}

func TestVerdicts(t *testing.T) {
	r := sample()
	for name, want := range map[string]string{
		"latency shm 8 B":           "yes",
		"latency shm 64 KiB":        "yes",
		"bw shm 1 MiB":              "yes",
		"msgrate shm 8 B":           "yes",
		"matching unexpected 10":    "yes",
		"matching unexpected 50000": "yes",
		"type size":                 "",
		"reduce_local 64 MiB":       "missed by 2.67 %",
		"init 4 ranks":              "missed by 18.0 %",
	} {
		if got := r.met(rowIndex(t, r, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if s := r.summary(); !strings.HasPrefix(s, "113 of 115 rows") || !strings.Contains(s, "two exceptions") {
		t.Errorf("summary %q", s)
	}
	flat := rowIndex(t, r, "matching unexpected 50000")
	for k := range r.figures["halo"][flat] {
		r.figures["halo"][flat][k] = 0.24
	}
	if got := r.met(flat); got != "missed by 50.0 %" {
		t.Errorf("three times the depth-10 time: %q, want missed by 50.0 %%", got)
	}
	if s := r.summary(); strings.Contains(s, "two exceptions") {
		t.Errorf("a miss by 50 %% is no exception: %q", s)
	}
	bw := rowIndex(t, r, "bw tcp 1 MiB")
	for k := range r.figures["halo"][bw] {
		r.figures["halo"][bw][k] = r.figures["openmpi"][bw][k] * 0.8
	}
	if got := r.met(bw); got != "missed by 25.0 %" {
		t.Errorf("0.8 of the best rate: %q, want missed by 25.0 %%", got)
	}
}

func TestMissingFiguresAreNotMet(t *testing.T) {
	r := newResults(baseRows(), []string{"mpich", "openmpi"})
	r.startRound()
	one := 1.0
	for i := range r.rows {
		r.figures["mpich"][i][0] = one
	}
	r.fail("openmpi", job{bench: "bw", fabric: "tcp", ranks: 2}, errors.New("no route"))
	if s := r.summary(); !strings.Contains(s, "0 of 115 rows") || !strings.Contains(s, "115 have no figure") {
		t.Errorf("summary %q", s)
	}
	if s := r.text(); !strings.Contains(s, "failed: round 1, openmpi, bw tcp, 2 ranks: no route") {
		t.Errorf("the failure is not reported:\n%s", s)
	}
	if s := r.svg(); strings.Contains(s, "NaN") {
		t.Error("the chart draws figures that are not there")
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0.0991: "0.099", 0.99951: "1.00", 1.234: "1.23", 9.996: "10.0", 12.34: "12.3", 99.96: "100",
		8421.81: "8422", 18547585: "18547585", 0: "0", math.NaN(): "-",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestJobsShareARunAcrossSizes(t *testing.T) {
	var got []string
	for _, j := range jobsOf(baseRows()) {
		got = append(got, j.String())
	}
	want := []string{
		"latency shm, 2 ranks, sizes 8,65536", "bw shm, 2 ranks, sizes 1048576", "msgrate shm, 2 ranks, sizes 8",
		"latency tcp, 2 ranks, sizes 8", "bw tcp, 2 ranks, sizes 1048576", "beside tcp, 2 ranks, sizes 1073741824", "matching shm, 2 ranks, sizes 10,1000,10000,50000",
		"barrier shm, 2 ranks", "allreduce shm, 2 ranks, sizes 8", "barrier shm, 4 ranks", "allreduce shm, 4 ranks, sizes 8",
		"barrier shm, 8 ranks", "allreduce shm, 8 ranks, sizes 8",
	}
	for _, bench := range []string{"bcast", "allreduce", "allgather", "alltoall"} {
		for _, ranks := range []int{2, 4, 8} {
			sizes := "8,4096,65536,1048576,4194304"
			if bench == "allreduce" {
				sizes = "4096,65536,1048576,4194304"
			}
			want = append(want, fmt.Sprintf("%s shm, %d ranks, sizes %s", bench, ranks, sizes))
		}
	}
	want = append(want, "reduce_local shm, 1 ranks, sizes 64,1024,16384,262144,67108864",
		"pack shm, 1 ranks, sizes 1024,65536,4194304", "unpack shm, 1 ranks, sizes 1024,65536,4194304", "type shm, 1 ranks, sizes 10", "init shm, 4 ranks")
	if !slices.Equal(got, want) {
		t.Errorf("jobs\n%q\nwant\n%q", got, want)
	}
}

// Every row takes its figure from exactly the line that is meant.
func TestLinesFindTheirRows(t *testing.T) {
	lines, err := parseLines(strings.NewReader(`{"bench":"latency","fabric":"shm","ranks":2,"size":8,"us":0.21}
{"bench":"latency","fabric":"tcp","ranks":2,"size":8,"us":4.5}

{"bench":"bw","fabric":"shm","ranks":2,"size":1048576,"mbps":15000.5}
{"bench":"msgrate","fabric":"shm","ranks":2,"size":8,"mrate":18547585}
{"bench":"matching","fabric":"shm","ranks":2,"depth":10,"queue":"posted","us":0.06}
{"bench":"barrier","fabric":"shm","ranks":4,"us":2.8}
{"bench":"unpack","fabric":"shm","ranks":1,"size":65536,"layout":"face of words","us":6.5}
{"bench":"init","fabric":"shm","ranks":4,"us":150000}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := newResults(allRows(), columns())
	r.startRound()
	r.add("halo", 0, lines)
	want := map[string]float64{"latency shm 8 B": 0.21, "latency tcp 8 B": 4.5, "bw shm 1 MiB": 15000.5, "msgrate shm 8 B": 18.547585,
		"matching posted 10": 0.06, "barrier 4 ranks": 2.8, "unpack face of words 64 KiB": 6.5, "init 4 ranks": 150}
	for i := range r.rows {
		got := r.figures["halo"][i][0]
		if w, ok := want[r.rows[i].name]; ok && got != w || !ok && !math.IsNaN(got) {
			t.Errorf("%s: %v, want %v", r.rows[i].name, got, w)
		}
	}
	for _, bad := range []string{"hello", `{"bench":"latency","speed":1}`, `{"bench":3}`} {
		if _, err := parseLines(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestCommandLines(t *testing.T) {
	four := job{bench: "barrier", fabric: "shm", ranks: 4}
	two := job{bench: "latency", fabric: "tcp", ranks: 2, sizes: []int{8, 64}}
	halo := &implementation{name: "halo", program: "/b/halo"}
	peer := &implementation{name: "openmpi", program: "/b/p", command: func(j job, cores int) []string { return []string{"mpirun", bindTo(j, cores)} }}
	for _, c := range []struct {
		m    *implementation
		j    job
		want string
	}{
		{halo, two, "/b/halo bench -json -n 2 -fabric tcp -sizes 8,64 latency"},
		{halo, job{bench: "init", fabric: "shm", ranks: 4}, "/b/halo run -n 4 -fabric shm /b/halo bench -rank init"},
		{peer, two, "mpirun core /b/p latency -fabric tcp -sizes 8,64"},
		{peer, four, "mpirun none /b/p barrier -fabric shm"},
	} {
		if got := strings.Join(c.m.arguments(c.j, 2), " "); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

func TestReportFiles(t *testing.T) {
	dir := t.TempDir()
	r := sample()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	md, err := os.ReadFile(filepath.Join(dir, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	columns := 0
	rows := 0
	for s := range strings.Lines(string(md)) {
		if strings.HasPrefix(s, "|") {
			rows++
			n := strings.Count(s, "|")
			if columns == 0 {
				columns = n
			}
			if n != columns {
				t.Errorf("%d cells, the head has %d: %s", n-1, columns-1, s)
			}
		}
	}
	if rows != len(r.rows)+2 {
		t.Errorf("%d lines of table for %d rows", rows, len(r.rows))
	}
	if !strings.Contains(string(md), "not for quoting") {
		t.Error("three rounds are reported without saying that they are too few")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "rounds.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	n := 0
	for {
		var v struct {
			Round int
			Value float64
		}
		if err := d.Decode(&v); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if v.Round < 1 || v.Round > 3 || v.Value <= 0 {
			t.Errorf("round %d, value %v", v.Round, v.Value)
		}
		n++
	}
	if n < 3*len(r.columns)*len(r.rows) {
		t.Errorf("%d figures, want at least %d", n, 3*3*len(r.rows))
	}
}

func TestBusyMachineIsSaid(t *testing.T) {
	r := sample()
	if strings.Contains(r.text(), "busy") {
		t.Error("an idle machine is called busy")
	}
	r.load = 1000
	if !strings.Contains(r.text(), "busy, load 1000.0 before the start: not for quoting") {
		t.Errorf("load 1000 is not mentioned:\n%s", r.text())
	}
}

func TestTextColumnsLineUp(t *testing.T) {
	lines := strings.Split(sample().text(), "\n")
	at := strings.Index(lines[0], "bar")
	for i, rw := range sample().rows {
		if len(rw.bars) > 0 && !strings.Contains(lines[i+1][at:at+3], "=") {
			t.Errorf("the bar does not stand under its head:\n%s\n%s", lines[0], lines[i+1])
		}
	}
}

// The chart is well-formed, and nothing of it lies outside its picture.
func TestChart(t *testing.T) {
	s := sample().svg()
	d := xml.NewDecoder(strings.NewReader(s))
	texts := 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "text" {
			texts++
		}
	}
	if rows := len(sample().rows); texts < 2*rows {
		t.Errorf("%d texts for %d rows", texts, rows)
	}
	if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Error("the chart has positions that are no numbers")
	}
	if !strings.Contains(s, "4500x") {
		t.Error("a ratio beyond the scale is not written out")
	}
	if a, b, c := position(1e-9), position(1), position(1e9); a != chartLeft || b <= a || c != chartWidth-chartRight {
		t.Errorf("positions %v, %v, %v leave the scale", a, b, c)
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-rounds 0", "-rounds wants at least 1"},
		{"-only nonsense", "matches no row"},
		{"-mpi halo,lam", `not "lam"`},
		{"-mpi halo,halo", "names halo twice"},
		{"latency", "takes no arguments"},
		{"-size 3", "not defined"},
	} {
		var out, errs bytes.Buffer
		if status := compare(strings.Fields(c.args), &out, &errs); status != 1 {
			t.Errorf("%s: status %d, want 1", c.args, status)
		}
		if !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: %q, want %q in it", c.args, errs.String(), c.want)
		}
	}
}

// Every option that the program documents is one that it takes.
func TestArguments(t *testing.T) {
	o, err := parseOptions([]string{"-rounds", "2", "-more", "3", "-only", "latency", "-mpi", columns()[0], "-o", "d", "-page", "p.md"}, io.Discard)
	if err != nil || o.rounds != 2 || o.more != 3 || o.only != "latency" || len(o.mpis) != 1 || o.dir != "d" || o.page != "p.md" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestRowsWithAFasterPeerAreMarked(t *testing.T) {
	r := sample()
	time, rate := rowIndex(t, r, "bcast 4 KiB 2 ranks"), rowIndex(t, r, "bw shm 1 MiB")
	ratio := func(i int) string { return r.table(false)[1+i][2+len(r.columns)] }
	if a, b := ratio(time), ratio(rate); a != "0.700" || b != "1.43" {
		t.Errorf("faster than the peers: ratios %q and %q", a, b)
	}
	for _, i := range []int{time, rate} {
		r.figures["halo"][i], r.figures["openmpi"][i] = r.figures["openmpi"][i], r.figures["halo"][i]
	}
	if a, b := ratio(time), ratio(rate); a != "*1.43" || b != "*0.700" {
		t.Errorf("slower than a peer: ratios %q and %q", a, b)
	}
}
