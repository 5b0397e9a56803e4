package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
)

// Benchmarks that start and connect processes print a figure each.
func TestBenchOfProcesses(t *testing.T) {
	halo := testrun.Halo(t, t.TempDir())
	for _, x := range []struct{ name, sizes, want string }{
		{"spawn", "1", `{"bench":"spawn","fabric":"shm","ranks":1,"size":1,"us":F}`},
		{"connect", "0", `{"bench":"connect","fabric":"shm","ranks":2,"us":F}`},
		{"across", "8", `{"bench":"across","fabric":"shm","ranks":1,"size":8,"us":F}`},
		{"pool", "2", `{"bench":"pool","fabric":"shm","ranks":1,"size":2,"us":F}`},
	} {
		out, err := exec.Command(halo, "bench", "-json", "-sizes", x.sizes, x.name).CombinedOutput()
		pattern := strings.ReplaceAll(regexp.QuoteMeta(x.want), `:F\}`, `:[0-9.]+\}`)
		if err != nil || !regexp.MustCompile("^"+pattern+"\n$").Match(out) {
			t.Errorf("halo bench %s: %v\n%s", x.name, err, out)
		}
	}
}
