package benchmark

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// judge compares the points with the experiment's criterion and returns a sentence for each
// comparison. It omits comparisons of points that were not measured.
func (f *figure) judge() []string {
	return slices.DeleteFunc(f.verdicts(), func(s string) bool { return strings.Contains(s, "NaN") })
}

func (f *figure) verdicts() []string {
	switch f.exp.ID {
	case "EXP-1":
		var s []string
		halo, least := math.NaN(), math.NaN()
		for _, mpi := range []string{"Halo", "MPICH", "Open MPI"} {
			if q := f.quotients(mpi+" dynamic", mpi+" allocated"); !math.IsNaN(q[0]) {
				s = append(s, fmt.Sprintf("%s %s times (1 byte) and %s times (median of all sizes)", mpi, plain(q[0]), plain(median(q))))
				if mpi == "Halo" {
					halo = median(q)
				} else if !(least <= median(q)) {
					least = median(q)
				}
			}
		}
		if math.IsNaN(halo) {
			return nil
		}
		end := "."
		if !math.IsNaN(least) {
			end = ": " + met(halo <= least*spread) + "."
		}
		return []string{"Dynamic windows take, compared with allocated ones: " + strings.Join(s, "; ") + end}
	case "EXP-2":
		worst := 0.0
		for x := range f.exp.Groups {
			if us, ok := f.us("Halo", float64(x)); ok {
				worst = max(worst, us)
			}
		}
		if worst == 0 {
			return nil
		}
		return []string{fmt.Sprintf("Halo takes at most %s us: %s.", plain(worst), met(worst < busyEach))}
	case "EXP-3a":
		q := f.quotients("Halo process scope", "Halo thread scope")
		return []string{fmt.Sprintf("Process scope takes %s to %s times as long: %s.", plain(slices.Min(q)), plain(slices.Max(q)), met(slices.Max(q) <= 1.5))}
	case "EXP-3b":
		q := f.quotients("Halo thread scope", "Halo process scope")
		return []string{fmt.Sprintf("Thread scope takes %s of the time of process scope for 1 byte, %s to %s over all sizes: %s.",
			plain(q[0]), plain(slices.Min(q)), plain(slices.Max(q)), met(slices.Max(q) <= spread))}
	case "EXP-4":
		return f.judgeWorkers()
	case "EXP-5":
		order := f.quotients("Halo unflushed, ordered", "Halo unflushed")
		flush := f.quotients("Halo put and flush", "Halo unflushed, ordered")
		return []string{
			fmt.Sprintf("Order makes an unflushed put take %s times as long for 1 byte, %s to %s times over all sizes; unflushed <= ordered: %s.",
				plain(order[0]), plain(slices.Min(order)), plain(slices.Max(order)), met(slices.Min(order)*spread >= 1)),
			fmt.Sprintf("A flush for each takes %s times as long as order for 1 byte; ordered << flushed, %d times: %s.", plain(flush[0]), muchLess, met(flush[0] >= muchLess)),
		}
	case "EXP-6":
		q := f.quotients("process scope, ordered", "process scope")
		return []string{fmt.Sprintf("With order process scope takes %s of the time (median of all sizes; %s to %s): %s.",
			plain(median(q)), plain(slices.Min(q)), plain(slices.Max(q)), met(slices.Max(q) <= spread))}
	case "EXP-7":
		return f.judgeHandles()
	case "EXP-8":
		q, a := f.quotients("fetch_and_op, asserted", "fetch_and_op"), f.quotients("accumulate, asserted", "accumulate")
		return []string{
			fmt.Sprintf("With the assertion fetch_and_op takes %s of the time, an accumulate of one element %s: %s.", plain(q[0]), plain(a[0]), met(max(q[0], a[0]) <= spread)),
			fmt.Sprintf("With the assertion accumulates of all lengths take %s to %s of the time: %s.", plain(slices.Min(a)), plain(slices.Max(a)), met(slices.Max(a) <= spread)),
		}
	case "EXP-9":
		q := f.quotients("listing 2: ordered put, signal", "listing 1: put, flush, signal")
		return []string{fmt.Sprintf("Listing 2 takes %s of the time of listing 1 for 1 byte, %s as the median of all sizes: %s.", plain(q[0]), plain(median(q)), met(q[0] < 1))}
	}
	return nil
}

const (
	// spread is how much longer something may take that is not to take longer: two measurements of one thing
	// differ by as much.
	spread = 1.05
	// muchLess is how many times as long the longer one of two times takes if the other is much less.
	muchLess = 5
)

func met(ok bool) string {
	if ok {
		return "**met**"
	}
	return "**not met** on this machine"
}

// quotients returns the times of one series divided by those of another, by ascending X, where both
// have points; a single NaN if there are none.
func (f *figure) quotients(series, other string) []float64 {
	var q []float64
	for _, x := range f.columns() {
		a, has := f.us(series, x)
		b, too := f.us(other, x)
		if has && too {
			q = append(q, a/b)
		}
	}
	if q == nil {
		q = []float64{math.NaN()}
	}
	return q
}

// differences returns the times of one series minus those of another in us, where both have points
// up to X = most; a single NaN if there are none.
func (f *figure) differences(series, other string, most float64) []float64 {
	var d []float64
	for _, x := range f.columns() {
		a, has := f.us(series, x)
		b, too := f.us(other, x)
		if has && too && x <= most {
			d = append(d, a-b)
		}
	}
	if d == nil {
		d = []float64{math.NaN()}
	}
	return d
}

// judgeWorkers is judge for EXP-4: how the time of an operation and the total rate grow with workers.
func (f *figure) judgeWorkers() []string {
	growth := func(series string) (grown, together float64) {
		one, _ := f.us(series, 1)
		many, _ := f.us(series, seedWorkers) // 0/0 is not a number
		return many / one, seedWorkers * one / many
	}
	process, _ := growth("Halo process scope")
	thread, rate := growth("Halo thread scope")
	return []string{fmt.Sprintf("From 1 to %d workers the time of an operation grows %s times with thread scope and %s times with process scope; all together do %s times as much as one with thread scope: %s.",
		seedWorkers, plain(thread), plain(process), plain(rate), met(thread <= process*spread && (f.fabric != "tcp" || rate >= 4)))}
}

// shortest is the largest message, in bytes, for which differences of nanoseconds matter.
const shortest = 256

// judgeHandles is judge for EXP-7.
func (f *figure) judgeHandles() []string {
	beside := func(what, series, whose, other string) string {
		q := f.quotients(series, other)
		more := median(f.differences(series, other, shortest))
		return fmt.Sprintf("%s takes %s of the time of %s as the median of all sizes, and %s us more as the median of up to %d bytes: %s.",
			what, plain(median(q)), whose, signed(more), shortest, met(median(q) <= spread || more <= 0.003))
	}
	handle, ok := f.us("memory handle", 1)
	if !ok {
		return nil
	}
	each, _ := f.us("memory handle, made each time", 1)
	return []string{
		beside("A handle", "memory handle", "an allocated window", "allocated"),
		beside("A handle", "memory handle", "the dynamic window that it belongs to", "dynamic"),
		beside("A duplicate", "duplicate of that", "its window", "allocated"),
		fmt.Sprintf("Making and freeing a handle's window each time adds %s us: %s.", signed(each-handle), met(each-handle <= 1)),
	}
}

// signed is plain for numbers that may be negative.
func signed(v float64) string {
	if v < 0 {
		return "-" + plain(-v)
	}
	return plain(v)
}
