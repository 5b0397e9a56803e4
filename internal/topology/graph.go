package topology

import "container/heap"

// A Graph has edges between processes. The edges from process i are To[First[i]:First[i+1]]; edges
// may go to the process itself, and several may go to the same one.
type Graph struct {
	First  []int
	To     []int32
	Weight []int64 // by edge; nil: all have weight 1
}

// Size is the number of processes.
func (g *Graph) Size() int { return len(g.First) - 1 }

func (g *Graph) weight(edge int) int64 {
	if g.Weight == nil {
		return 1
	}
	return g.Weight[edge]
}

// Crossing is the weight of the edges between processes of different owners.
func (g *Graph) Crossing(owner []int32) int64 {
	var sum int64
	for i := range g.Size() {
		for e := g.First[i]; e < g.First[i+1]; e++ {
			if owner[i] != owner[g.To[e]] {
				sum += g.weight(e)
			}
		}
	}
	return sum
}

// Unpaired returns two processes of which the first has another number of edges to the second than
// that has to the first, and both numbers; ok is false if there are none.
func (g *Graph) Unpaired() (a, b, there, back int, ok bool) {
	type pair struct{ from, to int32 }
	edges := make(map[pair]int, len(g.To))
	for i := range g.Size() {
		for _, k := range g.To[g.First[i]:g.First[i+1]] {
			edges[pair{int32(i), k}]++
		}
	}
	for i := range g.Size() { // in this order, so that all processes find the same two
		for _, k := range g.To[g.First[i]:g.First[i+1]] {
			if there, back := edges[pair{int32(i), k}], edges[pair{k, int32(i)}]; there != back {
				return i, int(k), there, back, true
			}
		}
	}
	return 0, 0, 0, 0, false
}

// symmetric returns the graph with an edge in each direction, whose weight is the sum of all edges
// between the two, and without edges from a process to itself.
func (g *Graph) symmetric() *Graph {
	n := g.Size()
	type edge struct {
		to     int32
		weight int64
	}
	lists := make([][]edge, n)
	for i := range n {
		for e := g.First[i]; e < g.First[i+1]; e++ {
			if k := g.To[e]; int(k) != i {
				lists[i] = append(lists[i], edge{k, g.weight(e)})
				lists[k] = append(lists[k], edge{int32(i), g.weight(e)})
			}
		}
	}
	s := &Graph{First: make([]int, 1, n+1)}
	at := make([]int, n) // by process: 1 + where the edge to it is in s
	for _, list := range lists {
		from := len(s.To)
		for _, e := range list {
			if k := at[e.to]; k > from {
				s.Weight[k-1] += e.weight
				continue
			}
			s.To, s.Weight = append(s.To, e.to), append(s.Weight, e.weight)
			at[e.to] = len(s.To)
		}
		s.First = append(s.First, len(s.To))
	}
	return s
}

// ArrangeGraph is Arrange for a graph: it returns for each process which number in the graph it
// gets, nil if no arrangement is better, and the weight of the edges between hosts before and after.
//
// Hosts are filled one after the other: a host begins with the process that has the least weight
// to others that are left, and takes next the one with the most weight to itself, of those the one
// with the least to others that are left. Then pairs at the borders of hosts are exchanged while
// that helps.
func ArrangeGraph(g *Graph, host []int32) (place []int32, before, after int64) {
	h := groupByHost(host)
	if len(h.size) < 2 {
		return nil, 0, 0
	}
	before = g.Crossing(h.of)
	s := g.symmetric()
	grown := s.grow(h)
	stay := append([]int32(nil), h.of...)
	improve(s, grown, len(h.size), graphBudget)
	improve(s, stay, len(h.size), graphBudget)
	best := grown
	after = g.Crossing(grown)
	if g.Crossing(stay) <= after {
		best, after = stay, g.Crossing(stay)
	}
	if after >= before {
		return nil, before, before
	}
	return h.places(best), before, after
}

// grow fills one host after the other.
func (s *Graph) grow(h *hosts) (owner []int32) {
	n := s.Size()
	owner = make([]int32, n)
	left := make([]int64, n) // by process: weight to those that are left
	for i := range n {
		owner[i] = -1
		for e := s.First[i]; e < s.First[i+1]; e++ {
			left[i] += s.weight(e)
		}
	}
	for k, size := range h.size {
		q := frontier{inside: make([]int64, n), left: left, at: make([]int, n)}
		for i := range n {
			if owner[i] < 0 {
				q.list = append(q.list, int32(i))
				q.at[i] = len(q.list)
			}
		}
		heap.Init(&q)
		for range size {
			i := heap.Pop(&q).(int32)
			owner[i] = int32(k)
			for e := s.First[i]; e < s.First[i+1]; e++ {
				to := s.To[e]
				left[to] -= s.weight(e)
				q.inside[to] += s.weight(e)
				if owner[to] < 0 {
					heap.Fix(&q, q.at[to]-1)
				}
			}
		}
	}
	return owner
}

// frontier are the processes that are left, the one that a host takes next first.
type frontier struct {
	list         []int32
	inside, left []int64 // by process: weight to the host, and to others that are left
	at           []int   // by process: 1 + its place in list
}

func (q *frontier) Len() int { return len(q.list) }

func (q *frontier) Less(a, b int) bool {
	i, k := q.list[a], q.list[b]
	switch {
	case q.inside[i] != q.inside[k]:
		return q.inside[i] > q.inside[k]
	case q.left[i] != q.left[k]:
		return q.left[i] < q.left[k]
	}
	return i < k
}

func (q *frontier) Swap(a, b int) {
	q.list[a], q.list[b] = q.list[b], q.list[a]
	q.at[q.list[a]], q.at[q.list[b]] = a+1, b+1
}

// Push is part of heap.Interface; nothing is added.
func (q *frontier) Push(any) { panic("topology: a process is added") }

// Pop is part of heap.Interface.
func (q *frontier) Pop() any {
	last := len(q.list) - 1
	i := q.list[last]
	q.list = q.list[:last]
	return i
}
