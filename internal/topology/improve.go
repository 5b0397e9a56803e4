package topology

// improveMax is the largest number of positions of a grid that improve looks at. For more of them
// the candidates are good, and improve would take half of the time.
const improveMax = 1024

// Budgets of improve, in exchanges that are tried: of a grid less than a millisecond, of a graph,
// whose weights a program has collected for this purpose, a second at most.
const (
	gridBudget  = 1 << 14
	graphBudget = 1 << 23
)

// improve exchanges the owners of two processes of a symmetric graph while that lowers the weight
// of the edges between owners, or until it has tried budget exchanges. Both processes have an edge
// to another owner; each pair is tried in the order of numbers, and the best partner of a process
// is taken.
func improve(s *Graph, owner []int32, owners, budget int) {
	borders := make([][]int32, owners) // by owner: processes that have had edges to others
	weights, other := make([]int64, owners), make([]int64, owners)
	// count computes the weight of the edges of i to each owner.
	count := func(i int32, w []int64) {
		clear(w)
		for e := s.First[i]; e < s.First[i+1]; e++ {
			w[owner[s.To[e]]] += s.weight(e)
		}
	}
	for changed := true; changed; {
		changed = false
		for k := range borders {
			borders[k] = borders[k][:0]
		}
		for i := range s.Size() {
			for e := s.First[i]; e < s.First[i+1]; e++ {
				if owner[s.To[e]] != owner[i] {
					borders[owner[i]] = append(borders[owner[i]], int32(i))
					break
				}
			}
		}
		for i := range int32(s.Size()) {
			count(i, weights)
			a := owner[i]
			best, partner := int64(0), int32(-1)
			for b := range int32(owners) {
				if b == a || weights[b] == 0 {
					continue
				}
				for _, j := range borders[b] {
					if owner[j] != b {
						continue // it was exchanged in this pass
					}
					budget--
					if budget < 0 {
						return
					}
					count(j, other)
					gain := weights[b] - weights[a] + other[a] - other[b]
					for e := s.First[i]; gain > best && e < s.First[i+1]; e++ {
						if s.To[e] == j {
							gain -= 2 * s.weight(e)
						}
					}
					if gain > best {
						best, partner = gain, j
					}
				}
			}
			if partner >= 0 {
				owner[i], owner[partner] = owner[partner], a
				changed = true
			}
		}
	}
}
