package plan

import (
	"fmt"
	"os"
	"strings"
)

// Kubernetes' MPI operator, and scripts of sites, tell launchers by variables what -hostfile, -ppn and
// -ssh tell them on the command line. This launcher reads the variables of Open MPI, MPICH and Intel MPI.

// hostFileVariables name a host file for the command lines that name no hosts.
func hostFileVariables() []string {
	return []string{"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"}
}

// sshVariables have options for ssh.
func sshVariables() []string {
	return []string{"OMPI_MCA_plm_rsh_args", "PRTE_MCA_plm_ssh_args", "HYDRA_LAUNCH_EXTRA_ARGS", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"}
}

const (
	// envDefaultSlots is the number of slots of hosts whose entry in the host file has none.
	envDefaultSlots = "OMPI_MCA_orte_set_default_slots"
	// envPerHost does what -ppn does.
	envPerHost = "I_MPI_PERHOST"
	// envRole is "launcher" in the pod of the MPI operator that runs this program. Its other pods are
	// started at the same time.
	envRole = "K_MPI_JOB_ROLE"
)

// peersEnviron takes what variables of other launchers say. named says that the command line names
// hosts; the result says that a variable does.
func (p *parser) peersEnviron(named bool) (found bool, err error) {
	for _, name := range sshVariables() {
		words, err := splitWords(os.Getenv(name))
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		p.spec.SSHArgs = append(p.spec.SSHArgs, words...)
	}
	p.spec.Await = p.spec.Await || os.Getenv(envRole) == "launcher"
	if named {
		return false, nil
	}
	for _, name := range hostFileVariables() {
		file := os.Getenv(name)
		if file == "" {
			continue
		}
		p.spec.Hosts, err = ParseHostFile(file)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		found = true
		break
	}
	if !found {
		return false, nil
	}
	if text := os.Getenv(envDefaultSlots); text != "" {
		slots, err := parseSlots(text)
		if err != nil {
			return false, fmt.Errorf("%s: %w", envDefaultSlots, err)
		}
		for i := range p.spec.Hosts {
			if h := &p.spec.Hosts[i]; h.Slots == 0 {
				h.Slots = slots
			}
		}
	}
	if text := os.Getenv(envPerHost); text != "" && p.perHost == 0 && !strings.HasPrefix(text, "all") {
		p.perHost, err = parseSlots(text)
		if err != nil {
			return false, fmt.Errorf("%s: %w", envPerHost, err)
		}
	}
	return true, nil
}
