package plan

import (
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
)

const (
	EnvJob  = boot.EnvJob // the job's name, by which the warden finds processes of the job
	EnvRank = "HALO_RANK" // for scripts; programs ask boot
	EnvSize = "HALO_SIZE"

	EnvLocalRank = "MPI_LOCALRANKID" // among the ranks of the host
	EnvLocalSize = "MPI_LOCALNRANKS"
)

// LinkFD is the descriptor of the link in a process, after stdin, stdout and stderr.
const LinkFD = "3"

// RankEnviron is the environment of the ranks: the variables of the launcher, except for
// those that describe a process of another job (a launcher inside an allocation or
// another job inherits them), and those of a block.
func RankEnviron(own, block []string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return foreign(name) || slices.ContainsFunc(block, func(b string) bool {
			return strings.HasPrefix(b, name+"=")
		})
	})
	for i, kv := range block { // of two settings the last one counts
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(block[i+1:], func(b string) bool { return strings.HasPrefix(b, name+"=") }) {
			env = append(env, kv)
		}
	}
	return env
}

// foreign reports whether a variable describes one process of some job.
func foreign(name string) bool {
	switch name {
	case boot.EnvFD, boot.EnvLink, boot.EnvHalo, EnvJob, EnvRank, EnvSize, EnvLocalRank, EnvLocalSize,
		"HALO_BOOT", "HALO_ADDR", "HALO_LOCAL_SIZE", "JOB_COMPLETION_INDEX",
		"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_TASK_PID", "SLURM_GTIDS",
		"SLURM_LAUNCH_NODE_IPADDR", "SLURM_DISTRIBUTION", "SLURM_MPI_TYPE":
		return true
	}
	for _, prefix := range []string{"PMI_", "PMIX_", "OMPI_", "PRTE_", "HYDI_", "SLURM_STEP", "SLURM_SRUN_", "SLURM_PMI"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
