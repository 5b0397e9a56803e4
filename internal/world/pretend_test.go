package world_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/world"
)

// Ranks on pretended hosts know who is on theirs, and reach those through memory
// and the others by tcp, over every fabric and placement.
func TestPretendedHosts(t *testing.T) {
	before := leak.Take()
	for _, fabric := range fabrics() {
		for _, places := range []string{"0", "00", "01", "0011", "0101", "00012", "010201211"} {
			n := len(places)
			err := world.RunGoroutines(fabric+"@"+places, n, func(w *world.World) error {
				job, me := w.Proc.Job(), w.Comm.Rank
				if hosts := int(slices.Max([]byte(places))-'0') + 1; len(job.Hosts) != hosts {
					return fmt.Errorf("rank %d: hosts %q, want %d", me, job.Hosts, hosts)
				}
				for r := range n {
					here := places[r] == places[me]
					if int(job.Host[r]) != int(places[r]-'0') || slices.Contains(job.Local, r) != here {
						return fmt.Errorf("rank %d of %s: rank %d is on host %d, local are %v", me, places, r, job.Host[r], job.Local)
					}
					node := w.Proc.Node()
					if got := node != nil && node.LocalIndex(r) >= 0; r != me && got != (here && fabric != "tcp") {
						return fmt.Errorf("rank %d of %s: rank %d in memory: %t", me, places, r, got)
					}
				}
				if err := w.Coll.Barrier(w.Comm); err != nil {
					return err
				}
				return w.Close()
			})
			if err != nil {
				t.Errorf("%s@%s: %v", fabric, places, err)
			}
		}
	}
	if left := before.Left(); left != "" {
		t.Error(left)
	}
}

func TestPretendedHostsThatCannotBe(t *testing.T) {
	for _, name := range []string{"inproc@", "inproc@00", "inproc@0000", "tcp@020", "shm@00x", "inproc@0-1", "inproc@10"} {
		err := world.RunGoroutines(name, 3, func(*world.World) error { return nil })
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("three ranks over %s: %v", name, err)
		}
	}
}
