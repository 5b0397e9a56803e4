package joined

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
)

// EnvBoot is the environment variable that forces one way to join a job.
const EnvBoot = "HALO_BOOT"

// The ways to join a job, as values of EnvBoot, in the order in which they are tried.
const (
	wayHalo   = "halo"   // Halo's launcher
	wayPMIx   = "pmix"   // Open MPI's mpirun, srun --mpi=pmix
	wayPMI2   = "pmi2"   // srun --mpi=pmi2
	wayPMI1   = "pmi1"   // Hydra; Slurm offers it beside PMI-2
	wayEnv    = "env"    // ranks that find each other by environment variables
	waySingle = "single" // a world of one
)

// environment looks up variables of the environment, as os.LookupEnv does.
type environment func(name string) (string, bool)

func (env environment) get(name string) string {
	v, _ := env(name)
	return v
}

// has reports whether all variables have a value.
func (env environment) has(names ...string) bool {
	for _, name := range names {
		if env.get(name) == "" {
			return false
		}
	}
	return true
}

func (env environment) number(name string) (int, bool) {
	n, err := strconv.Atoi(env.get(name))
	return n, err == nil
}

// choose returns the way by which this process joins its job. It returns an error if the environment
// shows that somebody started the process as one of several and offers no way to join the others:
// otherwise each would silently become a world of one, and the program would run n times.
func choose(env environment) (way string, err error) {
	if forced, ok := env(EnvBoot); ok && forced != "" {
		for _, w := range []string{wayHalo, wayPMIx, wayPMI2, wayPMI1, wayEnv, waySingle} {
			if w == forced {
				return w, nil
			}
		}
		return "", fmt.Errorf("boot: %s=%s: want halo, pmix, pmi2, pmi1, env or single", EnvBoot, forced)
	}
	switch {
	case env.has(boot.EnvFD), env.has(boot.EnvLink):
		return wayHalo, nil
	case env.has("PMIX_NAMESPACE", "PMIX_RANK") && pmixServer(env):
		return wayPMIx, nil
	case env.has("PMI_FD", "PMI_JOBID", "SLURM_JOB_ID"): // Hydra's PMI-2 has a fence that is none
		return wayPMI2, nil
	case env.has("PMI_FD"), env.has("PMI_PORT", "PMI_ID"):
		return wayPMI1, nil
	case env.has(envAddr):
		return wayEnv, nil
	}
	return waySingle, alone(env)
}

// pmixServer reports whether the environment has the address of a PMIx server, in one of the versions of
// its protocol.
func pmixServer(env environment) bool {
	for _, version := range []string{"", "2", "21", "3", "4", "41", "51", "61"} {
		if env.has("PMIX_SERVER_URI" + version) {
			return true
		}
	}
	return false
}

// alone returns an error if the environment shows a parallel launch.
func alone(env environment) error {
	if n, ok := env.number("OMPI_COMM_WORLD_SIZE"); ok {
		if n > 1 {
			return several("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", n,
				"its environment names no PMIx server: let wrappers keep the variables PMIX_*, or start the program with halo run -n %d PROGRAM")
		}
		return nil // the only process of its job, so PMIX_RANK below is no reason to refuse
	}
	if n, ok := env.number("PMI_SIZE"); ok {
		if n > 1 {
			return several("mpiexec of MPICH or Intel MPI, or srun", "PMI_SIZE", n,
				"its environment has neither PMI_FD nor PMI_PORT: let wrappers keep the variables PMI_*, or start the program with halo run -n %d PROGRAM")
		}
		return nil
	}
	if env.has("SLURM_PROCID", "SLURM_STEP_ID") {
		name := "SLURM_STEP_NUM_TASKS"
		n, ok := env.number(name)
		if !ok {
			name = "SLURM_NTASKS"
			n, ok = env.number(name)
		}
		if ok && n > 1 {
			return several("srun", name, n, "it gives its tasks no way to find each other: use srun --mpi=pmi2 or srun --mpi=pmix, or halo run -n %d PROGRAM")
		}
		if ok {
			return nil
		}
	}
	if env.has("PMIX_RANK") {
		return fmt.Errorf("boot: a PMIx launcher started this process (PMIX_RANK=%s), and its environment names no server: "+
			"let wrappers keep the variables PMIX_*, or start the program with halo run -n N PROGRAM", env.get("PMIX_RANK"))
	}
	if n, ok := env.number(envSize); ok && n > 1 && env.has(envRank) && !env.has(boot.EnvJob) {
		return several("somebody", envSize, n, "there is no "+envAddr+": set it to HOST:PORT of rank 0, or start the program with halo run -n %d PROGRAM")
	}
	if env.has(envIndex) {
		return fmt.Errorf("boot: Kubernetes started this process as one of an indexed job (%s=%s), and there is no %s: set it to HOST:PORT of the pod with index 0, "+
			"and %s to the number of processes; %s=%s runs each process alone", envIndex, env.get(envIndex), envAddr, envSize, EnvBoot, waySingle)
	}
	return nil
}

func several(who, name string, n int, fix string) error {
	if strings.Contains(fix, "%d") {
		fix = fmt.Sprintf(fix, n)
	}
	return fmt.Errorf("boot: %s started this process as one of %d (%s=%d), but %s; %s=%s runs each process alone", who, n, name, n, fix, EnvBoot, waySingle)
}

// The variables of ranks that find each other by themselves.
const (
	envRank   = "HALO_RANK"
	envSize   = "HALO_SIZE"
	envAddr   = "HALO_ADDR"
	envSecret = "HALO_SECRET_FILE"
	envIndex  = "JOB_COMPLETION_INDEX"
	// envLocal is the number of ranks on each node, in blocks.
	envLocal = "HALO_LOCAL_SIZE"
)
