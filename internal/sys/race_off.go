//go:build !race

package sys

// Race says that the race detector is on: everything takes ten times as long, allocates, and loads
// ahead are taken for reads.
const Race = false
