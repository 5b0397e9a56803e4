package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// environment returns a lookup in variables, NAME=value each.
func environment(variables ...string) func(string) string {
	return func(name string) string {
		for _, kv := range variables {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// hostFile writes a file of hosts and returns its path.
func hostFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// X-LCH-01: the hosts of a batch system's job, from the environments that Slurm, PBS, LSF and Grid
// Engine document.
func TestAllocations(t *testing.T) {
	for name, x := range map[string]struct {
		env    []string
		system string
		agents string
		hosts  []HostSlots
	}{
		"none":           {env: []string{"SLURM_CONF=/etc/slurm.conf", "LSB_DJOB_HOSTFILE=/x"}},
		"Slurm":          {[]string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-3,7]", "SLURM_TASKS_PER_NODE=2(x3),1"}, "Slurm", "srun", []HostSlots{{"n1", 2}, {"n2", 2}, {"n3", 2}, {"n7", 1}}},
		"one node":       {[]string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=login", "SLURM_TASKS_PER_NODE=16"}, "Slurm", "srun", []HostSlots{{"login", 16}}},
		"without tasks":  {[]string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=a,b", "SLURM_JOB_CPUS_PER_NODE=72(x2)"}, "Slurm", "srun", []HostSlots{{"a", 72}, {"b", 72}}},
		"heterogeneous":  {[]string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=g1", "SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST_HET_GROUP_0=g1", "SLURM_TASKS_PER_NODE_HET_GROUP_0=1", "SLURM_JOB_NODELIST_HET_GROUP_1=c[08-09]", "SLURM_TASKS_PER_NODE_HET_GROUP_1=4(x2)"}, "Slurm", "ssh", []HostSlots{{"g1", 1}, {"c08", 4}, {"c09", 4}}},
		"PBS":            {[]string{"PBS_NODEFILE=" + hostFile(t, "n1.site\nn1.site\nn2.site\nn2.site\n")}, "PBS", "ssh", []HostSlots{{"n1.site", 2}, {"n2.site", 2}}},
		"PBS in turn":    {[]string{"PBS_NODEFILE=" + hostFile(t, "n1\nn2\nn1\n")}, "PBS", "ssh", []HostSlots{{"n1", 2}, {"n2", 1}}},
		"LSF":            {[]string{"LSB_JOBID=9", "LSB_DJOB_HOSTFILE=" + hostFile(t, "h1\nh1\nh2\n")}, "LSF", "blaunch", []HostSlots{{"h1", 2}, {"h2", 1}}},
		"Grid Engine":    {[]string{"PE_HOSTFILE=" + hostFile(t, "e1.site 2 all.q@e1.site UNDEFINED\ne2.site 4 all.q@e2.site <NULL>\n")}, "Grid Engine", "qrsh", []HostSlots{{"e1.site", 2}, {"e2.site", 4}}},
		"several queues": {[]string{"PE_HOSTFILE=" + hostFile(t, "e1 2 a.q UNDEFINED\ne2 1 a.q UNDEFINED\ne1 3 b.q UNDEFINED\n")}, "Grid Engine", "qrsh", []HostSlots{{"e1", 5}, {"e2", 1}}},
	} {
		a, err := allocated(environment(x.env...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a == nil {
			a = &Allocation{}
		}
		if a.System != x.system || a.Agents != x.agents || !reflect.DeepEqual(a.Hosts, x.hosts) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Lists of nodes of Slurm, as scontrol show hostnames expands them.
func TestSlurmNodes(t *testing.T) {
	for text, want := range map[string]string{
		"n1":                      "n1",
		"n[1]":                    "n1",
		"a,b,n[09-11]":            "a b n09 n10 n11",
		"n[1-3,7],m4":             "n1 n2 n3 n7 m4",
		"r[0-1]n[1-2]":            "r0n1 r0n2 r1n1 r1n2",
		"rack[0-1]node[8-10]-ib":  "rack0node8-ib rack0node9-ib rack0node10-ib rack1node8-ib rack1node9-ib rack1node10-ib",
		"tux[001-003]x,tux4.site": "tux001x tux002x tux003x tux4.site",
	} {
		if got, err := expandNodes(text); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                    "there is no node",
		"n[1-":                "not closed",
		"n]1":                 "do not match",
		"n[[1]]":              "do not match",
		"n[3-1]":              `"3-1" is not a range`,
		"n[x]":                `"x" is not a range`,
		"n[]":                 `"" is not a range`,
		"n[1-99999]":          "at most 4096 nodes",
		"n[0-4000]m[0-4000]":  "at most 4096 nodes",
		"n[1-4000],m[1-4000]": "more than 4096 nodes",
		"a,,b":                "no name",
		"a;b":                 "not the name of a host",
	} {
		if got, err := expandNodes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, got, err, want)
		}
	}
}

// An allocation that cannot be read is an error that names the variable, not a job on this host.
func TestBadAllocations(t *testing.T) {
	for _, x := range []struct {
		want string
		env  []string
	}{
		{"the nodes of the Slurm job are not known: SLURM_JOB_NODELIST=\"n[1\"", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1", "SLURM_TASKS_PER_NODE=1"}},
		{"the slots of the Slurm job are not known: SLURM_TASKS_PER_NODE=\"1(x3)\"", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1(x3)"}},
		{"does not have 2 numbers", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1"}},
		{"does not have 2 numbers", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1(x2),1"}},
		{"the number of slots is \"\"", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n1"}},
		{"the hosts of the PBS job are not known: PBS_NODEFILE", []string{"PBS_NODEFILE=/nonexistent"}},
		{"outside of a job unset the variable", []string{"PBS_NODEFILE=/nonexistent"}},
		{"line 2: \"a b\" is not the name of a host", []string{"PBS_NODEFILE=" + hostFile(t, "a\na b\n")}},
		{"line 1: \"-x\" is not the name of a host", []string{"PBS_NODEFILE=" + hostFile(t, "-x\n")}},
		{"there is no host", []string{"LSB_JOBID=1", "LSB_DJOB_HOSTFILE=" + hostFile(t, "\n")}},
		{"line 1: the number of slots is \"all.q\"", []string{"PE_HOSTFILE=" + hostFile(t, "a all.q 1\n")}},
		{"want HOST SLOTS QUEUE", []string{"PE_HOSTFILE=" + hostFile(t, "a\n")}},
	} {
		if a, err := allocated(environment(x.env...)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %+v, %v; want %q", x.env, a, err, x.want)
		}
	}
}

// X-LCH-01: the hosts of an allocation are taken unless the command line names some, and without -n a
// program gets all slots.
func TestAllocationIsTakenUnlessHostsAreNamed(t *testing.T) {
	for _, kv := range []string{"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=2(x2)"} {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	t.Setenv(envAgents, "ssh")
	for line, want := range map[string]string{
		"-n 3 prog":                  "3 [{n1 2} {n2 2}] ssh",
		"prog":                       "4 [{n1 2} {n2 2}] ssh",
		"-host a prog":               "1 [] ssh",
		"-ppn 1 prog":                "2 [{n1 1} {n2 1}] ssh",
		"-agents srun prog":          "4 [{n1 2} {n2 2}] srun",
		"-n 1 prog : -host b -n 1 x": "2 [] ssh",
	} {
		s, err := Parse(strings.Fields(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := fmt.Sprint(s.Size(), " ", s.Hosts, " ", s.Agents); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	t.Setenv(envAgents, "rsh")
	if _, err := Parse([]string{"prog"}); err == nil || !strings.Contains(err.Error(), `HALO_RUN_AGENTS: "rsh" is not one of ssh, srun, blaunch, qrsh`) {
		t.Error(err)
	}
}

func FuzzSlurmNodes(f *testing.F) {
	for _, s := range []string{"n[1-3,7]", "r[0-1]n[08-11]-x,login", "[", "a[1]b[2]c[3]", "n[4294967295]", "n[0000-1]"} {
		f.Add(s, "2(x3),1", 4)
	}
	f.Fuzz(func(t *testing.T, list, counts string, n int) {
		names, err := expandNodes(list)
		if err == nil && (len(names) == 0 || len(names) > maxHosts) {
			t.Fatalf("%q: %d names", list, len(names))
		}
		for _, name := range names {
			if err == nil && checkHostName(name) != nil {
				t.Fatalf("%q: %q", list, name)
			}
		}
		if n < 1 || n > maxHosts {
			return
		}
		if slots, err := expandCounts(counts, n); err == nil && len(slots) != n {
			t.Fatalf("%q for %d: %v", counts, n, slots)
		}
	})
}

func FuzzQueueLine(f *testing.F) {
	f.Add("e1.site 2 all.q@e1.site UNDEFINED\n")
	f.Add("n1\nn1\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range []func(string) (HostSlots, error){queueLine, slotLine} {
			list, err := parseLines(text, line)
			if err != nil {
				continue
			}
			for _, h := range list {
				if checkHostName(h.Host) != nil || h.Slots < 1 {
					t.Fatalf("%q: %+v", text, h)
				}
			}
		}
	})
}
