//go:build linux

package run

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A rank takes 1.8 MiB of private memory, of which an empty Go library takes 0.8 MiB, and 1.9 MiB with
// GOMAXPROCS=2 in the environment; it was 2.7 MiB. 0.8 MiB are tables that the loader relocates, which
// grow with the library: sessions, partitioned communication and neighbourhood collectives took 50 KiB,
// the clients of job engines and their keys 70 KiB, what connects jobs 15 KiB.
// The assignment of work to Ps adds up to 100 KiB, so the test uses the minimum of several runs.
func TestMemoryOfARank(t *testing.T) {
	need(t)
	notSanitizing(t)
	if huge, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil && strings.Contains(string(huge), "[always]") {
		t.Skip("the kernel gives huge pages to whoever touches a byte")
	}
	program := compile(t, "mpicc", "../process_memory.c")
	least := func(env ...string) int {
		best := 0
		for range 20 { // single runs differ by a tenth, and the least of 20 by 50 KiB
			r := launched(t, "shm", 2, env, program)
			kib, err := strconv.Atoi(strings.TrimSpace(r.out))
			if r.status != 0 || r.err != "" || err != nil {
				t.Fatalf("%+v (%v)", r, err)
			}
			if best == 0 || kib < best {
				best = kib
			}
		}
		return best
	}
	if kib, most := least("GOMAXPROCS=2"), 2060; kib > most {
		t.Errorf("with GOMAXPROCS=2 rank 0 has %d KiB of its own, %d are expected at most", kib, most)
	}
	if runtime.NumCPU() > 2 { // the runtime starts with a P for each core
		return
	}
	if kib, most := least(), 1980; kib > most {
		t.Errorf("rank 0 has %d KiB of its own, %d are expected at most", kib, most)
	}
}
