package benchmark

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// run runs a plan on ranks of this process and returns what rank 0 printed.
func run(t *testing.T, ranks int, p Plan) string {
	t.Helper()
	var out bytes.Buffer // only rank 0 writes to it
	err := mpitest.RunOver(p.Fabric, ranks, func(world *mpi.Comm) error {
		plan := p
		plan.shorten = 20
		return Run(world, &plan, &out)
	})
	if err != nil {
		t.Fatalf("%s on %d ranks: %v", p.Name, ranks, err)
	}
	return out.String()
}

// Every benchmark prints one object per line with exactly the documented fields.
func TestJSONOfEveryBenchmark(t *testing.T) {
	const figure = `[0-9]+\.[0-9]+`
	for _, c := range []struct {
		name  string
		ranks int
		sizes []int
		want  []string
	}{
		{"latency", 2, []int{0, 8}, []string{`{"bench":"latency","fabric":"X","ranks":2,"size":0,"us":F}`, `{"bench":"latency","fabric":"X","ranks":2,"size":8,"us":F}`}},
		{"notify", 2, []int{0, 8}, []string{`{"bench":"notify","fabric":"X","ranks":2,"size":0,"us":F}`, `{"bench":"notify","fabric":"X","ranks":2,"size":8,"us":F}`}},
		{"beside", 2, []int{4 << 20}, []string{`{"bench":"beside","fabric":"X","ranks":2,"size":4194304,"us":F}`}},
		{"bw", 2, []int{4096}, []string{`{"bench":"bw","fabric":"X","ranks":2,"size":4096,"mbps":F}`}},
		{"bibw", 2, []int{4096}, []string{`{"bench":"bibw","fabric":"X","ranks":2,"size":4096,"mbps":F}`}},
		{"msgrate", 4, nil, []string{`{"bench":"msgrate","fabric":"X","ranks":4,"size":8,"mrate":[0-9]+}`}},
		{"matching", 2, []int{300, 1000}, []string{
			`{"bench":"matching","fabric":"X","ranks":2,"depth":300,"queue":"unexpected","us":F}`,
			`{"bench":"matching","fabric":"X","ranks":2,"depth":300,"queue":"posted","us":F}`,
			`{"bench":"matching","fabric":"X","ranks":2,"depth":1000,"queue":"unexpected","us":F}`,
			`{"bench":"matching","fabric":"X","ranks":2,"depth":1000,"queue":"posted","us":F}`}},
		{"partitioned", 2, []int{100}, partitionedLines()},
		{"barrier", 3, []int{7}, []string{`{"bench":"barrier","fabric":"X","ranks":3,"us":F}`}},
		{"bcast", 3, []int{1, 9000}, []string{`{"bench":"bcast","fabric":"X","ranks":3,"size":1,"us":F}`, `{"bench":"bcast","fabric":"X","ranks":3,"size":9000,"us":F}`}},
		{"allreduce", 3, []int{8}, []string{`{"bench":"allreduce","fabric":"X","ranks":3,"size":8,"us":F}`}},
		{"allgather", 3, []int{8}, []string{`{"bench":"allgather","fabric":"X","ranks":3,"size":8,"us":F}`}},
		{"alltoall", 3, []int{8}, []string{`{"bench":"alltoall","fabric":"X","ranks":3,"size":8,"us":F}`}},
		{"window", 3, []int{8, 9000}, []string{`{"bench":"window","fabric":"X","ranks":3,"size":8,"us":F}`, `{"bench":"window","fabric":"X","ranks":3,"size":9000,"us":F}`}},
		{"dup", 3, []int{7}, []string{`{"bench":"dup","fabric":"X","ranks":3,"us":F}`}},
		{"memory", 2, nil, memoryLines()},
		{"phases", 3, []int{5}, phaseLines()},
		{"guideline", 2, []int{8}, guidelineLines()},
		{"waitsome", 4, []int{50}, completionLines()},
		{"proxy", 4, nil, proxyLines()},
		{"pack", 1, []int{192}, packed("pack", 192)},
		{"unpack", 2, []int{64}, packed("unpack", 64)},
		{"type", 1, []int{4}, []string{
			`{"bench":"type","fabric":"X","ranks":1,"size":4,"layout":"made","us":F}`,
			`{"bench":"type","fabric":"X","ranks":1,"size":4,"layout":"size","us":F}`,
			`{"bench":"type","fabric":"X","ranks":1,"size":4,"layout":"extent","us":F}`,
			`{"bench":"type","fabric":"X","ranks":1,"size":4,"layout":"true extent","us":F}`}},
	} {
		for _, fabric := range mpitest.Fabrics() {
			t.Run(c.name+"-"+fabric, func(t *testing.T) {
				out := run(t, c.ranks, Plan{Name: c.name, Fabric: fabric, Sizes: c.sizes, JSON: true})
				lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
				if len(lines) != len(c.want) {
					t.Fatalf("%d lines, want %d:\n%s", len(lines), len(c.want), out)
				}
				for i, w := range c.want {
					pattern := strings.NewReplacer("F", figure, "X", fabric, "{", `\{`, "}", `\}`).Replace(w)
					if !regexp.MustCompile("^" + pattern + "$").MatchString(lines[i]) {
						t.Errorf("%s\nwant %s", lines[i], w)
					}
					var object map[string]any
					if err := json.Unmarshal([]byte(lines[i]), &object); err != nil {
						t.Errorf("%s: %v", lines[i], err)
					}
				}
			})
		}
	}
}

// phaseLines returns the lines that phases prints. Processor time beyond the computation may be negative, by the
// resolution of the clocks.
func phaseLines() (lines []string) {
	for _, op := range phaseOps() {
		lines = append(lines, fmt.Sprintf(`{"bench":"phases","fabric":"X","ranks":3,"op":%q,"layout":"","size":5,"us":F,"p99_us":F,"mean_us":F,"processor_us":-?F,"step_us":F}`, op))
	}
	return lines
}

// guidelineLines returns the lines that guideline prints.
func guidelineLines() (lines []string) {
	for _, calls := range []string{"allreduce", "reduce+bcast", "bcast", "scatter+allgather", "allgather", "gather+bcast", "neighbor", "messages"} {
		lines = append(lines, fmt.Sprintf(`{"bench":"guideline","fabric":"X","ranks":2,"size":8,"layout":"%s","us":F}`, regexp.QuoteMeta(calls)))
	}
	return lines
}

// completionLines returns the lines that waitsome prints.
func completionLines() (lines []string) {
	for _, way := range []string{"complete waitsome", "complete waits", "arriving waitsome", "arriving waits"} {
		lines = append(lines, fmt.Sprintf(`{"bench":"waitsome","fabric":"X","ranks":4,"size":50,"layout":%q,"us":F}`, way))
	}
	return lines
}

// proxyLines returns the lines that proxy prints.
func proxyLines() (lines []string) {
	for _, name := range proxyNames() {
		lines = append(lines, fmt.Sprintf(`{"bench":"proxy","fabric":"X","ranks":4,"op":%q,"us":F}`, name))
	}
	return lines
}

// memoryLines returns the lines that memory prints.
func memoryLines() (lines []string) {
	for _, step := range []string{"init", "ring", "alltoall"} {
		for _, kind := range []string{"private", "in all"} {
			lines = append(lines, fmt.Sprintf(`{"bench":"memory","fabric":"X","ranks":2,"size":8,"layout":"%s %s","kib":F}`, step, kind))
		}
	}
	return lines
}

// partitionedLines returns the lines that partitioned prints.
func partitionedLines() (lines []string) {
	for _, workers := range []int{1, 2, 8} {
		for _, layout := range []string{"partitioned heap", "isend heap", "partitioned alloc", "isend alloc"} {
			lines = append(lines, fmt.Sprintf(`{"bench":"partitioned","fabric":"X","ranks":2,"size":100,"layout":%q,"workers":%d,"us":F}`, layout, workers))
		}
	}
	return lines
}

// packed returns the lines that pack and unpack print.
func packed(name string, size int) (lines []string) {
	ranks := map[string]int{"pack": 1, "unpack": 2}[name]
	for _, l := range []string{"contiguous", "vector 1/2", "vector 8/16", "face of rows", "face of words", "structs"} {
		lines = append(lines, fmt.Sprintf(`{"bench":%q,"fabric":"X","ranks":%d,"size":%d,"layout":%q,"us":F}`, name, ranks, size, l))
	}
	return lines
}

// The layouts of pack have the properties of their names, and all have the same size.
func TestLayoutsOfPacking(t *testing.T) {
	for _, n := range []int{8, 24, 128, 8192} {
		list, err := layouts(n)
		if err != nil {
			t.Fatal(err)
		}
		memory := make([]float64, depth*n)
		for i := range memory {
			memory[i] = float64(i)
		}
		for _, l := range list {
			wire, err := mpi.Pack(nil, mpi.BufOf(memory, l.count, l.typ))
			if err != nil || len(wire) != 8*n {
				t.Fatalf("%s of %d doubles: %d bytes, %v", l.name, n, len(wire), err)
			}
			double := func(at int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(wire[at:])) }
			first := map[string]float64{"contiguous": 0, "vector 1/2": 0, "vector 8/16": 0,
				"face of rows": depth / 2 * columns(n), "face of words": depth / 2, "structs": 1}[l.name]
			next := map[string]float64{"contiguous": 1, "vector 1/2": 2, "vector 8/16": 1,
				"face of rows": 1, "face of words": depth, "structs": 1}[l.name]
			at := 0
			if l.name == "structs" {
				at = 4 // after the number
			}
			if a, b := double(at), double(at+8); a != first || b != first+next {
				t.Errorf("%s of %d doubles begins with %v and %v, want %v and %v", l.name, n, a, b, first, first+next)
			}
		}
	}
}

// columns returns the number of elements in a row of a face of the array.
func columns(n int) float64 { return map[int]float64{8: 4, 24: 8, 128: 16, 8192: 128}[n] }

func TestTable(t *testing.T) {
	var out bytes.Buffer
	r := Report{Out: &out}
	for _, x := range []Result{
		{Bench: "matching", Fabric: "shm", Ranks: 2, Size: 10, Queue: "unexpected", US: 0.0912},
		{Bench: "matching", Fabric: "shm", Ranks: 2, Size: 100000, Queue: "posted", US: 1.5},
	} {
		if err := r.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	want := "matching over shm, 2 ranks\n" +
		"       queue        depth           us\n" +
		"  unexpected           10        0.091\n" +
		"      posted       100000        1.500\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	for _, k := range kinds() {
		r := Result{Bench: k.name, Fabric: "tcp", Ranks: 2, Size: 8, Queue: "posted", Layout: "face of words", US: 1, MBps: 2, Rate: 3,
			Win: "dynamic-heap", Type: "float64", Lock: "exclusive", Workers: 32, Op: "put", Busy: 2, Ops: 20000, Early: 1, AttentiveUS: 4}
		if h, row := head(k.name), r.row(); len(h) != len(row) {
			t.Errorf("%s: the head has %d columns of text, the row %d:\n%s\n%s", k.name, len(h), len(row), h, row)
		}
	}
}

func TestSizesAreParsed(t *testing.T) {
	if got, err := ParseSizes("0,8,1073741824"); err != nil || !slices.Equal(got, []int{0, 8, 1 << 30}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "8,", "8;9", "-8", "1073741825", "8k", strings.Repeat("8,", maxSizes) + "8"} {
		if _, err := ParseSizes(bad); err == nil {
			t.Errorf("ParseSizes(%q) gives no error", bad)
		}
	}
}

func TestWrongNumbersOfRanksAreRefused(t *testing.T) {
	for name, ranks := range map[string]int{"latency": 3, "bw": 1, "bibw": 4, "msgrate": 5, "matching": 1, "barrier": 0, "nothing": 2} {
		if err := (&Plan{Name: name}).Check(ranks); err == nil {
			t.Errorf("%s with %d ranks gives no error", name, ranks)
		}
	}
	if err := mpi.Run(1, func(world *mpi.Comm) error { return Run(world, &Plan{Name: "init"}, nil) }); err == nil {
		t.Error("init inside a rank gives no error")
	}
}

// The number of iterations adapts to the time of a loop, from nanoseconds to seconds, and
// a slow first iteration does not change it.
func TestCalibration(t *testing.T) {
	for _, per := range []time.Duration{time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, 300 * time.Microsecond, 40 * time.Millisecond, time.Second} {
		n, slow, runs, spent := int64(1), 0, 0, time.Duration(0)
		for slow < 2 {
			took := time.Duration(n) * per
			if runs == 0 {
				took += 30 * time.Millisecond
			}
			slow++
			if took < warmTime && n < maxIters {
				slow = 0
			}
			spent += took
			n = calibrate(n, took, slow)
			runs++
			if runs > 20 {
				t.Fatalf("%v an iteration: no count after %d runs", per, runs)
			}
		}
		took := time.Duration(n) * per
		if n != minIters && n != maxIters && (took < repTime*9/10 || took > repTime) {
			t.Errorf("%v an iteration: a measured run of %d takes %v, want %v", per, n, took, repTime)
		}
		if n < minIters || n > maxIters {
			t.Errorf("%v an iteration: %d iterations", per, n)
		}
		if spent > 100*time.Millisecond && runs > 2 {
			t.Errorf("%v an iteration: calibration takes %v", per, spent)
		}
	}
}

func TestMedian(t *testing.T) {
	in := []float64{5, 1, 9, 3, 7}
	if got := median(in); got != 5 {
		t.Errorf("median %v, want 5", got)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median %v, want 2.5", got)
	}
}

// Figures of Halo and of a peer can be compared only if the loops are the same: the
// constants and default sizes of the C program are equal to these.
func TestLoopsInCUseTheSameNumbers(t *testing.T) {
	source := ""
	files, err := filepath.Glob("../../../../bench/*.[ch]")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(b)
	}
	for name, want := range map[string]float64{
		"WARM_US": micros(warmTime), "REP_US": micros(repTime), "SLOW_US": micros(slowTime), "MIN_ITERS": minIters, "MAX_ITERS": maxIters, "REPS": reps,
		"WINDOW": window, "MATCH_US": micros(matchTime), "MATCHES": matches, "CHUNK": chunk, "MAX_SIZES": maxSizes,
		"OPS": passiveOps, "BUSY_MS": passiveBusyMS, "CELL": cell, "MAX_WORKERS": maxWorkers,
		"GUIDELINE_BLOCK": guidelineBlock, "GUIDELINE_ROUNDS": guidelineRounds, "GUIDELINE_US": micros(guidelineTime),
		"WAIT_ROUNDS": waitRounds, "WAIT_US": micros(waitTime), "SLOW_WAIT_US": micros(slowWait),
		"PROXY_RUNS": proxyRuns, "SLOW_PROXY_US": micros(slowProxyTime),
		"CG_SIDE": cgSide, "CG_STEPS": cgSteps, "CG_DIAGONAL": cgDiagonal, "CG_OFF": cgOff,
		"MD_CELLS": mdCells, "MD_WIDTH": mdWidth, "MD_PARTICLES": mdParticles, "MD_STEPS": mdSteps, "MD_WEAK": mdWeak, "MD_RESULT": mdResult,
		"FFT_SIDE": fftSide, "FFT_ROUNDS": fftRounds, "FFT_OFF": fftOff,
		"WAVEFRONT_ROWS": wavefrontRows, "WAVEFRONT_COLUMNS": wavefrontColumns, "WAVEFRONT_MATCH": wavefrontMatch,
		"WAVEFRONT_MISMATCH": wavefrontMismatch, "WAVEFRONT_GAP": wavefrontGap, "WAVEFRONT_RESULT": wavefrontResult,
		"TASKS": tasks, "TASK_UNIT": taskUnit, "TASKS_RESULT": tasksResult,
		"WALK_VERTICES": walkVertices, "WALK_DEGREE": walkDegree, "WALKS": walks, "WALK_LENGTH": walkLength, "WALK_WORK": walkWork, "WALK_RESULT": walkResult,
		"BATCH_US": micros(batchTime), "MAX_BATCH": maxBatch, "SETTLE_US": micros(settleTime),
	} {
		m := regexp.MustCompile(`(?m)^#define ` + name + ` (\S+)`).FindStringSubmatch(source)
		if m == nil {
			t.Errorf("C has no %s", name)
			continue
		}
		if got, err := strconv.ParseFloat(m[1], 64); err != nil || got != want {
			t.Errorf("%s is %s in C and %v in Go", name, m[1], want)
		}
	}
	for _, k := range kinds() {
		if k.name == "seeds" || k.name == "pool" { // other benchmarks' loops, and loops for extensions
			continue
		}
		m := regexp.MustCompile(`\{"` + k.name + `", "([0-9,]+)", \w+, (-?[0-9])\}`).FindStringSubmatch(source)
		if m == nil {
			if k.name != "notify" && k.name != "seeds" { // other MPIs do not have these
				t.Errorf("C has no benchmark %s", k.name)
			}
			continue
		}
		if sizes, err := ParseSizes(m[1]); err != nil || !slices.Equal(sizes, k.sizes) {
			t.Errorf("%s runs sizes %s in C and %v in Go", k.name, m[1], k.sizes)
		}
		if m[2] != fmt.Sprint(k.ranks) {
			t.Errorf("%s wants ranks %s in C and %d in Go", k.name, m[2], k.ranks)
		}
	}
}
