package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// published are the three algorithms of Hunold and others (arXiv 2005.09521). Each returns the
// coordinates of all positions of a grid in the order in which hosts take them. As in the paper, they
// are written for hosts of n processes each.
var published = map[string]func(dims []int, n int) [][]int{
	"hyperplane": func(dims []int, n int) (all [][]int) {
		var split func(lo, d []int)
		split = func(lo, d []int) {
			size := volume(d)
			for _, i := range descending(d) {
				for k := d[i] / 2; k > 0 && size >= 2*n; k-- {
					if size/d[i]*k%n == 0 {
						low, high, at := slices.Clone(d), slices.Clone(d), slices.Clone(lo)
						low[i], high[i], at[i] = k, d[i]-k, lo[i]+k
						split(lo, low)
						split(at, high)
						return
					}
				}
			}
			all = append(all, rowsOf(lo, d, descending(d))...)
		}
		split(make([]int, len(dims)), dims)
		return all
	},
	"k-d tree": func(dims []int, _ int) (all [][]int) {
		var split func(lo, d []int)
		split = func(lo, d []int) {
			i := descending(d)[0]
			if d[i] == 1 {
				all = append(all, lo)
				return
			}
			low, high, at := slices.Clone(d), slices.Clone(d), slices.Clone(lo)
			low[i], high[i], at[i] = d[i]/2, d[i]-d[i]/2, lo[i]+d[i]/2
			split(lo, low)
			split(at, high)
		}
		split(make([]int, len(dims)), dims)
		return all
	},
	"stencil strips": func(dims []int, n int) (all [][]int) {
		order := descending(dims)
		width := max(1, int(math.Pow(float64(n), 1/float64(len(dims)))))
		strips := [][2][]int{{make([]int, len(dims)), slices.Clone(dims)}}
		for _, i := range order[1:] {
			var cut [][2][]int
			for number, s := range strips {
				parts := max(1, dims[i]/width)
				var mine [][2][]int
				for p := range parts {
					lo, d := slices.Clone(s[0]), slices.Clone(s[1])
					lo[i], d[i] = p*dims[i]/parts, (p+1)*dims[i]/parts-p*dims[i]/parts
					mine = append(mine, [2][]int{lo, d})
				}
				if number%2 == 1 {
					slices.Reverse(mine)
				}
				cut = append(cut, mine...)
			}
			strips = cut
		}
		for number, s := range strips {
			layers := rowsOf(s[0], s[1], order)
			if number%2 == 1 {
				slices.Reverse(layers)
			}
			all = append(all, layers...)
		}
		return all
	},
}

func volume(d []int) int {
	n := 1
	for _, k := range d {
		n *= k
	}
	return n
}

// descending returns the dimensions, the longest first.
func descending(d []int) []int {
	order := make([]int, len(d))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return d[b] - d[a] })
	return order
}

// rowsOf returns the coordinates of the positions of a box with lengths d at lo. The first dimension of
// order varies slowest.
func rowsOf(lo, d, order []int) (all [][]int) {
	for k := range volume(d) {
		c := slices.Clone(lo)
		for i := len(order) - 1; i >= 0; i-- {
			c[order[i]] += k % d[order[i]]
			k /= d[order[i]]
		}
		all = append(all, c)
	}
	return all
}

// countEdges counts the edges of a grid between hosts by coordinates.
func countEdges(g *Grid, host map[string]int32) (n int) {
	for k := range g.Size() {
		c := make([]int, len(g.Dims))
		g.Coords(k, c)
		for i, d := range g.Dims {
			next := slices.Clone(c)
			next[i]++
			if next[i] == d {
				if !g.Periods[i] {
					continue
				}
				next[i] = 0
			}
			if host[fmt.Sprint(c)] != host[fmt.Sprint(next)] {
				n++
			}
		}
	}
	return n
}

// checkArrangement checks that Arrange gives each process a position of its own, and counts the same
// edges as countEdges. It returns the number of edges after the arrangement.
func checkArrangement(t *testing.T, g *Grid, host []int32) (after int) {
	t.Helper()
	place, before, after := Arrange(g, host)
	at := func(place func(process int) int) map[string]int32 {
		m := map[string]int32{}
		for i, h := range host {
			c := make([]int, len(g.Dims))
			g.Coords(place(i), c)
			m[fmt.Sprint(c)] = h
		}
		if len(m) != len(host) {
			t.Fatalf("%v: two processes have one position", g)
		}
		return m
	}
	if n := countEdges(g, at(func(i int) int { return i })); n != before {
		t.Errorf("%v, hosts %v: %d edges before, Arrange counts %d", g, host, n, before)
	}
	switch {
	case place == nil && after != before:
		t.Errorf("%v: no arrangement, but %d edges after %d", g, after, before)
	case place != nil:
		if n := countEdges(g, at(func(i int) int { return int(place[i]) })); n != after || after >= before {
			t.Errorf("%v, hosts %v: %d edges after %d, Arrange counts %d", g, host, n, before, after)
		}
	}
	return after
}

// The bar: on 2-D and 3-D grids over 2 to 4 hosts with even and uneven numbers of processes there
// are at most as many edges between hosts as the best of the three published algorithms leaves.
func TestTOP01_ArrangementsAreAtLeastAsGoodAsPublishedOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	worse := 0
	for range 2000 {
		g := randomGrid(r)
		for len(g.Dims) < 2 || len(g.Dims) > 3 || g.Size() < 8 {
			g = randomGrid(r)
		}
		n, hosts := g.Size(), 2+r.IntN(3)
		sizes := make([]int, hosts)
		for i := range n {
			if even := r.IntN(2) == 0; even || i < hosts {
				sizes[i%hosts]++
			} else {
				sizes[r.IntN(hosts)]++
			}
		}
		var host []int32
		for k, size := range sizes {
			for range size {
				host = append(host, int32(k))
			}
		}
		best, name := math.MaxInt, ""
		for algorithm, order := range published {
			m := map[string]int32{}
			for i, c := range order(g.Dims, n/hosts) {
				m[fmt.Sprint(c)] = host[i]
			}
			if len(m) != n {
				t.Fatalf("%s orders %d positions of %v", algorithm, len(m), g)
			}
			if c := countEdges(g, m); c < best {
				best, name = c, algorithm
			}
		}
		if got := checkArrangement(t, g, host); got > best {
			worse++
			t.Errorf("%v on hosts of %v processes: %d edges between hosts, %s has %d", g, sizes, got, name, best)
		}
		if r.IntN(4) == 0 { // processes of a host do not follow each other
			r.Shuffle(n, func(i, j int) { host[i], host[j] = host[j], host[i] })
			checkArrangement(t, g, host)
		}
	}
	if worse > 0 {
		t.Logf("%d of 2000", worse)
	}
}

// Processes stay where they are if nothing is gained: on one host, and where they are best placed.
func TestArrangementThatGainsNothing(t *testing.T) {
	for _, c := range []struct {
		g    *Grid
		host []int32
	}{
		{grid(), []int32{0}}, {grid(4), []int32{7, 7, 7, 7}}, {grid(4), []int32{0, 0, 1, 1}}, {torus(1, 2), []int32{0, 1}},
		{grid(4, 2), []int32{0, 0, 0, 0, 1, 1, 1, 1}}, {torus(4), []int32{3, 3, 1, 1}},
	} {
		if place, before, after := Arrange(c.g, c.host); place != nil || before != after {
			t.Errorf("%v on %v: arranged as %v, %d edges before and %d after", c.g, c.host, place, before, after)
		}
	}
	if place, before, after := Arrange(grid(2, 4), []int32{0, 0, 0, 0, 1, 1, 1, 1}); !slices.Equal(place, []int32{0, 1, 4, 5, 2, 3, 6, 7}) || before != 4 || after != 2 {
		t.Errorf("two rows of four on two hosts: %v, %d edges before and %d after", place, before, after)
	}
}

// A graph is arranged by weight: two heavy groups that are interleaved come apart.
func TestTOP05_GraphsAreArrangedByWeight(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		n := 4 + r.IntN(28)
		g := &Graph{First: []int{0}}
		for i := range n {
			for range r.IntN(6) {
				g.To, g.Weight = append(g.To, int32(r.IntN(n))), append(g.Weight, int64(r.IntN(3)))
			}
			g.To, g.Weight = append(g.To, int32((i+2)%n)), append(g.Weight, 100)
			g.First = append(g.First, len(g.To))
		}
		host := make([]int32, n)
		for i := range host {
			host[i] = int32(i / ((n + 1) / 2))
		}
		place, before, after := ArrangeGraph(g, host)
		if before != g.Crossing(host) {
			t.Errorf("weight %d crosses, counted %d", g.Crossing(host), before)
		}
		if place == nil {
			if after != before {
				t.Errorf("no arrangement, but weight %d after %d", after, before)
			}
			continue
		}
		owner := make([]int32, n)
		for i := range owner {
			owner[i] = -1
		}
		for i, p := range place {
			if owner[p] >= 0 {
				t.Fatalf("two processes are vertex %d: %v", p, place)
			}
			owner[p] = host[i]
		}
		if g.Crossing(owner) != after || after >= before {
			t.Errorf("weight %d crosses after %d, counted %d", g.Crossing(owner), before, after)
		}
		if split := make([]int32, n); n%2 == 0 {
			for i := range split {
				split[i] = int32(i % 2)
			}
			if after > g.Crossing(split) {
				t.Errorf("%d processes: weight %d crosses, the heavy groups leave %d", n, after, g.Crossing(split))
			}
		}
	}
}

// The bar: a 3-D grid of 10,000 processes takes less than 1 ms.
func BenchmarkArrange(b *testing.B) {
	for _, hosts := range []int{4, 100, 157} {
		g := torus(25, 20, 20)
		host := make([]int32, g.Size())
		for i := range host {
			host[i] = int32(i * hosts / len(host))
		}
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			var before, after int
			for b.Loop() {
				_, before, after = Arrange(g, host)
			}
			b.ReportMetric(float64(after)/float64(before), "edges")
		})
	}
}
