//go:build !race

package sys

// Race says that the race detector is on. Then everything takes ten times as long and allocates, and the
// detector regards prefetching loads as reads.
const Race = false
