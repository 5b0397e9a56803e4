package boot

import (
	"fmt"
	"strconv"
)

// foreignLauncher returns an error if the environment shows that the launcher of another MPI
// started this process as one of several. Otherwise each of them would silently become a world
// of one, and the program would run n times.
func foreignLauncher(env func(string) (string, bool)) error {
	number := func(name string) (int, bool) {
		v, _ := env(name)
		n, err := strconv.Atoi(v)
		return n, err == nil
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if v, _ := env(name); v == "" {
				return false
			}
		}
		return true
	}

	if n, ok := number("OMPI_COMM_WORLD_SIZE"); ok {
		if n > 1 {
			return foreignError("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", n)
		}
		return nil // the only process of its job, so PMIX_RANK below is no reason to refuse
	}
	if n, ok := number("PMI_SIZE"); ok {
		if n > 1 {
			return foreignError("an MPICH-like mpiexec or srun --mpi=pmi2", "PMI_SIZE", n)
		}
		return nil
	}
	if has("SLURM_PROCID", "SLURM_STEP_ID") {
		name := "SLURM_STEP_NUM_TASKS"
		n, ok := number(name)
		if !ok {
			name = "SLURM_NTASKS"
			n, ok = number(name)
		}
		if ok && n > 1 {
			return foreignError("srun", name, n)
		}
		if ok {
			return nil
		}
	}
	if has("PMIX_RANK") {
		rank, _ := env("PMIX_RANK")
		return fmt.Errorf("boot: a PMIx launcher started this process (PMIX_RANK=%s), which Halo cannot join: "+
			"start the program with halo run -n N PROGRAM", rank)
	}
	return nil
}

func foreignError(who, name string, n int) error {
	return fmt.Errorf("boot: %s started this process as one of %d (%s=%d), which Halo cannot join: "+
		"start the program with halo run -n %d PROGRAM", who, n, name, n, n)
}
