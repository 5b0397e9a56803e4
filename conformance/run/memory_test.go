//go:build linux

package run

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A rank takes 1.6 MiB of memory of its own, 0.8 of which are an empty library of Go, and 1.7 where
// the environment has GOMAXPROCS=2; it was 2.7 (issue 19, section 3). The assignment of work to Ps
// adds up to 100 KiB, so the minimum of some runs counts.
func TestMemoryOfARank(t *testing.T) {
	need(t)
	notSanitizing(t)
	if huge, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil && strings.Contains(string(huge), "[always]") {
		t.Skip("the kernel gives huge pages to whoever touches a byte")
	}
	program := compile(t, "mpicc", "../process_memory.c")
	least := func(env ...string) int {
		best := 0
		for range 5 {
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
	if kib, most := least("GOMAXPROCS=2"), 1800; kib > most {
		t.Errorf("with GOMAXPROCS=2 rank 0 has %d KiB of its own, %d are expected at most", kib, most)
	}
	if runtime.NumCPU() > 2 { // the runtime begins with a P for each
		return
	}
	if kib, most := least(), 1700; kib > most {
		t.Errorf("rank 0 has %d KiB of its own, %d are expected at most", kib, most)
	}
}
