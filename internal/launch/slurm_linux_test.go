package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/enginetest"
)

// inSlurm prepares a run of halo by a command of Slurm, such as salloc, with its options.
func inSlurm(t *testing.T, s *enginetest.Slurm, slurm []string, args ...string) *run {
	t.Helper()
	r := newRun(t, append([]string{"-iface", "lo"}, args...)...) // both nodes are on this machine
	environ, attr := r.cmd.Env, r.cmd.SysProcAttr
	r.cmd = s.Command(slurm[0], append(slurm[1:], r.cmd.Args...)...)
	r.cmd.Env = append(environ, r.cmd.Env...)
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.SysProcAttr = &r.stdout, &r.stderr, attr
	r.cmd.WaitDelay = time.Minute
	return r
}

// X-LCH-01: in an allocation of Slurm halo run takes its nodes and slots, and starts agents by srun; scancel
// leaves nothing.
func TestSlurmJobs(t *testing.T) {
	t.Parallel()
	s := enginetest.StartSlurm(t)
	salloc := []string{"salloc", "-Q", "-N2", "-n4", "--ntasks-per-node=2"}
	t.Run("salloc", func(t *testing.T) {
		inSlurm(t, s, salloc, "-v", "rank", "init", "exchange", "hosts", "finalize").start().wait(0).printed(
			"rank 0 hosts [n1 n2] host [0 0 1 1] listen 127.0.0.1", "rank 1 hosts [n1 n2] host [0 0 1 1] listen 127.0.0.1",
			"rank 2 hosts [n1 n2] host [0 0 1 1] listen 127.0.0.1", "rank 3 hosts [n1 n2] host [0 0 1 1] listen 127.0.0.1").
			said("halo: the hosts are those of the Slurm job (n1 2, n2 2); agents are started by srun")
		inSlurm(t, s, salloc, "-n", "2", "-map-by", "node", "rank", "init", "exchange", "1@exit:3", "forever").start().wait(3).said("rank 1 ", "on n2", "exited with status 3")
	})
	// DYN-02: what is spawned runs on free slots of the allocation, on a node of which the job has had no rank, too.
	t.Run("spawn", func(t *testing.T) {
		inSlurm(t, s, salloc, "-n", "2", "rank", "init", "exchange", "0@free", "0@spawn:2|init|exchange|hosts|finalize", "exchange", "finalize").start().wait(0).quiet().printed(
			"free [2] ", "spawned [2]", "rank 0 hosts [n2] host [0 0] listen 127.0.0.1", "rank 1 hosts [n2] host [0 0] listen 127.0.0.1")
		r := inSlurm(t, s, salloc, "-n", "2", "rank", "init", "exchange", "0@spawn:3|init", "exchange", "finalize").start().wait(0).quiet()
		if out := r.stdout.String(); !strings.HasPrefix(out, "not spawned: no room for 3 processes") {
			t.Errorf("3 processes on 2 slots: %s", out)
		}
		// The launcher that a program starts takes the allocation.
		lone := s.Command(salloc[0], append(salloc[1:], rankPath, "init", "free", "finalize")...)
		lone.Env = append(alone(t).cmd.Env, lone.Env...)
		if out, err := lone.CombinedOutput(); err != nil || string(out) != "free [4] \n" {
			t.Errorf("without a launcher: %v: %s", err, out)
		}
		// A program that srun has started is told how it could spawn.
		srun := s.Command("srun", "-n1", "--mpi=pmi2", rankPath, "init", "spawn:1|init", "finalize")
		srun.Env = append(newRun(t, "rank").cmd.Env, srun.Env...)
		out, err := srun.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "spawn: ") || !strings.Contains(string(out), "start the program by halo run") {
			t.Errorf("under srun: %v: %s", err, out)
		}
	})
	t.Run("MPICH", func(t *testing.T) {
		inSlurm(t, s, salloc, mpichWorld(t), "abort").start().wait(7).said("rank 3 ", "on n2", "called MPI_Abort(7)")
	})
	t.Run("scancel", func(t *testing.T) {
		ready, out := filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "out")
		script := filepath.Join(t.TempDir(), "job")
		line := fmt.Sprintf("#!/bin/sh\nexec %s run -iface lo %s init exchange ready:%s forever\n", haloPath, rankPath, ready)
		if err := os.WriteFile(script, []byte(line), 0o700); err != nil {
			t.Fatal(err)
		}
		r := newRun(t, "rank")
		batch := s.Command("sbatch", "--parsable", "-N2", "-n4", "--ntasks-per-node=2", "-o", out, script)
		batch.Env = append(r.cmd.Env, batch.Env...)
		id, err := batch.Output()
		if err != nil {
			t.Fatalf("sbatch: %v", err)
		}
		r.ready(ready, 4)
		if text, err := s.Command("scancel", strings.TrimSpace(string(id))).CombinedOutput(); err != nil {
			t.Fatalf("scancel: %v: %s", err, text)
		}
		for end := time.Now().Add(hangs); len(processesWith(r.marker)) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("left after scancel: %q", processesWith(r.marker))
			}
		}
		// The launcher learns of its own signal or of that of a rank first.
		if text, _ := os.ReadFile(out); !strings.Contains(string(text), "halo: ") || !strings.Contains(string(text), "SIGTERM") {
			t.Errorf("the job says %s", text)
		}
	})
}
