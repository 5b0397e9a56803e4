package enginetest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/enginetest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// mpirun runs Open MPI's mpirun with args, in which PROBE stands for the program of the probe.
func mpirun(t *testing.T, what string, args ...string) (string, error) {
	t.Helper()
	enginetest.Need(t, "mpirun.openmpi")
	words := []string{"--allow-run-as-root", "--oversubscribe"}
	for _, arg := range args {
		words = append(words, strings.ReplaceAll(arg, "PROBE", os.Args[0]))
	}
	cmd := exec.Command("mpirun.openmpi", words...)
	cmd.Env = append(os.Environ(), probeKind+"=pmix", probeWhat+"="+what, probeDir+"="+t.TempDir(), testrun.RaceOptions)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestXLCH01_OpenMPI checks what the PMIx service of mpirun does for processes, also of two blocks of the
// command line.
func TestXLCH01_OpenMPI(t *testing.T) {
	testrun.Covered(t)
	t.Run("late", func(t *testing.T) {
		out, err := mpirun(t, "late", "-np", "1", "PROBE", ":", "-np", "3", "PROBE")
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		for rank, block := range []int{0, 1, 1, 1} {
			if want := fmt.Sprintf("rank %d of 4: block %d, room for ", rank, block); !strings.Contains(out, want) {
				t.Errorf("no %q in %s", want, out)
			}
		}
		if strings.Count(out, "nodes [0 0 0 0], Open MPI's mpirun (PMIx ") != 4 {
			t.Errorf("no nodes in %s", out)
		}
	})
	for _, what := range []string{"fence", "asleep", "psets"} {
		t.Run(what, func(t *testing.T) {
			if out, err := mpirun(t, what, "-np", "4", "PROBE"); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	t.Run("abort", func(t *testing.T) {
		out, err := mpirun(t, "abort", "-np", "3", "PROBE")
		if err == nil || err.Error() != "exit status 7" || strings.Contains(out, "outlived") {
			t.Errorf("%v: %s", err, out)
		}
	})
}
