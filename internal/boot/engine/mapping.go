package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// MappingKey is the key under which PMI-1 and PMI-2 servers store on which node each rank runs.
const MappingKey = "PMI_process_mapping"

// ParseMapping returns the number of the node of each of size ranks from the value of MappingKey, such
// as "(vector,(0,2,2))". Each triple has the first node, the number of nodes, and the number of ranks on
// each of these; the list is repeated until all ranks have a node. MPICH from version 4.2 on also writes
// "[(0,2,1)]x2" for a list that is repeated. An empty value means that the server does not know the
// nodes: the result is nil. Nodes are numbered in the order of their first ranks.
func ParseMapping(value string, size int) ([]int, error) {
	if value == "" {
		return nil, nil
	}
	p := mapping{left: value, size: size}
	if !p.take("(vector,") || !p.list(')') || !p.take(")") || p.left != "" || len(p.blocks) == 0 {
		return nil, fmt.Errorf("engine: %s=%q at %d is no list of nodes", MappingKey, value[:min(len(value), 200)], len(value)-len(p.left))
	}
	var nodes []int
	numbers := map[int]int{}
	for len(nodes) < size {
		for _, b := range p.blocks {
			for node := b[0]; node < b[0]+b[1] && len(nodes) < size; node++ {
				n, seen := numbers[node]
				if !seen {
					n = len(numbers)
					numbers[node] = n
				}
				for i := 0; i < b[2] && len(nodes) < size; i++ {
					nodes = append(nodes, n)
				}
			}
		}
	}
	return nodes, nil
}

// mapping is the parser of ParseMapping.
type mapping struct {
	left   string
	size   int
	blocks [][3]int
}

func (p *mapping) take(word string) bool {
	rest, ok := strings.CutPrefix(p.left, word)
	if ok {
		p.left = rest
	}
	return ok
}

// number takes a number of at most MaxRanks.
func (p *mapping) number() (int, bool) {
	n := 0
	for n < len(p.left) && '0' <= p.left[n] && p.left[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(p.left[:n])
	p.left = p.left[n:]
	return v, err == nil && v <= MaxRanks
}

// room reports whether n more triples are at most MaxRanks in all. A job has a rank for each.
func (p *mapping) room(n int) bool { return len(p.blocks)+n <= MaxRanks }

// list takes triples and repeated lists of them, separated by commas, up to the character end.
func (p *mapping) list(end byte) bool {
	for {
		switch {
		case p.take("["):
			from := len(p.blocks)
			if !p.list(']') || !p.take("]x") {
				return false
			}
			times, ok := p.number()
			once := p.blocks[from:]
			if !ok || times < 1 || !p.room((times-1)*len(once)) {
				return false
			}
			for range times - 1 {
				p.blocks = append(p.blocks, once...)
			}
		case p.take("("):
			var b [3]int
			for i := range b {
				var ok bool
				b[i], ok = p.number()
				if !ok || i < 2 && !p.take(",") {
					return false
				}
			}
			if !p.take(")") || b[1] < 1 || b[2] < 1 || !p.room(1) {
				return false
			}
			p.blocks = append(p.blocks, b)
		default:
			return false
		}
		if p.left != "" && p.left[0] == end {
			return true
		}
		if !p.take(",") {
			return false
		}
	}
}
