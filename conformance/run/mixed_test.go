//go:build linux

package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Programs in C and in Go spawn each other, connect to each other, exchange messages and share memory, and are ranks of
// one job. An abort of one ends them all, with its status (ENV-07, X-DYN-01, X-RMA-01).
func TestENV07_XDYN01_CAndGo(t *testing.T) {
	need(t)
	t.Parallel()
	inC := programs(t, []entry{{name: "job_memory"}})["job_memory"]
	inGo := filepath.Join(t.TempDir(), "mixed")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", inGo, "../mixed")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, fabric := range []string{"shm", "tcp"} {
		for _, p := range [][2]string{{inC, inGo}, {inGo, inC}} {
			if r := launched(t, fabric, 2, nil, p[0], p[1]); r.status != 0 || strings.Count(r.out, "no errors") != 1 || r.err != "" {
				t.Errorf("%s spawns %s over %s: status %d: %s%s", filepath.Base(p[0]), filepath.Base(p[1]), fabric, r.status, r.out, r.err)
			}
			if r := launched(t, fabric, 1, nil, p[0], p[1], "abort"); r.status != 7 || !strings.Contains(r.err, "Abort(7)") {
				t.Errorf("%s spawns %s, which aborts, over %s: status %d: %s%s", filepath.Base(p[0]), filepath.Base(p[1]), fabric, r.status, r.out, r.err)
			}
		}
		for i, p := range [][2]string{{inC, inGo}, {inGo, inC}} {
			service := fmt.Sprintf("%s %s %d %d", t.Name(), fabric, os.Getpid(), i)
			var server result
			var both sync.WaitGroup
			both.Go(func() { server = launched(t, fabric, 2, nil, p[0], "serve", service) })
			client := launched(t, fabric, 3, nil, p[1], "call", service)
			both.Wait()
			for _, r := range []result{server, client} {
				if r.status != 0 || r.out != "no errors\n" || r.err != "" {
					t.Errorf("%s calls %s over %s: status %d: %s%s", filepath.Base(p[1]), filepath.Base(p[0]), fabric, r.status, r.out, r.err)
				}
			}
		}
		r := command(t, nil, bin("mpiexec"), "-fabric", fabric, "-n", "1", inC, inGo, ":", "-n", "1", inGo, inGo)
		if r.status != 0 || r.out != "no errors\n" || r.err != "" {
			t.Errorf("ranks in C and Go over %s: status %d: %s%s", fabric, r.status, r.out, r.err)
		}
	}
}
