//go:build unix

package reach

import (
	"cmp"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
)

// The arguments with which the launcher's program is an agent.
const (
	AgentWord = "agent" // in the command line of ssh
	CallWord  = "call"  // after AgentWord: the agent calls the launcher
)

// A Starter is the command that starts agents on other hosts: ssh, or that of a batch system, with
// which the ranks are part of its job, and end with it. It connects its standard input and output to
// those of the agent, and ends when the agent does; or it starts all agents, which then call: see Invitation.
type Starter struct {
	Name string   // for messages
	File string   // absolute
	argv []string // up to the name of a host
	All  bool     // one process starts the agents of all hosts: see step
	args bool     // what follows the name are arguments, not a line for a shell
}

// Line is the command line that starts an agent, which is the program path, on a host.
func (s *Starter) Line(host, path string) []string {
	line := append(s.argv[:len(s.argv):len(s.argv)], host)
	if s.args {
		return append(line, path, AgentWord)
	}
	return append(line, quote(path)+" "+AgentWord)
}

// Step is the command line that starts the agents of all hosts.
func (s *Starter) Step(hosts []string, path string) []string {
	n := len(hosts)
	return append(s.argv[:len(s.argv):len(s.argv)], fmt.Sprintf("--nodes=%d", n), fmt.Sprintf("--ntasks=%d", n), "--ntasks-per-node=1",
		"--nodelist="+strings.Join(hosts, ","), path, AgentWord, CallWord)
}

// Environ is the environment of the command, from that of the launcher.
func (s *Starter) Environ(own []string) (env []string) {
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == plan.EnvJob:
		case s.args && (name == "SSH_CONNECTION" || name == "SSH_CLIENT" || name == "SSH_TTY"):
			// A batch system passes on the environment, in which these describe another host.
		case s.Name == "srun" && strings.HasPrefix(name, "SLURM_") && !slurmKept(name):
			// Options of srun, and the step in which the launcher runs.
		default:
			env = append(env, kv)
		}
	}
	return env
}

// slurmKept reports whether a variable tells srun where and in which job it runs, and not how.
func slurmKept(name string) bool {
	switch name {
	case "SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_CLUSTER_NAME", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NNODES",
		"SLURM_JOB_UID", "SLURM_JWT", "SLURM_DEBUG":
		return true
	}
	return false
}

// NewStarter chooses the command that starts agents: the one that the user names, or that of the batch
// system if it is installed here, or ssh. why says why it is not the one of the batch system.
func NewStarter(spec *plan.Spec) (s *Starter, why string, err error) {
	name := spec.Agents
	if name == "" && spec.SSH == nil && spec.Allocation != nil {
		name = spec.Allocation.Agents
		if _, err := exec.LookPath(name); err != nil {
			name, why = "ssh", fmt.Sprintf("%s is not in PATH: agents are started by ssh", name)
		}
	}
	s = &Starter{Name: cmp.Or(name, "ssh"), args: true}
	switch s.Name {
	case "ssh":
		s.argv, s.args = spec.SSH, false
		if s.argv == nil {
			s.argv = sshCommand(spec.SSHArgs)
		}
	case "srun":
		s.argv, s.All = append([]string{"srun"}, srunOptions(srunVersion())...), true
	case "blaunch":
		s.argv = []string{"blaunch"}
	case "qrsh":
		s.argv = []string{"qrsh", "-inherit", "-V"}
	}
	s.File, err = exec.LookPath(s.argv[0])
	if err != nil {
		return nil, "", exit.NotFoundf("%s, which is to start agents on other hosts, was not found (-ssh names another command, -agents another way): %w", s.argv[0], err)
	}
	return s, why, nil
}

// srunOptions are the options by which srun starts agents beside all other steps of the job: they take no
// resources from these, and get all that the job has on their nodes.
func srunOptions(year, month int) []string {
	options := []string{"--mpi=none", "--cpu-bind=none", "--quiet", "--kill-on-bad-exit=0", "--export=ALL"}
	if year > 20 || year == 20 && month >= 11 { // steps were not exclusive before
		options = append(options, "--overlap")
	}
	if year > 23 || year == 23 && month >= 11 {
		options = append(options, "--external-launcher")
	}
	return options
}

// EnvSrunAddress is the variable in which Slurm tells the processes of a step the address of the srun that
// has started them.
const EnvSrunAddress = "SLURM_LAUNCH_NODE_IPADDR"

// srunVersion is the version of srun, such as 23, 11; it is 0, 0 if srun does not tell.
func srunVersion() (year, month int) {
	out, err := exec.Command("srun", "--version").Output()
	if err != nil {
		return 0, 0
	}
	return parseSrunVersion(string(out))
}

// parseSrunVersion reads "slurm 23.11.4" and the like.
func parseSrunVersion(text string) (year, month int) {
	for word := range strings.FieldsSeq(text) {
		parts := strings.Split(word, ".")
		if len(parts) < 2 {
			continue
		}
		y, err1 := strconv.Atoi(parts[0])
		m, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil {
			return y, m
		}
	}
	return 0, 0
}

// sshCommand is the command that starts a program on another host: the default asks no
// questions, and gives up if a host does not answer. Of two settings of an option ssh takes the first.
func sshCommand(args []string) []string {
	return append(append([]string{"ssh", "-T", "-x"}, args...), "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
}
