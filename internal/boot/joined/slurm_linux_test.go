package joined

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/halo-mpi/halo/internal/enginetest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// Jobs of Slurm with several components, and arrays of jobs. Then steps of one job: of several programs, side by side, and
// cancelled. Each step is a world.
func TestXLCH01_F4_SlurmJobsAndSteps(t *testing.T) {
	testrun.Covered(t)
	s := enginetest.StartSlurm(t)
	t.Run("components", func(t *testing.T) {
		o := runs(t, []string{s.Environ()}, "salloc", "-Q", "-N1", "-n2", ":", "-N1", "-n2", "srun", "--mpi=pmi2", "--het-group=0,1", program("rank"), "all").wants(0)
		o.has("rank 0 of 4, 2 on its node, sum 6, ", "rank 3 of 4, 2 on its node, sum 6, ")
	})
	t.Run("array", func(t *testing.T) {
		dir := t.TempDir()
		script := writeFile(t, dir, "job", fmt.Sprintf("#!/bin/sh\nsrun --mpi=pmi2 %s all\n", program("rank")))
		runs(t, []string{s.Environ()}, "sbatch", "--quiet", "--wait", "--array=0-1", "-n2", "-o", filepath.Join(dir, "%a.out"), script).wants(0)
		for _, task := range []string{"0.out", "1.out"} {
			out, err := os.ReadFile(filepath.Join(dir, task))
			if err != nil {
				t.Fatal(err)
			}
			outcome{t, string(out), 0}.has("rank 0 of 2, ", "rank 1 of 2, ")
		}
	})
	job := s.Allocate(t)
	programs := writeFile(t, t.TempDir(), "programs", fmt.Sprintf("0-1 %[1]s all\n2-3 %[1]s all\n", program("rank")))
	for _, kind := range []string{"pmi2", "pmix"} {
		x := srun(t, s, job, kind)
		t.Run(kind+"/multi-prog", func(t *testing.T) {
			s.NeedService(t, job, kind)
			o := runs(t, x.env, append(x.line(2, 4), "--multi-prog", programs)...).wants(0)
			for r := range 4 {
				o.has(fmt.Sprintf("rank %d of 4, 2 on its node, sum 6, ", r))
			}
		})
		t.Run(kind+"/beside", func(t *testing.T) {
			s.NeedService(t, job, kind)
			line := append(x.line(2, 4), "--overlap")
			o := runs(t, append(x.env, "RANK="+program("rank"), "BEGUN="+filepath.Join(t.TempDir(), "begun")), append([]string{"bash", "-c", beside, "bash"}, line...)...)
			o.has("rank 3 of 4, 2 on its node, sum 6, ", "CANCELLED")
			if o.status == 0 || o.status == 99 {
				t.Errorf("exit status %d:\n%s", o.status, o.out)
			}
		})
	}
}

// beside starts a step that never ends, runs another one beside it, and cancels the first. It ends as that one does, or with
// 99 if the other one fails.
const beside = `"$@" --job-name=first $RANK forever $BEGUN & p=$!
until [ -e $BEGUN ]; do sleep 0.01; done
"$@" --job-name=second $RANK all || exit 99
scancel $(squeue --steps --noheader --format='%i %j' | while read id name; do [ $name = first ] && echo $id; done)
wait $p`

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}
