package main

import (
	"fmt"
	"math"
	"strings"
)

func proxyNames() []string { return []string{"cg", "md", "fft", "wavefront", "tasks", "walk"} }

// proxyRows are the wall times of small applications, alone and beside strangers: see bench/proxy.h. Those of one rank
// have no bars: they show by how much the compilers differ.
func proxyRows() (rows []row) {
	add := func(ranks, strangers int) {
		for _, name := range proxyNames() {
			r := row{name: fmt.Sprintf("proxy %s %d ranks", name, ranks), bench: "proxy", fabric: "shm", ranks: ranks, strangers: strangers,
				size: -1, variant: name, unit: "ms", bars: []bar{{factor: 1, of: "best"}}}
			if ranks == 1 {
				r.name, r.bars = fmt.Sprintf("proxy %s 1 rank", name), nil
			}
			if ranks > 2 { // a peer that does not end in time loses one application, not all
				r.args = "-op " + name
			}
			if noPeer(r.args, strangers) {
				r.bars = nil
			}
			if strangers > 0 {
				r.name += fmt.Sprintf(" beside %d", strangers)
			}
			rows = append(rows, r)
		}
	}
	add(1, 0)
	for _, strangers := range []int{0, 1, 2, 4} {
		add(2, strangers)
		add(4, strangers)
	}
	return rows
}

// noPeer reports whether no peer runs an application of more than two ranks: a single run of Open MPI takes up to a minute.
func noPeer(args string, strangers int) bool {
	return strangers > 0 && (args == "-op tasks" || args == "-op walk")
}

// proxyNotes say in which applications Halo's C library is slower than the best peer, and by how much the loops of
// Go and C differ.
func (r *results) proxyNotes() (notes []string) {
	if r.figures[clibrary] == nil {
		return nil
	}
	met, slower, loops := 0, []string(nil), []string(nil)
	for i := range r.rows {
		rw := &r.rows[i]
		if rw.bench != "proxy" {
			continue
		}
		q := r.ratios(clibrary, i)
		if rw.ranks == 1 {
			q = over(r.figuresOf("halo", i), r.figuresOf(clibrary, i))
		}
		switch m := median(q); {
		case math.IsNaN(m):
		case rw.ranks == 1:
			loops = append(loops, rw.variant+" "+number(m))
		case m <= 1:
			met++
		default:
			slower = append(slower, fmt.Sprintf("%s (%s x, %s)", rw.name, number(m), ranged(q)))
		}
	}
	if met+len(slower) > 0 {
		s := fmt.Sprintf("%s: %d of %d applications take at most the best peer's time", clibrary, met, met+len(slower))
		if slower != nil {
			s += "; others take more: " + strings.Join(slower, ", ")
		}
		notes = append(notes, s+".")
	}
	if loops != nil {
		notes = append(notes, "On one rank, with nothing but their own loops, applications in Go take this times as long as in C with Halo's library: "+strings.Join(loops, ", ")+".")
	}
	return notes
}
