package joined

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// hydra returns the arguments to run a program under Hydra, on some nodes of this machine.
func hydra(t *testing.T, nodes, ranks int, args ...string) []string {
	t.Helper()
	line := []string{need(t, "mpiexec.hydra"), "-launcher", "fork", "-n", fmt.Sprint(ranks)}
	if nodes > 1 {
		var hosts []string
		for i := range nodes {
			hosts = append(hosts, fmt.Sprintf("127.0.0.%d", i+1))
		}
		line = append(line, "-hosts", strings.Join(hosts, ","))
	}
	return append(line, args...)
}

// A job of Hydra is one world, on one node and on several, over shared memory and over sockets.
func TestXLCH01_HydraStartsAJob(t *testing.T) {
	for _, x := range []struct {
		fabric              string
		nodes, ranks, share int
	}{{"shm", 1, 1, 1}, {"shm", 1, 4, 4}, {"shm", 2, 4, 2}, {"shm", 3, 5, 2}, {"tcp", 2, 4, 1}} {
		o := runs(t, []string{"HALO_FABRIC=" + x.fabric}, hydra(t, x.nodes, x.ranks, program("rank"), "all")...).wants(0)
		for r := range x.ranks {
			o.has(fmt.Sprintf("rank %d of %d, ", r, x.ranks))
		}
		o.has(fmt.Sprintf("%d on its node, sum %d, app 0, universe -1", x.share, x.ranks*(x.ranks-1)/2)) // Hydra does not say how large
	}
}

// Where a container denies shared memory to the processes of a node they use sockets.
func TestXLCH01_NoSharedMemoryUnderHydra(t *testing.T) {
	runs(t, nil, hydra(t, 1, 4, program("deny"), "memfd_create", program("rank"), "all")...).wants(0, "rank 3 of 4, 1 on its node, sum 6, app 0")
}

// Hydra also gives the address of its server, and the blocks of an MPMD command line.
func TestXLCH01_HydraByPort(t *testing.T) {
	args := hydra(t, 1, 2, program("rank"), "all", ":", "-n", "1", program("rank"), "all")
	runs(t, nil, append([]string{args[0], "-pmi-port"}, args[1:]...)...).wants(0, "rank 0 of 3, 3 on its node, sum 3, app 0", "rank 2 of 3, 3 on its node, sum 3, app 1")
}

// The number of processes for which Hydra has room is an attribute.
func TestXINI01_UniverseOfHydra(t *testing.T) {
	args := hydra(t, 1, 2, program("rank"), "all")
	runs(t, nil, append([]string{args[0], "-usize", "8"}, args[1:]...)...).wants(0, "universe 8")
}

// heat computes the same under Hydra as alone.
func TestXLCH01_HeatUnderHydra(t *testing.T) {
	sum := func(o outcome) string {
		_, after, ok := strings.Cut(o.out, "checksum ")
		if !ok {
			t.Fatalf("no checksum:\n%s", o.out)
		}
		return strings.Fields(after)[0]
	}
	alone := sum(runs(t, nil, program("heat"), "-steps", "20").wants(0))
	for nodes := 1; nodes <= 2; nodes++ {
		if got := sum(runs(t, nil, hydra(t, nodes, 4, program("heat"), "-steps", "20")...).wants(0)); got != alone {
			t.Errorf("on %d nodes the checksum is %s, alone it is %s", nodes, got, alone)
		}
	}
}

// Some ranks use sessions while the others are stopped and have never called MPI.
func TestXSES01_HydraSessionOfSome(t *testing.T) {
	for nodes := 1; nodes <= 2; nodes++ {
		runs(t, nil, hydra(t, nodes, 4, program("session"), "some", t.TempDir())...).wants(0)
	}
	// In a job of one node sessions come before, beside and after the world model.
	runs(t, nil, hydra(t, 1, 4, program("session"), "around", t.TempDir())...).wants(0)
}

// Processes become leaders one after the other, when the one before has ended its sessions and exits.
func TestXSES01_LeadersFollowEachOther(t *testing.T) {
	for range 3 {
		for nodes := 1; nodes <= 2; nodes++ {
			runs(t, nil, hydra(t, nodes, 6, program("session"), "psets", t.TempDir())...).wants(0)
		}
	}
}

// The death of a rank ends the job, whether it leads its node or not, and nothing is left.
func TestF4_HydraDeath(t *testing.T) {
	for nodes := 1; nodes <= 2; nodes++ {
		if o := runs(t, nil, hydra(t, nodes, 4, program("rank"), "die", "2")...); o.status == 0 {
			t.Errorf("the death of rank 2 goes unnoticed:\n%s", o.out)
		}
		for _, when := range []string{"unopened", "opened", "amid"} {
			if o := runs(t, nil, hydra(t, nodes, 4, program("session"), when)...); o.status == 0 {
				t.Errorf("a death (%s) goes unnoticed:\n%s", when, o.out)
			}
		}
	}
}

// When Hydra itself is killed, its processes end.
func TestF4_HydraIsKilled(t *testing.T) {
	for nodes := 1; nodes <= 2; nodes++ {
		begun := filepath.Join(t.TempDir(), "begun")
		line := append([]string{"bash", "-c", `"$@" & p=$!; until [ -e "$BEGUN" ]; do :; done; kill -9 $p; wait $p`, "bash"}, hydra(t, nodes, 4, program("rank"), "forever", begun)...)
		runs(t, []string{"BEGUN=" + begun}, line...).wants(137)
	}
}

// Abort ends the job with its code.
func TestENV07_HydraAbort(t *testing.T) {
	for nodes := 1; nodes <= 2; nodes++ {
		runs(t, nil, hydra(t, nodes, 4, program("rank"), "abort")...).wants(7, "rank 3 (pid ", "called Abort(7)")
	}
}

// A program that a rank starts is no rank of the job.
func TestXLCH01_ChildOfARank(t *testing.T) {
	runs(t, nil, hydra(t, 1, 2, program("rank"), "parent")...).wants(0, "a child in a world of 1")
}

// Programs that never call MPI end as they would without Halo.
func TestXLCH01_HydraProgramsWithoutMPI(t *testing.T) {
	runs(t, nil, hydra(t, 1, 3, program("rank"), "without")...).wants(0)
}
