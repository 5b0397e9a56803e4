package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// serial is the whole computation in one process, in the simplest way.
func serial(g graph, steps int) (ranks []int64, taken int) {
	n := len(g.names)
	ranks = make([]int64, n)
	for v := range ranks {
		ranks[v] = total / int64(n)
	}
	for taken < steps {
		in, idle := make([]int64, n), int64(0)
		for v, rank := range ranks {
			to := g.to[g.first[v]:g.first[v+1]]
			if len(to) == 0 {
				idle += rank
			}
			for _, u := range to {
				in[u] += rank / int64(len(to))
			}
		}
		taken++
		changed := int64(0)
		for v := range ranks {
			next := following(in[v], idle, n)
			changed = max(changed, next-ranks[v], ranks[v]-next)
			ranks[v] = next
		}
		if changed <= still {
			break
		}
	}
	return ranks, taken
}

// report prints the vertices with the highest ranks, equal ones by name.
func report(out io.Writer, g graph, ranks []int64, top int) {
	order := make([]int, len(ranks))
	for v := range order {
		order[v] = v
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(ranks[b], ranks[a]), cmp.Compare(g.names[a], g.names[b]))
	})
	for _, v := range order[:min(top, len(order))] {
		fmt.Fprintf(out, "%8.5f%%  %s\n", 100*float64(ranks[v])/total, g.names[v])
	}
}
