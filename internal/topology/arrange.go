package topology

// Arrange places processes on a grid such that few neighbours are on different hosts. host has the
// host of each process; there are as many processes as the grid has positions. It returns the
// position of each process, and the number of edges between hosts: before, when each process is at
// the position of its number, and after. place is nil if no arrangement has fewer edges between
// hosts: then processes stay where they are, as programs expect that permit an arrangement without
// a need for one.
//
// An edge is counted for each position and each dimension in which the position has a next one: in a
// periodic dimension of length 2 two positions share two edges.
//
// Each candidate is an order of all positions. The processes of the first host take the first
// positions, those of the second one the next, and so on, so hosts may have any numbers of
// processes. Candidates are
//
//   - rows along the shortest dimension;
//   - hyperplanes, k-d tree and strips of Hunold, von Kirchbach, Lehr, Schulz and Träff (2020), the
//     hyperplanes between hosts as they are and between hosts of equal size, the strips in two
//     widths;
//   - bricks: the grid cut into equal boxes of as many positions as each host has processes, if all
//     hosts have equally many and the lengths of the grid are multiples of those of such a box.
//
// The best one is improved by exchanges at the borders of hosts if the grid is small.
//
// The time grows like the number of processes, and all members get the same result.
//
// Rejected: a search for the optimum, whose time grows exponentially; and a rule that chooses the
// candidate for a grid, since the best one depends on the exact numbers.
func Arrange(g *Grid, host []int32) (place []int32, before, after int) {
	h := groupByHost(host)
	if len(h.size) < 2 {
		return nil, 0, 0
	}
	owner := make([]int32, len(host)) // by position: the host
	copy(owner, h.of)
	before = g.Crossing(owner)
	var best []int32
	after = before
	o := order{grid: g, positions: make([]int32, 0, len(host))}
	for _, candidate := range [...]func(*order, *hosts){rows, bricks, hyperplanes, evenHyperplanes, kdTree, strips, wideStrips} {
		o.positions = o.positions[:0]
		candidate(&o, h)
		if len(o.positions) == 0 {
			continue
		}
		h.assign(o.positions, owner)
		if c := g.Crossing(owner); c < after {
			best, after = append(best[:0], owner...), c
		}
	}
	if best == nil {
		best = append(best, h.of...)
	}
	if len(best) <= improveMax {
		improve(g.edges(), best, len(h.size), gridBudget)
		after = g.Crossing(best)
	}
	if after == before {
		return nil, before, before
	}
	return h.places(best), before, after
}

// Crossing is the number of edges between positions of different owners.
func (g *Grid) Crossing(owner []int32) int {
	n, stride := 0, 1
	for dim := len(g.Dims) - 1; dim >= 0; dim-- {
		d := g.Dims[dim]
		block := d * stride
		for base := 0; base < len(owner); base += block {
			row := owner[base : base+block]
			behind := row[stride:]
			for i, o := range behind {
				if row[i] != o {
					n++
				}
			}
			if g.Periods[dim] && d > 1 {
				for i, o := range row[block-stride:] {
					if row[i] != o {
						n++
					}
				}
			}
		}
		stride = block
	}
	return n
}

// edges is the grid as a graph in which each edge has weight 1, without edges from a position to
// itself.
func (g *Grid) edges() *Graph {
	n := g.Size()
	e := &Graph{First: make([]int, 1, n+1), To: make([]int32, 0, 2*n*len(g.Dims))}
	list := make([]int, 2*len(g.Dims))
	for at := range n {
		g.Neighbors(at, list)
		for _, to := range list {
			if to != None && to != at {
				e.To = append(e.To, int32(to))
			}
		}
		e.First = append(e.First, len(e.To))
	}
	return e
}

// hosts are the hosts of some processes. They are numbered in the order of their lowest processes.
type hosts struct {
	of   []int32 // by process: the number of its host
	size []int   // by host: the number of its processes
	ends []bool  // ends[n]: the first k hosts have n processes together, for some k
}

func groupByHost(host []int32) *hosts {
	h := &hosts{of: make([]int32, len(host)), ends: make([]bool, len(host)+1)}
	number := make(map[int32]int32)
	for i, name := range host {
		k, known := number[name]
		if !known {
			k = int32(len(h.size))
			number[name] = k
			h.size = append(h.size, 0)
		}
		h.of[i] = k
		h.size[k]++
	}
	end := 0
	for _, size := range h.size {
		end += size
		h.ends[end] = true
	}
	return h
}

// assign stores the host of each position in owner: the first positions of an order belong to the first
// host, the next ones to the second, and so on.
func (h *hosts) assign(positions []int32, owner []int32) {
	i := 0
	for k, size := range h.size {
		for _, at := range positions[i : i+size] {
			owner[at] = int32(k)
		}
		i += size
	}
}

// places gives each process a position that its host owns: the processes of a host take its
// positions in ascending order.
func (h *hosts) places(owner []int32) []int32 {
	next := make([]int, len(h.size)) // by host: where its next position is in list
	sum := 0
	for k, size := range h.size {
		next[k] = sum
		sum += size
	}
	list := make([]int32, len(owner)) // positions, host after host
	at := append([]int(nil), next...)
	for position, k := range owner {
		list[at[k]] = int32(position)
		at[k]++
	}
	place := make([]int32, len(owner))
	for process, k := range h.of {
		place[process] = list[next[k]]
		next[k]++
	}
	return place
}
