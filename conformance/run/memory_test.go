//go:build linux

package run

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A rank of a job of two takes 2.0 MiB of private memory, and 2.1 MiB with GOMAXPROCS=2 in the environment. Of
// these 844 KiB are pages of the library's file that have been written, nearly all of them tables that the loader
// relocates. They grow with the library: sessions, partitioned communication and neighbourhood collectives took
// 50 KiB, the clients of job engines and their keys 70 KiB, what connects jobs 15 KiB. They are the same in each run,
// so their bound is close.
// The rest depends on how far goroutines have come and on which P they run: single runs differ by 250 KiB, their
// least by 100, since few runs are far below the others, and their median by 20. So the median is bounded, beyond
// what was seen on busy machines. The environment is part of the memory, so the test passes on PATH alone.
func TestMemoryOfARank(t *testing.T) {
	need(t)
	notSanitizing(t)
	if huge, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil && strings.Contains(string(huge), "[always]") {
		t.Skip("the kernel gives huge pages to whoever touches a byte")
	}
	program := compile(t, "mpicc", "../process_memory.c")
	bounded := func(most int, env ...string) {
		var rest []int
		for range 21 {
			args := slices.Concat([]string{"-i", "PATH=" + os.Getenv("PATH")}, env, []string{bin("mpiexec"), "-n", "2", "-fabric", "shm", program})
			r := command(t, nil, "env", args...)
			var tables, others int
			if n, err := fmt.Sscan(r.out, &tables, &others); n != 2 || r.status != 0 || r.err != "" {
				t.Fatalf("%+v (%v)", r, err)
			}
			if tables < 400 || tables > 880 {
				t.Fatalf("%d KiB of the library's file have been written, 400 to 880 are expected", tables)
			}
			rest = append(rest, others)
		}
		slices.Sort(rest)
		if median := rest[len(rest)/2]; median > most {
			t.Errorf("beside the library's tables rank 0 has %d KiB of its own (%v) with %q, %d are expected at most", median, rest, env, most)
		}
	}
	bounded(1390, "GOMAXPROCS=2")
	if runtime.NumCPU() <= 2 { // else the runtime starts with a P for each core
		bounded(1310)
	}
}
