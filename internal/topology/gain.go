package topology

import "fmt"

// Gain describes what an arrangement gains: the edges between hosts, or their weight, before and
// after.
func Gain(before, after int64) string {
	if after >= before {
		return fmt.Sprintf("%d edges between hosts, as in the order of the ranks", before)
	}
	return fmt.Sprintf("%d edges between hosts, %d in the order of the ranks", after, before)
}
