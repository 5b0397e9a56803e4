package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// grown is a run of one round in which MPICH has no figures beyond 8 ranks, and none of windows.
func grown(t *testing.T) *results {
	t.Helper()
	r := newResults(selectRows(allRows(), onlyGrowth), columns())
	r.machine = []string{"2 cores, sample"}
	r.startRound()
	for i := range r.rows {
		rw := &r.rows[i]
		for k, c := range r.columns {
			if c == "mpich" && (rw.ranks > 8 || rw.bench == "window") {
				continue
			}
			r.figures[c][i][0] = math.Pow(20, float64(k)) * float64(rw.ranks) / 10
		}
	}
	return r
}

// Each panel has each number of ranks once, and only rows that are base rows have bars.
func TestGrowthHasARowForEachNumberOfRanks(t *testing.T) {
	all := allRows()
	selected := selectRows(all, onlyGrowth)
	if want := len(panels()) * len(growthRanks()); len(selected) != want {
		t.Errorf("-only %s selects %d rows, want %d", onlyGrowth, len(selected), want)
	}
	for _, p := range panels() {
		for _, ranks := range growthRanks() {
			want := p.at(ranks)
			var same []row
			for _, rw := range selected {
				if rw.name == want.name {
					same = append(same, rw)
				}
			}
			if len(same) != 1 {
				t.Fatalf("%d rows %q, want 1", len(same), want.name)
			}
			got := same[0]
			if got.bench != want.bench || got.fabric != want.fabric || got.ranks != ranks || got.size != want.size || got.unit != "us" {
				t.Errorf("the row %q is %+v, want %+v", want.name, got, want)
			}
			if (ranks > 8 || got.bench == "window" || got.bench == "dup") && len(got.bars) > 0 {
				t.Errorf("%s has a bar", got.name)
			}
		}
	}
	names := rowNames(all)
	slices.Sort(names)
	if len(slices.Compact(names)) != len(all) {
		t.Error("two rows have one name")
	}
}

// MPICH's runs are bounded for these benchmarks alone.
func TestRanksOfMPICHAreBounded(t *testing.T) {
	for _, c := range []struct {
		name, bench string
		ranks       int
		runs        bool
	}{
		{"mpich", "barrier", 16, true}, {"mpich", "barrier", 32, false}, {"mpich", "dup", 8, true}, {"mpich", "dup", 16, false},
		{"mpich", "memory", 64, true}, {"mpich", "proxy", 2, true}, {"mpich", "proxy", 4, false}, {"mpich", "waitsome", 4, false}, {"openmpi", "window", 64, true}, {"halo", "barrier", 64, true},
	} {
		m := &implementation{name: c.name, stuck: map[string]bool{}}
		remark, runs := m.about(job{bench: c.bench, fabric: "shm", ranks: c.ranks})
		if runs != c.runs || runs == (remark != "") {
			t.Errorf("%s with %d ranks of %s: %v, %q, want %v", c.bench, c.ranks, c.name, runs, remark, c.runs)
		}
	}
}

// paths returns the lines of a colour in the chart, each as its points.
func paths(t *testing.T, chart, colour string) (lines [][][2]float64) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(chart))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok || e.Name.Local != "path" {
			continue
		}
		attributes := map[string]string{}
		for _, a := range e.Attr {
			attributes[a.Name.Local] = a.Value
		}
		if attributes["stroke"] != colour || attributes["fill"] != "none" {
			continue
		}
		var line [][2]float64
		for _, point := range strings.FieldsFunc(attributes["d"], func(c rune) bool { return c == 'M' || c == 'L' }) {
			x, y, _ := strings.Cut(point, " ")
			var at [2]float64
			for k, s := range []string{x, y} {
				at[k], err = strconv.ParseFloat(s, 64)
				if err != nil {
					t.Fatal(err)
				}
			}
			line = append(line, at)
		}
		lines = append(lines, line)
	}
}

// Each MPI has a line in each panel, with a point for each figure, within the picture. Both scales are
// logarithmic: figures in proportion to the number of ranks are a straight line.
func TestGrowthChart(t *testing.T) {
	r := grown(t)
	chart := r.growthChart()
	for _, s := range []string{"NaN", "Inf", marks()[fortran], ">" + fortran + "<"} {
		if strings.Contains(chart, s) {
			t.Errorf("the chart has %s", s)
		}
	}
	for _, s := range []string{"2 cores: lower", ">halo<", ">halo-c<", ">mpich<", ">openmpi<", ">64<", ">10 us<", ">1 ms<"} {
		if !strings.Contains(chart, s) {
			t.Errorf("the chart lacks %s", s)
		}
	}
	for _, p := range panels() {
		if !strings.Contains(chart, ">"+p.title+"<") {
			t.Errorf("no panel %s", p.title)
		}
	}
	for column, want := range map[string][]int{
		"halo": {6, 6, 6, 6, 6}, clibrary: {6, 6, 6, 6, 6}, "openmpi": {6, 6, 6, 6, 6}, "mpich": {3, 3, 3, 3},
	} {
		var got []int
		for _, line := range paths(t, chart, marks()[column]) {
			got = append(got, len(line))
			dx, dy := line[1][0]-line[0][0], line[1][1]-line[0][1]
			for k, at := range line {
				if at[0] < 0 || at[0] > chartWidth || at[1] < panelsTop || at[1] > panelsTop+2*panelHeight {
					t.Errorf("%s: point %v is outside the picture", column, at)
				}
				x, y := line[0][0]+float64(k)*dx, line[0][1]+float64(k)*dy
				if dx <= 0 || dy >= 0 || math.Abs(at[0]-x) > 1 || math.Abs(at[1]-y) > 1 {
					t.Errorf("%s: point %d at %v, want %.1f %.1f", column, k, at, x, y)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has lines of %v points, want %v", column, got, want)
		}
	}
}

// A line has a gap where a figure is missing.
func TestGrowthChartOmitsMissingFigures(t *testing.T) {
	r := grown(t)
	r.figures["halo"][rowIndex(t, r, "dup 8 ranks")][0] = math.NaN()
	chart := r.growthChart()
	if gaps := regexp.MustCompile(`L[0-9. ]+M`).FindAllString(chart, -1); len(gaps) != 1 {
		t.Errorf("%d gaps, want 1", len(gaps))
	}
	if strings.Contains(chart, "NaN") {
		t.Error("the chart has positions that are no numbers")
	}
}

func TestDecades(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		in        []float64
		low, high int
	}{
		{[]float64{0.06, 4000}, -2, 4}, {[]float64{10, 1000, nan}, 1, 3}, {[]float64{10}, 1, 2}, {[]float64{nan}, 0, 1},
	} {
		if low, high := decades(c.in); low != c.low || high != c.high {
			t.Errorf("decades(%v) = %d, %d, want %d, %d", c.in, low, high, c.low, c.high)
		}
	}
	var texts []string
	for d := -2; d <= 7; d++ {
		texts = append(texts, timeText(d))
	}
	if got := fmt.Sprint(texts); got != "[0.01 us 0.1 us 1 us 10 us 100 us 1 ms 10 ms 100 ms 1 s 10 s]" {
		t.Errorf("times %s", got)
	}
}

// The report and the page refer to the chart that stands beside them, and only if it has points.
func TestGrowthChartStandsBesideTheReport(t *testing.T) {
	other := newResults(selectRows(allRows(), "latency"), columns())
	other.machine = []string{"2 cores, sample"}
	other.startRound()
	for _, c := range []struct {
		r    *results
		want bool
	}{{grown(t), true}, {other, false}} {
		dir := t.TempDir()
		if err := c.r.write(dir); err != nil {
			t.Fatal(err)
		}
		if err := c.r.writePage(filepath.Join(dir, "page.md")); err != nil {
			t.Fatal(err)
		}
		for report, chart := range map[string]string{"results.md": "growth.svg", "page.md": "page-growth.svg"} {
			text, err := os.ReadFile(filepath.Join(dir, report))
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(text, []byte("]("+chart+")")); got != c.want {
				t.Errorf("%s refers to %s: %v, want %v", report, chart, got, c.want)
			}
			drawn, err := os.ReadFile(filepath.Join(dir, chart))
			if got := err == nil; got != c.want {
				t.Errorf("%s: %v, want it: %v", chart, err, c.want)
			} else if c.want && string(drawn) != c.r.growthChart() {
				t.Errorf("%s is another chart", chart)
			}
		}
	}
}
