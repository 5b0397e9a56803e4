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
		_, err := choose(variables(c.env))
		if (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%q: got %v, want %q", c.env, err, c.fail)
		}
	}
}

// The way to join a job follows from the variables of its engine.
func TestXLCH01_WayOfEachEngine(t *testing.T) {
	for _, c := range []struct{ env, way string }{
		{"PMI_FD=5 PMI_RANK=0 PMI_SIZE=2", wayPMI1},
		{"PMI_FD=5 PMI_RANK=0 PMI_SIZE=2 PMI_JOBID=6.0 SLURM_JOB_ID=6", wayPMI2},
		{"PMI_FD=5 PMI_RANK=0 PMI_SIZE=2 PMI_JOBID=6.0 SLURM_JOB_ID=6 HALO_BOOT=pmi1", wayPMI1},
		{"PMI_FD=5 PMI_RANK=0 PMI_SIZE=2 SLURM_JOB_ID=6", wayPMI1}, // Hydra in an allocation of Slurm
		{"PMI_PORT=h:1 PMI_ID=0", wayPMI1},
		{"PMIX_NAMESPACE=a PMIX_RANK=0 PMIX_SERVER_URI21=a.0;tcp4://127.0.0.1:1 PMI_FD=5", wayPMIx},
		{"PMIX_NAMESPACE=a PMIX_RANK=0 PMIX_SERVER_URI61=a.0;tcp4://127.0.0.1:1", wayPMIx},
		{"HALO_BOOT_FD=3 PMI_FD=5 PMI_RANK=0 PMI_SIZE=2", wayHalo},
		{"", waySingle},
	} {
		if way, err := choose(variables(c.env)); way != c.way || err != nil {
			t.Errorf("%q: %s, %v, want %s", c.env, way, err, c.way)
		}
	}
}

// variables is an environment in a text.
func variables(text string) environment {
	return func(name string) (string, bool) {
		for f := range strings.FieldsSeq(text) {
			if k, v, _ := strings.Cut(f, "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}
