package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// guidelineRows are self-consistent performance guidelines: a call is at most as slow as others with the same effect.
// Their bars need no peer. See bench/guideline.h and bench/waitsome.h.
func guidelineRows() (rows []row) {
	calls := [][2]string{{"allreduce", "reduce+bcast"}, {"bcast", "scatter+allgather"}, {"allgather", "gather+bcast"}, {"neighbor", "messages"}}
	for _, ranks := range []int{2, 4} {
		for _, pair := range calls {
			for _, size := range []int{8, 4 << 10, 1 << 20} {
				name := func(call string) string { return fmt.Sprintf("guideline %s %s %d ranks", call, bytesText(size), ranks) }
				for i, call := range pair {
					r := row{name: name(call), bench: "guideline", fabric: "shm", ranks: ranks, size: size, variant: call, unit: "us"}
					if i == 0 {
						r.bars = []bar{{factor: 1, of: name(pair[1])}}
					}
					rows = append(rows, r)
				}
			}
		}
	}
	for _, ranks := range []int{2, 4} {
		for _, when := range []string{"complete", "arriving"} {
			for _, n := range []int{600, 6000, 60000} {
				name := func(call string) string { return fmt.Sprintf("guideline %s %d %s %d ranks", call, n, when, ranks) }
				r := row{bench: "waitsome", fabric: "shm", ranks: ranks, size: n, unit: "ns"}
				some, each := r, r
				some.name, some.variant = name("waitsome"), when+" waitsome"
				some.bars = []bar{{factor: 1, of: name("waits")}}
				each.name, each.variant = name("waits"), when+" waits"
				rows = append(rows, some, each)
			}
		}
	}
	return rows
}

// guidelineNotes say which guidelines hold for the columns that have no bars: all but Halo from Go.
func (r *results) guidelineNotes() (notes []string) {
	for _, c := range r.columns {
		held, broken := 0, []string(nil)
		for i := range r.rows {
			q := r.guidelineRatios(c, i)
			switch m := median(q); {
			case c == "halo" || math.IsNaN(m):
			case m <= 1:
				held++
			default:
				broken = append(broken, fmt.Sprintf("%s (%s x, %s)", r.rows[i].name, number(m), ranged(q)))
			}
		}
		if all := held + len(broken); all > 0 {
			s := fmt.Sprintf("%s: %d of %d guidelines hold", c, held, all)
			if broken != nil {
				s += "; others are slower than the calls with the same effect: " + strings.Join(broken, ", ")
			}
			notes = append(notes, s+".")
		}
	}
	return notes
}

// guidelineRatios is a column's time of a call over that of the others with the same effect, round by round; nil of
// rows that are no guideline.
func (r *results) guidelineRatios(column string, i int) []float64 {
	rw := &r.rows[i]
	if rw.bench != "guideline" && rw.bench != "waitsome" || len(rw.bars) == 0 {
		return nil
	}
	k := slices.IndexFunc(r.rows, func(other row) bool { return other.name == rw.bars[0].of })
	if k < 0 {
		return nil
	}
	return over(r.figuresOf(column, i), r.within(r.figures[column][k], k, r.phase(i)))
}
