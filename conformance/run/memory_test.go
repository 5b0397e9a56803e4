//go:build linux

package run

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// A rank takes 1.8 MiB of memory of its own where it has two Ps, 0.8 of which are an empty
// library of Go; it was 2.7 (issue 19, section 3).
func TestMemoryOfARank(t *testing.T) {
	need(t)
	notSanitizing(t)
	if huge, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil && strings.Contains(string(huge), "[always]") {
		t.Skip("the kernel gives huge pages to whoever touches a byte")
	}
	const most = 2000 // KiB
	program := compile(t, "mpicc", "../process_memory.c")
	r := launched(t, "shm", 2, []string{"GOMAXPROCS=2"}, program)
	if r.status != 0 || r.err != "" {
		t.Fatalf("%+v", r)
	}
	kib, err := strconv.Atoi(strings.TrimSpace(r.out))
	if err != nil || kib > most {
		t.Errorf("rank 0 has %q KiB of its own, %d are expected at most (%v)", r.out, most, err)
	}
}
