//go:build linux

package run

import (
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/enginetest"
)

// Programs in C run under Hydra as they are, on one node and on two.
func TestXLCH01_ENV05_ProgramsUnderHydra(t *testing.T) {
	need(t, "mpiexec.hydra")
	t.Parallel()
	list := programs(t, []entry{{name: "ring"}, {name: "engine_attributes"}})
	program := list["ring"]
	for _, nodes := range []string{"127.0.0.1", "127.0.0.1,127.0.0.2"} {
		r := command(t, nil, "mpiexec.hydra", "-launcher", "fork", "-hosts", nodes, "-n", "4", program)
		if r.status != 0 || r.out != "the token is 6 after 4 ranks\n" {
			t.Errorf("on %s: status %d\n%s%s", nodes, r.status, r.out, r.err)
		}
	}
	// Hydra knows the number of the program, and the size of the universe if it is told.
	program = list["engine_attributes"]
	r := command(t, nil, "mpiexec.hydra", "-n", "1", program, ":", "-n", "1", program)
	if r.status != 0 || !strings.Contains(r.out, "rank 0: appnum 0 universe not set\n") || !strings.Contains(r.out, "rank 1: appnum 1 universe not set\n") {
		t.Errorf("attributes: status %d\n%s%s", r.status, r.out, r.err)
	}
	r = command(t, nil, "mpiexec.hydra", "-usize", "5", "-n", "1", program)
	if r.status != 0 || r.out != "rank 0: appnum 0 universe 5\n" {
		t.Errorf("attributes with -usize 5: status %d\n%s%s", r.status, r.out, r.err)
	}
}

// A program in C is one world under Open MPI's mpirun, and under srun on two nodes of Slurm by PMI-2 and by PMIx.
func TestXLCH01_ENV05_ProgramsUnderOpenMPIAndSlurm(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "ring"}})["ring"]
	ring := func(t *testing.T, env []string, line ...string) {
		t.Helper()
		if r := command(t, env, line[0], append(line[1:], program)...); r.status != 0 || r.out != "the token is 6 after 4 ranks\n" {
			t.Errorf("%q: status %d\n%s%s", line, r.status, r.out, r.err)
		}
	}
	t.Run("mpirun", func(t *testing.T) {
		need(t, "mpirun.openmpi")
		ring(t, nil, "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "4")
	})
	t.Run("srun", func(t *testing.T) {
		s := enginetest.StartSlurm(t)
		job := s.Allocate(t)
		for _, kind := range []string{"pmi2", "pmix"} {
			t.Run(kind, func(t *testing.T) {
				s.NeedService(t, job, kind)
				ring(t, []string{s.Environ()}, "srun", "--jobid="+job, "--mpi="+kind, "-N2", "-n4", "--ntasks-per-node=2")
			})
		}
	})
}
