package topology

import "fmt"

// Gain describes in words what an arrangement gains. before and after are the numbers of edges between
// hosts, or their weights.
func Gain(before, after int64) string {
	if after >= before {
		return fmt.Sprintf("%d edges between hosts, as in the order of the ranks", before)
	}
	return fmt.Sprintf("%d edges between hosts, %d in the order of the ranks", after, before)
}
