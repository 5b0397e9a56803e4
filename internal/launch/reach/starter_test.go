//go:build unix

package reach

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/launch/plan"
)

// The options of srun are those that its version has.
func TestSrunOptions(t *testing.T) {
	for text, want := range map[string][2]bool{ // --overlap, --external-launcher
		"slurm 20.02.7\n":     {false, false},
		"slurm 20.11.9\n":     {true, false},
		"slurm-wlm 22.05.8\n": {true, false},
		"slurm 23.02.1":       {true, false},
		"slurm 23.11.4":       {true, true},
		"slurm 24.11.5-rc1":   {true, true},
		"":                    {false, false},
		"srun: unknown":       {false, false},
	} {
		options := srunOptions(parseSrunVersion(text))
		got := [2]bool{slices.Contains(options, "--overlap"), slices.Contains(options, "--external-launcher")}
		if got != want || !slices.Contains(options, "--mpi=none") || !slices.Contains(options, "--cpu-bind=none") {
			t.Errorf("%q: %v", text, options)
		}
	}
}

// The commands of batch systems get the host and a command line in their own forms, and the environment
// without what describes the step in which the launcher runs.
func TestStarters(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"srun", "blaunch", "qrsh", "ssh"} {
		text := "#!/bin/sh\necho slurm 22.05.8\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	hosts := []string{"n1", "n2"}
	lines := map[string]string{
		"ssh":     "ssh -T -x -o BatchMode=yes -o ConnectTimeout=10 n1 '/a b' agent",
		"srun":    "srun --mpi=none --cpu-bind=none --quiet --kill-on-bad-exit=0 --export=ALL --overlap --nodes=2 --ntasks=2 --ntasks-per-node=1 --nodelist=n1,n2 /a b agent call",
		"blaunch": "blaunch n1 /a b agent",
		"qrsh":    "qrsh -inherit -V n1 /a b agent",
	}
	for _, name := range []string{"ssh", "srun", "blaunch", "qrsh"} {
		s, why, err := NewStarter(&plan.Spec{Agents: name})
		if err != nil || why != "" {
			t.Errorf("%s: %v %s", name, err, why)
			continue
		}
		line := s.Line("n1", "/a b")
		if s.All {
			line = s.Step(hosts, "/a b")
		}
		if got := strings.Join(line, " "); got != lines[name] || s.File != filepath.Join(bin, name) {
			t.Errorf("%s: %s as %s", name, got, s.File)
		}
	}
	s, _, _ := NewStarter(&plan.Spec{Allocation: &plan.Allocation{Agents: "srun"}})
	if s.Name != "srun" {
		t.Errorf("agents in a Slurm job are started by %s", s.Name)
	}
	env := []string{"A=1", "SLURM_JOB_ID=7", "SLURM_CPU_BIND=x", "SLURM_STEP_ID=0", "SSH_CONNECTION=a", "HALO_JOB=x", "SLURM_CONF=/x"}
	if got := s.Environ(env); !reflect.DeepEqual(got, []string{"A=1", "SLURM_JOB_ID=7", "SLURM_CONF=/x"}) {
		t.Error(got)
	}
	if s, why, err := NewStarter(&plan.Spec{Allocation: &plan.Allocation{Agents: "nosuch"}}); err != nil || s.Name != "ssh" || why != "nosuch is not in PATH: agents are started by ssh" {
		t.Error(fmt.Sprint(s, why, err))
	}
	if s, _, _ := NewStarter(&plan.Spec{Allocation: &plan.Allocation{Agents: "srun"}, SSH: []string{"ssh", "-p", "2222"}}); s.Name != "ssh" {
		t.Errorf("-ssh in a Slurm job is ignored: %s", s.Name)
	}
}
