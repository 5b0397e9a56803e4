package mpi_test

import "testing"

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
