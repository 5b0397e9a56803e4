package plan

import (
	"fmt"
	"strings"
	"testing"
)

// X-LCH-01: what Kubernetes' MPI operator sets for Open MPI, MPICH and Intel MPI is what -hostfile, -ppn
// and -ssh say; the command line comes first.
func TestVariablesOfOtherLaunchers(t *testing.T) {
	openmpi := hostFile(t, "job-worker-0.job.ns.svc slots=2\njob-worker-1.job.ns.svc slots=2\n")
	mpich := hostFile(t, "job-worker-0.job.ns.svc:2\njob-worker-1.job.ns.svc:2\n")
	plain := hostFile(t, "a\nb\n")
	two := "[{job-worker-0.job.ns.svc 2} {job-worker-1.job.ns.svc 2}]"
	for name, x := range map[string]struct {
		env  []string
		line string
		want string // size, hosts, options of ssh, await
	}{
		"none": {nil, "prog", "1 [] [] false"},
		"Open MPI": {[]string{"OMPI_MCA_orte_default_hostfile=" + openmpi, "OMPI_MCA_orte_keep_fqdn_hostnames=true", "OMPI_MCA_orte_set_default_slots=2",
			"OMPI_MCA_plm_rsh_args=-o ConnectionAttempts=10", "K_MPI_JOB_ROLE=launcher"},
			"-np 4 --allow-run-as-root -bind-to none -map-by slot -x PATH -mca pml ob1 -mca btl ^openib prog", "4 " + two + " [-o ConnectionAttempts=10] true"},
		"MPICH":         {[]string{"HYDRA_HOST_FILE=" + mpich, "HYDRA_LAUNCH_EXTRA_ARGS=-o ConnectionAttempts=10"}, "prog", "4 " + two + " [-o ConnectionAttempts=10] false"},
		"Intel MPI":     {[]string{"I_MPI_HYDRA_HOST_FILE=" + mpich, "I_MPI_PERHOST=2", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-p 2222"}, "-n 3 prog", "3 " + two + " [-p 2222] false"},
		"perhost":       {[]string{"I_MPI_HYDRA_HOST_FILE=" + plain, "I_MPI_PERHOST=3"}, "prog", "6 [{a 3} {b 3}] [] false"},
		"default slots": {[]string{"OMPI_MCA_orte_default_hostfile=" + plain, "OMPI_MCA_orte_set_default_slots=4"}, "prog", "8 [{a 4} {b 4}] [] false"},
		"ppn":           {[]string{"I_MPI_HYDRA_HOST_FILE=" + plain, "I_MPI_PERHOST=3"}, "-ppn 1 prog", "2 [{a 1} {b 1}] [] false"},
		"host":          {[]string{"HYDRA_HOST_FILE=" + mpich, "I_MPI_PERHOST=3"}, "-host c prog", "1 [] [] false"},
		"worker":        {[]string{"K_MPI_JOB_ROLE=worker"}, "prog", "1 [] [] false"},
		"first":         {[]string{"HYDRA_HOST_FILE=" + plain, "PBS_NODEFILE=/nonexistent"}, "prog", "2 [{a 0} {b 0}] [] false"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kv := range x.env {
				name, value, _ := strings.Cut(kv, "=")
				t.Setenv(name, value)
			}
			s, err := Parse(strings.Fields(x.line))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(s.Size(), " ", s.Hosts, " ", s.SSHArgs, " ", s.Await); got != x.want {
				t.Errorf("%s, want %s", got, x.want)
			}
		})
	}
	for kv, want := range map[string]string{
		"HYDRA_HOST_FILE=/nonexistent":   "HYDRA_HOST_FILE: open /nonexistent",
		"OMPI_MCA_plm_rsh_args=-o 'x":    "OMPI_MCA_plm_rsh_args: no closing '",
		"I_MPI_HYDRA_HOST_FILE=" + plain: `I_MPI_PERHOST: the number of slots is "x"`,
	} {
		t.Run(kv, func(t *testing.T) {
			name, value, _ := strings.Cut(kv, "=")
			t.Setenv(name, value)
			t.Setenv("I_MPI_PERHOST", "x")
			if _, err := Parse([]string{"prog"}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
