package coll_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// Each collective compared with a serial computation over hosts that are
// network namespaces, started by ssh: two hosts and three, ranks consecutive on each host and in
// turn, memory or loopback within a host, more ranks than cores.
func TestCollectivesOverNamespacedHosts(t *testing.T) {
	h := hosttest.Start(t, 3)
	dir := t.TempDir()
	halo := testrun.Halo(t, dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	jobs := [][]string{
		{"-host", "host0:5,host1:4", "-map-by", "slot", "-n", "9"},
		{"-host", "host0:5,host1:5", "-map-by", "node", "-n", "9"},
		{"-host", "host0:3,host1:1,host2:3", "-map-by", "slot", "-n", "7"},
		{"-host", "host0:3,host1:3,host2:3", "-map-by", "node", "-n", "8"},
		{"-host", "host0:2,host1:2", "-map-by", "node", "-fabric", "tcp", "-n", "4"},
	}
	if testrun.Race {
		jobs = jobs[len(jobs)-1:]
	}
	for _, job := range jobs {
		t.Run(strings.Join(job, " "), func(t *testing.T) {
			args := append([]string{"run", "-ssh", "'" + strings.Join(h.SSH(), "' '") + "'", "-timeout", "20m"}, job...)
			args = append(args, "-env", programVariable, "collectives", exe)
			cmd := h.CommandIn(0, dir, halo, args...)
			cmd.Env = os.Environ()
			cmd.WaitDelay = time.Minute
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || errs.Len() > 0 || !strings.HasPrefix(out.String(), "collectives: ") {
				t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
			}
			t.Logf("%s", out.String())
		})
	}
}
