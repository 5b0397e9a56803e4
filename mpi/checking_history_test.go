package mpi_test

import (
	"fmt"
	"testing"
)

// In checking mode random histories of messages and collectives are as right as ever,
// on one host and several.
func TestRandomHistoriesInCheckingMode(t *testing.T) {
	count := 10
	if raceBuild || testing.Short() {
		count = 4
	}
	first := uint64(2000)
	if *historyFlag != 0 {
		first, count = *historyFlag, 1
	}
	const name = "TestRandomHistoriesInCheckingMode"
	for _, n := range []int{1, 2, 5} {
		checked(t, n, replayable(fmt.Sprintf("%s/.*-%d", name, n), n, first, count))
	}
	t.Setenv("HALO_CHECK", "1")
	onHosts(t, "0010", replayable(name+"/.*@0010", 4, first, count))
}
