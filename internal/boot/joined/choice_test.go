package joined

import (
	"strings"
	"testing"
)

// A program that another launcher has started is never silently a world of one.
func TestForeignLauncherNeverGivesSilentSingletons(t *testing.T) {
	for _, c := range []struct {
		env  string
		fail string // part of the error; "" for a world of one
	}{
		{"", ""},
		{"PMI_SIZE=1 PMI_RANK=0", ""},
		{"PMI_SIZE=4 PMI_RANK=0", "halo run -n 4"},
		{"OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", ""},
		{"OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=0", "halo run -n 2"},
		{"PMIX_RANK=0", "PMIX_RANK=0"},
		{"SLURM_NTASKS=4 SLURM_PROCID=0", ""}, // a batch script, not a step
		{"SLURM_NTASKS=4", ""},
		{"SLURM_NTASKS=4 SLURM_PROCID=1 SLURM_STEP_ID=0", "halo run -n 4"},
		{"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1", ""},
		{"SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_STEP_ID=0", ""},
		{"SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_STEP_ID=0 PMIX_RANK=0", ""},
	} {
		env := func(name string) (string, bool) {
			for f := range strings.FieldsSeq(c.env) {
				if k, v, _ := strings.Cut(f, "="); k == name {
					return v, true
				}
			}
			return "", false
		}
		_, err := choose(env)
		if (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%q: got %v, want %q", c.env, err, c.fail)
		}
	}
}
