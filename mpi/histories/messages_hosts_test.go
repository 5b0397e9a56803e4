package histories_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// onHosts runs fn on ranks at these places, over each fabric on a host.
func onHosts(t *testing.T, places string, fn func(t testing.TB, world *mpi.Comm)) {
	t.Helper()
	for _, fabric := range mpitest.Fabrics() {
		fabric += "@" + places
		t.Run(fabric, func(t *testing.T) { mpitest.On(t, fabric, len(places), fn) })
	}
}

// Random histories of messages over several hosts: near peers through memory or loopback,
// far ones through sealed sockets, in one process of which each waits for both.
func TestRandomHistoriesOverHosts(t *testing.T) {
	count := 12
	if raceBuild || testing.Short() {
		count = 6
	}
	first := uint64(1000)
	if *historyFlag != 0 {
		first, count = *historyFlag, 1
	}
	for _, places := range []string{"01", "001", "0110", "00102"} {
		onHosts(t, places, replayable("TestRandomHistoriesOverHosts/.*@"+places, len(places), first, count))
	}
}
