package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// results holds every figure of every round. A figure that a round did not
// give is NaN, so that figures with the same index are of the same round.
type results struct {
	machine  []string
	load     float64 // of the machine before the start; 0 where the kernel does not tell
	began    time.Time
	revision string // of Halo, after a comma; empty if it is not known
	rows     []row
	columns  []string
	rounds   int
	further  int                    // of the rounds, those of undecided rows alone
	figures  map[string][][]float64 // by column: [row][round]
	limits   [][]float64            // [row][round]
	probes   [][]probe              // [row][round]
	least    float64                // the least time of a cache line in all probes; NaN if none is known
	attempts map[run]int
	failures []failure
	remarks  []string // notes about a column
}

// A run is that of a benchmark by one MPI.
type run struct{ column, job string }

// A failure is a run that ended with an error.
type failure struct {
	run
	round int
	err   error
}

func (f failure) String() string {
	return fmt.Sprintf("round %d, %s, %s: %v", f.round, f.column, f.job, f.err)
}

func newResults(rows []row, columns []string) *results {
	r := &results{rows: rows, columns: columns, figures: map[string][][]float64{}, attempts: map[run]int{},
		limits: make([][]float64, len(rows)), probes: make([][]probe, len(rows)), least: math.NaN()}
	for _, c := range columns {
		r.figures[c] = make([][]float64, len(rows))
	}
	return r
}

func (r *results) startRound() {
	r.rounds++
	for i := range r.rows {
		for _, c := range r.columns {
			r.figures[c][i] = append(r.figures[c][i], math.NaN())
		}
		r.limits[i] = append(r.limits[i], math.NaN())
		r.probes[i] = append(r.probes[i], probe{math.NaN(), math.NaN()})
	}
}

// add records what one run printed in the current round, beside strangers. Lines do not tell of these.
func (r *results) add(column string, strangers int, lines []line) {
	for i := range r.rows {
		for _, l := range lines {
			if v, ok := r.rows[i].figure(l); ok && r.rows[i].strangers == strangers {
				r.figures[column][i][r.rounds-1] = v
			}
		}
	}
}

// addLimits records what was measured before the run of a job and after it, in the current round: limits, and
// with them the time of a cache line.
func (r *results) addLimits(j job, before, after map[string]float64) {
	p := probe{known(before, line64), known(after, line64)}
	r.least = least(r.least, least(p.before, p.after))
	for i := range r.rows {
		if rw := &r.rows[i]; rw.from(j) {
			r.probes[i][r.rounds-1] = p
			r.limits[i][r.rounds-1] = known(before, rw.limit)
		}
	}
}

// known is a limit that was measured, or NaN.
func known(limits map[string]float64, name string) float64 {
	if v, ok := limits[name]; ok {
		return v
	}
	return math.NaN()
}

// least is the lesser of two values of which each may be NaN.
func least(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func (r *results) attempt(column string, j job) { r.attempts[run{column, j.String()}]++ }

func (r *results) fail(column string, j job, err error) {
	r.failures = append(r.failures, failure{run{column, j.String()}, r.rounds, err})
}

// unexcused are the failures that invalidate the report: those of Halo, and those of a
// peer's run that never succeeded. Other failed runs of a peer are missing in the medians, and
// the notes name them.
func (r *results) unexcused() []failure {
	failed := map[run]int{}
	for _, f := range r.failures {
		failed[f.run]++
	}
	return slices.DeleteFunc(slices.Clone(r.failures), func(f failure) bool {
		return isPeer(f.column) && failed[f.run] < r.attempts[f.run]
	})
}

// undecided are the rows with a bar between their second smallest and second largest
// ratio: more rounds might move the median across it; and rows of which at most half of the rounds
// are of one phase. Rows that their bars refer to are included.
func (r *results) undecided() []row {
	wanted := map[string]bool{}
	for i := range r.rows {
		for _, b := range r.rows[i].bars {
			q := numbers(over(r.figuresOf("halo", i), r.reference(i, b)))
			slices.Sort(q)
			if len(q) > 2 && q[1] < b.factor && b.factor < q[len(q)-2] || len(q) > 0 && r.phase(i) != unknown && len(q) <= r.rounds/2 {
				wanted[r.rows[i].name], wanted[b.of] = true, true
			}
		}
	}
	var some []row
	for _, rw := range r.rows {
		if wanted[rw.name] {
			some = append(some, rw)
		}
	}
	return some
}

// remark keeps a sentence for the notes, once.
func (r *results) remark(text string) {
	if text != "" && !slices.Contains(r.remarks, text) {
		r.remarks = append(r.remarks, text)
	}
}

// median ignores NaN; it is NaN when nothing else is there.
func median(values []float64) float64 {
	v := numbers(values)
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// spread is the least and the greatest value that is a number.
func spread(values []float64) (low, high float64) {
	v := numbers(values)
	if len(v) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(v), slices.Max(v)
}

func numbers(values []float64) []float64 {
	var v []float64
	for _, x := range values {
		if !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	return v
}

// bestPeer is the peer with the best median in a row, or "".
func (r *results) bestPeer(i int) string {
	best, name := math.NaN(), ""
	for _, c := range r.columns {
		m := median(r.figuresOf(c, i))
		if !isPeer(c) || math.IsNaN(m) {
			continue
		}
		if name == "" || (r.rows[i].more && m > best) || (!r.rows[i].more && m < best) {
			best, name = m, c
		}
	}
	return name
}

// ratios is a column's figure over the best peer's, round by round.
func (r *results) ratios(column string, i int) []float64 {
	best := r.bestPeer(i)
	if best == "" {
		return nil
	}
	return over(r.figuresOf(column, i), r.figuresOf(best, i))
}

func over(a, b []float64) []float64 {
	var q []float64
	for k := range a {
		if k < len(b) {
			q = append(q, a[k]/b[k])
		}
	}
	return q
}

// A verdict says whether a bar is met.
type verdict struct {
	text  string
	ratio float64 // figure over reference; NaN when one of them is missing
	miss  float64 // by how much it is missed, 0.12 being 12 %; 0 when it is met
}

func (r *results) verdicts(i int) []verdict {
	var all []verdict
	rw := &r.rows[i]
	for _, b := range rw.bars {
		v := verdict{text: rw.barText(b), ratio: median(over(r.figuresOf("halo", i), r.reference(i, b)))}
		if rw.more {
			v.miss = max(0, b.factor/v.ratio-1)
		} else {
			v.miss = max(0, v.ratio/b.factor-1)
		}
		all = append(all, v)
	}
	return all
}

// reference is what a bar compares with, round by round.
func (r *results) reference(i int, b bar) []float64 {
	switch b.of {
	case "best":
		if best := r.bestPeer(i); best != "" {
			return r.figuresOf(best, i)
		}
	case "limit":
		return r.limits[i]
	case "us":
		return slices.Repeat([]float64{1}, r.rounds)
	default:
		for k := range r.rows {
			if r.rows[k].name == b.of && r.figures["halo"] != nil {
				return raised(r.within(r.figures["halo"][k], k, r.phase(i)), b)
			}
		}
	}
	return nil
}

// raised is the reference of a bar that allows so much more, if that is more than its
// factor allows.
func raised(reference []float64, b bar) []float64 {
	if b.more == 0 {
		return reference
	}
	var v []float64
	for _, x := range reference {
		v = append(v, max(x, (x+b.more)/b.factor))
	}
	return v
}

// revision returns the revision of the working tree, after a comma, and whether it has changes.
func revision() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*").Output()
	if err != nil {
		return ""
	}
	return ", revision " + strings.TrimSpace(string(out))
}

// describeMachine says where and with what the figures were taken.
func describeMachine(mpis []*implementation) []string {
	var about []string
	cpu := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for s := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(s, ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	about = append(about, fmt.Sprintf("%d cores, %s, %s", runtime.NumCPU(), cpu, runtime.Version()))
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		about[0] += ", Linux " + strings.TrimSpace(string(b))
	}
	var versions []string
	for _, m := range mpis {
		versions = append(versions, m.version)
	}
	return append(about, strings.Join(versions, ", "))
}

// machineLoad is the average number of running threads during the last minute.
func machineLoad() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var load float64
	if _, err := fmt.Sscan(string(b), &load); err != nil {
		return 0
	}
	return load
}
