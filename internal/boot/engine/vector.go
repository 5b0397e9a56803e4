package engine

import (
	"fmt"
	"strings"
)

// FormatMapping returns the value of MappingKey for the node of each rank, as all versions of MPICH read
// it: triples only, and one period of them if they repeat.
func FormatMapping(nodes []int) string {
	var counts [][2]int // node, and ranks that follow each other on it
	for _, n := range nodes {
		if k := len(counts) - 1; k >= 0 && counts[k][0] == n {
			counts[k][1]++
		} else {
			counts = append(counts, [2]int{n, 1})
		}
	}
	counts = counts[:period(counts)]
	var b strings.Builder
	b.WriteString("(vector")
	for i := 0; i < len(counts); {
		first, size, n := counts[i][0], counts[i][1], 1
		for i+n < len(counts) && counts[i+n] == [2]int{first + n, size} {
			n++
		}
		fmt.Fprintf(&b, ",(%d,%d,%d)", first, n, size)
		i += n
	}
	b.WriteString(")")
	return b.String()
}

// maxPeriod bounds the search for a period: it is far more than a value of MaxValue bytes describes.
const maxPeriod = 1000

// period is the length of the shortest list that is counts when it is repeated, the last time
// perhaps in part.
func period(counts [][2]int) int {
	for n := 1; n < min(len(counts), maxPeriod); n++ {
		repeats := true
		for i := n; repeats && i < len(counts); i++ {
			repeats = counts[i] == counts[i-n]
		}
		if repeats {
			return n
		}
	}
	return len(counts)
}
