package main

import (
	"fmt"
	"math"
	"slices"
)

// A virtual machine changes between phases: for some minutes its cores share a cache, and a cache
// line travels from one to the other in 50 ns; then they do not, or they take turns on one core of the
// host, and it takes 3 to 50 times as long. Halo and its peers do not slow down by the same factor. So
// a figure belongs to a phase. The time of a cache line, before and after each benchmark, tells which.
// A row is decided by the rounds of one phase, that in which most of its rounds were.

// A phase is the state of the machine while a benchmark ran with all MPIs.
type phase uint8

const (
	unknown phase = iota // not measured
	fast                 // within phaseFactor of the least time of a cache line in the run
	slow
	changing // one before the benchmark, another one after it
)

// phaseFactor is the factor between the times of a cache line that are of one phase.
const phaseFactor = 2

func (p phase) String() string { return [...]string{"", "fast", "slow", "changing"}[p] }

// A probe is the time of a cache line in us, before a benchmark and after it; NaN if it is not known.
type probe struct{ before, after float64 }

// phases returns the phase of each round of a row.
func (r *results) phases(i int) []phase {
	all := make([]phase, r.rounds)
	if math.IsNaN(r.least) {
		return all
	}
	of := func(us float64) phase {
		if us <= phaseFactor*r.least {
			return fast
		}
		return slow
	}
	for k, p := range r.probes[i] {
		switch before, after := of(p.before), of(p.after); {
		case math.IsNaN(p.before) || math.IsNaN(p.after):
		case before == after:
			all[k] = before
		default:
			all[k] = changing
		}
	}
	return all
}

// phase is that of the most rounds of a row, but for those in which it changed, if there are others.
func (r *results) phase(i int) phase {
	var n [changing + 1]int
	for k, p := range r.phases(i) {
		if r.measured(i, k) {
			n[p]++
		}
	}
	most := changing
	for _, p := range []phase{unknown, slow, fast} {
		if n[p] > 0 && (most == changing || n[p] >= n[most]) {
			most = p
		}
	}
	return most
}

// measured reports whether any MPI has a figure in a round of a row.
func (r *results) measured(i, round int) bool {
	return slices.ContainsFunc(r.columns, func(c string) bool { return !math.IsNaN(r.figures[c][i][round]) })
}

// figuresOf is the figures of a column in a row, round by round: NaN in other phases than that of the row.
func (r *results) figuresOf(column string, i int) []float64 {
	if r.figures[column] == nil {
		return nil
	}
	return r.within(r.figures[column][i], i, r.phase(i))
}

// within is the values of a row, round by round: NaN in other phases than p.
func (r *results) within(values []float64, i int, p phase) []float64 {
	v := slices.Clone(values)
	for k, of := range r.phases(i) {
		if k < len(v) && of != p {
			v[k] = math.NaN()
		}
	}
	return v
}

// phaseText names the phase of a row, and how many of its rounds were in it if not all were.
func (r *results) phaseText(i int) string {
	p, in, all := r.phase(i), 0, 0
	for k, of := range r.phases(i) {
		if !r.measured(i, k) {
			continue
		}
		all++
		if of == p {
			in++
		}
	}
	if in == all || p == unknown {
		return p.String()
	}
	return fmt.Sprintf("%v %d/%d", p, in, all)
}

// phaseNote says what the phases were.
func (r *results) phaseNote() string {
	var times [changing + 1][]float64
	for i := range r.rows {
		for k, p := range r.phases(i) {
			if p == fast || p == slow {
				times[p] = append(times[p], r.probes[i][k].before, r.probes[i][k].after)
			}
		}
	}
	if times[fast] == nil {
		return ""
	}
	s := fmt.Sprintf("A cache line took %s us from one core to another in the fast phase", ranged(times[fast]))
	if times[slow] != nil {
		s += fmt.Sprintf(", %s us in the slow one", ranged(times[slow]))
	}
	return s + "; a row has the figures of the phase of most of its rounds."
}
