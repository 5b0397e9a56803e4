package benchmark

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi/mpitest"
)

// EXP-1 to EXP-9: each experiment is measured over each fabric, and has a section in the report, a
// verdict and a figure that is valid XML.
func TestEXP1_EXP2_EXP3_EXP4_EXP5_EXP6_EXP7_EXP8_EXP9_Seeds(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		if fabric == "inproc" { // figures of the report are for shm and tcp
			continue
		}
		t.Run(fabric, func(t *testing.T) {
			points, err := ReadPoints(strings.NewReader(run(t, 2, Plan{Name: "seeds", Fabric: fabric})))
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "figures")
			var page bytes.Buffer
			if err := WriteReport(&page, Machine{CPU: "C", Cores: 2, System: "S", Versions: []string{"V"}}, points, dir); err != nil {
				t.Fatal(err)
			}
			for _, x := range Experiments() {
				section := "## " + x.ID + ": " + x.Title
				_, text, found := strings.Cut(page.String(), section)
				if !found {
					t.Fatalf("no section %q on the page", section)
				}
				text, _, _ = strings.Cut(text, "\n## ")
				if x.ID != "EXP-1" && !strings.Contains(text, "**met**") && !strings.Contains(text, "**not met**") {
					t.Errorf("%s has no verdict:\n%s", x.ID, text)
				}
				name := strings.ToLower(x.ID) + "-" + fabric + ".svg"
				if !strings.Contains(text, "(figures/"+name+")") {
					t.Errorf("%s does not show %s", x.ID, name)
				}
				picture, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				for d := xml.NewDecoder(bytes.NewReader(picture)); ; {
					if _, err := d.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
				}
			}
		})
	}
}

// A figure has powers of ten at the ends of its scale, and all points between them.
func TestFigureHoldsItsPoints(t *testing.T) {
	f := &figure{exp: Experiment{XLabel: "bytes"}, fabric: "shm", points: []Point{
		{Series: "a", X: 1, US: 0.02}, {Series: "a", X: 1 << 20, US: 900}, {Series: "b", X: 64, US: 1},
	}}
	f.scale()
	if f.low != -2 || f.high != 3 {
		t.Errorf("the scale goes from 10^%g to 10^%g", f.low, f.high)
	}
	if x := f.x(f.at(1 << 20)); x != figureWidth-roomRight {
		t.Errorf("the last point is at %g", x)
	}
	if y := f.y(3); y != roomTop {
		t.Errorf("the top of the scale is at %g", y)
	}
}

// The report omits experiments that were not measured, without an error.
func TestReportOfFewPoints(t *testing.T) {
	for _, x := range Experiments() {
		var page bytes.Buffer
		if err := WriteReport(&page, Machine{}, []Point{{Exp: x.ID, Fabric: "shm", Series: "MPICH", X: 1, US: 2}}, ""); err != nil {
			t.Fatal(err)
		}
		if text := page.String(); !strings.Contains(text, "## "+x.ID) || strings.Contains(text, "met**") || strings.Contains(text, "NaN") {
			t.Errorf("%s:\n%s", x.ID, text)
		}
	}
}

// Merge replaces several measurements of one point by their median.
func TestMergeTakesMedians(t *testing.T) {
	got := Merge([]Point{{Series: "a", X: 1, US: 5}, {Series: "b", X: 1, US: 7}, {Series: "a", X: 1, US: 1}, {Series: "a", X: 1, US: 2}})
	if len(got) != 2 || got[0].US != 2 || got[1].US != 7 {
		t.Errorf("merged to %+v", got)
	}
}

// Numbers in the report have three significant digits.
func TestPlainNumbers(t *testing.T) {
	for v, want := range map[float64]string{0.0123456: "0.0123", 0.001: "0.001", 1: "1", 12.345: "12.3", 1234.5: "1234", 0.1: "0.1", 100: "100"} {
		if got := plain(v); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
}

// A handle or a duplicate may take 5 % or 3 ns more than the window beside it.
func TestHandlesAreJudgedBesideTheirWindows(t *testing.T) {
	series := func(name string, more, factor float64) (points []Point) {
		for i, x := range []float64{1, 16, 256, 4096, 65536} {
			points = append(points, Point{Exp: "EXP-7", Fabric: "shm", Series: name, X: x, US: factor*0.01*float64(int(1)<<i) + more})
		}
		return points
	}
	verdict := func(handle []Point) string {
		f := &figure{exp: Experiment{ID: "EXP-7"}, fabric: "shm", points: append(handle, series("allocated", 0, 1)...)}
		return f.judge()[0]
	}
	for _, c := range []struct {
		more, factor float64
		met          bool
	}{{0, 1, true}, {0.002, 1, true}, {0, 1.04, true}, {0.004, 1, false}, {0, 1.5, false}} {
		if s := verdict(series("memory handle", c.more, c.factor)); strings.Contains(s, "**met**") != c.met {
			t.Errorf("%g us and %g times: %s", c.more, c.factor, s)
		}
	}
}

// A verdict says met only if the figures beside it meet the criterion.
func TestEXP1_EXP3_EXP5_EXP8_VerdictsFollowTheCriteria(t *testing.T) {
	points := func(series map[string][]float64) (all []Point) {
		for name, us := range series {
			for i, v := range us {
				all = append(all, Point{Series: name, X: float64(int(1) << i), US: v})
			}
		}
		return all
	}
	for _, c := range []struct {
		id     string
		series map[string][]float64
		want   []bool
	}{
		{"EXP-1", map[string][]float64{"Halo allocated": {10, 10}, "Halo dynamic": {12, 12}, "MPICH allocated": {10, 10}, "MPICH dynamic": {14, 14}}, []bool{true}},
		{"EXP-1", map[string][]float64{"Halo allocated": {10, 10}, "Halo dynamic": {10, 10}, "MPICH allocated": {10, 10}, "MPICH dynamic": {6, 6},
			"Open MPI allocated": {10, 10}, "Open MPI dynamic": {30, 30}}, []bool{false}},
		{"EXP-3b", map[string][]float64{"Halo thread scope": {9, 9, 9}, "Halo process scope": {10, 10, 10}}, []bool{true}},
		{"EXP-3b", map[string][]float64{"Halo thread scope": {5, 5, 12}, "Halo process scope": {10, 10, 10}}, []bool{false}},
		{"EXP-5", map[string][]float64{"Halo unflushed": {10, 10}, "Halo unflushed, ordered": {11, 10}, "Halo put and flush": {60, 60}}, []bool{true, true}},
		{"EXP-5", map[string][]float64{"Halo unflushed": {10, 10}, "Halo unflushed, ordered": {10, 8}, "Halo put and flush": {16, 60}}, []bool{false, false}},
		{"EXP-6", map[string][]float64{"process scope": {10, 10, 10}, "process scope, ordered": {9, 9, 11}}, []bool{false}},
		{"EXP-8", map[string][]float64{"fetch_and_op": {10}, "fetch_and_op, asserted": {9}, "accumulate": {10, 10}, "accumulate, asserted": {9, 19}}, []bool{true, false}},
	} {
		f := &figure{exp: Experiment{ID: c.id}, fabric: "shm", points: points(c.series)}
		verdicts := f.judge()
		if len(verdicts) != len(c.want) {
			t.Fatalf("%s: %q", c.id, verdicts)
		}
		for i, s := range verdicts {
			if strings.Contains(s, "**met**") != c.want[i] || strings.Contains(s, "**not met**") == c.want[i] {
				t.Errorf("%s: %s, want %v", c.id, s, c.want[i])
			}
		}
	}
}
