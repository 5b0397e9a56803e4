package histories_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/mpi/mpitest"
)

// In checking mode random histories of messages and collectives are as right as ever,
// on one host and several.
func TestRandomHistoriesInCheckingMode(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
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
		mpitest.Run(t, n, replayable(fmt.Sprintf("%s/.*-%d", name, n), n, first, count))
	}
	onHosts(t, "0010", replayable(name+"/.*@0010", 4, first, count))
}
