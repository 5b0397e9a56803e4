package enginetest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/enginetest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// srun runs the probe in a step of a job. args are options of srun.
func srun(t *testing.T, s *enginetest.Slurm, job, kind, what string, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"--jobid=" + job, "--mpi=" + kind}, args...)
	cmd := s.Command("srun", append(args, os.Args[0])...)
	cmd.Env = append(cmd.Env, probeKind+"="+kind, probeWhat+"="+what, probeDir+"="+t.TempDir(), testrun.RaceOptions)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestXLCH01_Slurm checks what the PMI-2 and PMIx services of Slurm do for processes on one node and on
// two.
func TestXLCH01_Slurm(t *testing.T) {
	testrun.Covered(t)
	s := enginetest.StartSlurm(t)
	job := s.Allocate(t)
	for _, c := range []struct {
		kind, block, engine string
		killed              string // how srun ends after an Abort with the code 7
	}{
		{"pmi2", "-1", "Slurm (PMI 2.0)", "exit status 137"},
		{"pmix", "0", "Slurm (PMIx ", "exit status 7"},
	} {
		for _, what := range []string{"late", "fence", "asleep"} {
			t.Run(c.kind+"/"+what, func(t *testing.T) {
				s.NeedService(t, job, c.kind)
				out, err := srun(t, s, job, c.kind, what, "-N2", "-n4", "--ntasks-per-node=2")
				if err != nil {
					t.Errorf("%v: %s\n%s", err, out, s.Logs())
				}
				for rank := range 4 {
					want := fmt.Sprintf("rank %d of 4: block %s, room for 4, nodes [0 0 1 1], %s", rank, c.block, c.engine)
					if what == "late" && !strings.Contains(out, want) {
						t.Errorf("no %q in %s", want, out)
					}
				}
			})
		}
		t.Run(c.kind+"/one node", func(t *testing.T) {
			s.NeedService(t, job, c.kind)
			out, err := srun(t, s, job, c.kind, "exchange", "-N1", "-n3")
			if err != nil || strings.Count(out, "nodes [0 0 0]") != 3 {
				t.Errorf("%v: %s\n%s", err, out, s.Logs())
			}
		})
		t.Run(c.kind+"/abort", func(t *testing.T) {
			s.NeedService(t, job, c.kind)
			out, err := srun(t, s, job, c.kind, "abort", "-N2", "-n4", "--ntasks-per-node=2")
			if err == nil || err.Error() != c.killed || strings.Contains(out, "outlived") {
				t.Errorf("%v, want %s: %s\n%s", err, c.killed, out, s.Logs())
			}
		})
	}
}
