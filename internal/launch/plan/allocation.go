package plan

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/planted"
)

// An Allocation is what a batch system has given to the job in which the launcher runs. Without -host
// and -hostfile its hosts are those of the ranks.
type Allocation struct {
	System string // for messages
	Hosts  []HostSlots
	Self   string // how the system calls this host, "" if it does not say
	Agents string // how agents are best started, one of agentNames
}

// EnvNode is the variable in which Slurm tells a process its node.
const EnvNode = "SLURMD_NODENAME"

// allocated reads the allocation from the environment; nil if there is none. The variables are those
// that Slurm, PBS (and Torque), LSF and Grid Engine document.
func allocated(env func(string) string) (*Allocation, error) {
	switch {
	case env("SLURM_JOB_ID") != "" && (env("SLURM_JOB_NODELIST") != "" || env("SLURM_HET_SIZE") != ""):
		return slurmAllocation(env)
	case env("PBS_NODEFILE") != "":
		return fileAllocation("PBS", "PBS_NODEFILE", env("PBS_NODEFILE"), "ssh", slotLine)
	case env("LSB_JOBID") != "" && env("LSB_DJOB_HOSTFILE") != "":
		return fileAllocation("LSF", "LSB_DJOB_HOSTFILE", env("LSB_DJOB_HOSTFILE"), "blaunch", slotLine)
	case env("PE_HOSTFILE") != "":
		return fileAllocation("Grid Engine", "PE_HOSTFILE", env("PE_HOSTFILE"), "qrsh", queueLine)
	}
	return nil, nil
}

// fileAllocation reads the hosts of an allocation from the file that a variable names.
func fileAllocation(system, variable, file, agents string, line func(string) (HostSlots, error)) (*Allocation, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the hosts of the %s job are not known: %s: %w (outside of a job unset the variable, or name hosts by -host)", system, variable, err)
	}
	a := &Allocation{System: system, Agents: agents}
	a.Hosts, err = parseLines(string(text), line)
	if err != nil {
		return nil, fmt.Errorf("the hosts of the %s job are not known: %s=%s: %w", system, variable, file, err)
	}
	return a, nil
}

// parseLines reads a host from each line that is not empty.
func parseLines(text string, line func(string) (HostSlots, error)) ([]HostSlots, error) {
	var list []HostSlots
	number := 0
	for l := range strings.Lines(text) {
		number++
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		h, err := line(l)
		if err == nil {
			err = checkHostName(h.Host)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if k := len(list) - 1; k >= 0 && list[k].Host == h.Host { // merging then takes less time
			list[k].Slots += h.Slots
		} else {
			list = append(list, h)
		}
		if len(list) > maxRanksPerList {
			return nil, fmt.Errorf("more than %d entries", maxRanksPerList)
		}
	}
	return checkHosts(list)
}

// maxRanksPerList bounds the entries of a list of hosts before those of the same host are merged.
const maxRanksPerList = 1 << 16

// checkHosts merges the entries of each host, and checks their number.
func checkHosts(list []HostSlots) ([]HostSlots, error) {
	list = MergeHosts(list)
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no host")
	} else if len(list) > maxHosts {
		return nil, fmt.Errorf("%d hosts, the limit is %d", len(list), maxHosts)
	}
	return list, nil
}

// slotLine reads a line of PBS_NODEFILE and LSB_DJOB_HOSTFILE: the name of a host, once for each slot.
func slotLine(line string) (HostSlots, error) {
	words := strings.Fields(line)
	if len(words) != 1 {
		return HostSlots{}, fmt.Errorf("%.80q is not the name of a host", line)
	}
	return HostSlots{words[0], 1}, nil
}

// queueLine reads a line of PE_HOSTFILE: host, slots, queue, and processors or UNDEFINED.
func queueLine(line string) (HostSlots, error) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return HostSlots{}, fmt.Errorf("%.80q: want HOST SLOTS QUEUE PROCESSORS", line)
	}
	slots, err := parseSlots(words[1])
	return HostSlots{words[0], slots}, err
}

// slurmAllocation reads the nodes of a Slurm job, and of all components of a heterogeneous one.
func slurmAllocation(env func(string) string) (*Allocation, error) {
	a := &Allocation{System: "Slurm", Self: env(EnvNode), Agents: "srun"}
	suffixes := []string{""}
	if size, err := strconv.Atoi(env("SLURM_HET_SIZE")); err == nil && size > 0 && size <= maxHosts {
		suffixes = nil
		for i := range size {
			suffixes = append(suffixes, fmt.Sprintf("_HET_GROUP_%d", i))
		}
		a.Agents = "ssh" // a step covers one component only
	}
	for _, suffix := range suffixes {
		nodes, tasks := "SLURM_JOB_NODELIST"+suffix, "SLURM_TASKS_PER_NODE"+suffix
		if env(tasks) == "" {
			tasks = "SLURM_JOB_CPUS_PER_NODE" + suffix
		}
		names, err := expandNodes(env(nodes))
		if err != nil {
			return nil, fmt.Errorf("the nodes of the Slurm job are not known: %s=%.200q: %w", nodes, env(nodes), err)
		}
		counts, err := expandCounts(env(tasks), len(names))
		if err != nil {
			return nil, fmt.Errorf("the slots of the Slurm job are not known: %s=%.200q: %w", tasks, env(tasks), err)
		}
		for i, name := range names {
			a.Hosts = append(a.Hosts, HostSlots{name, counts[i]})
		}
	}
	var err error
	a.Hosts, err = checkHosts(a.Hosts)
	if err != nil {
		return nil, fmt.Errorf("the nodes of the Slurm job are not known: %w", err)
	}
	return a, nil
}

// expandNodes returns the names in a list of nodes of Slurm, such as "login,n[1-3,7],r[0-1]n[08-11]". A
// number keeps the width of the first one of its range.
func expandNodes(list string) (names []string, err error) {
	for list != "" {
		var item string
		item, list, err = cutItem(list)
		if err != nil {
			return nil, err
		}
		more, err := expandItem(item)
		if err != nil {
			return nil, err
		}
		for _, name := range more {
			if err := checkHostName(name); err != nil {
				return nil, err
			}
		}
		names = append(names, more...)
		if len(names) > maxHosts {
			return nil, fmt.Errorf("more than %d nodes", maxHosts)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no node")
	}
	return names, nil
}

// cutItem splits a list of nodes at the first comma outside of brackets.
func cutItem(list string) (item, rest string, err error) {
	inside := false
	for i, c := range list {
		switch {
		case c == '[' && !inside, c == ']' && inside:
			inside = !inside
		case c == '[' || c == ']':
			return "", "", fmt.Errorf("brackets do not match at %d", i)
		case c == ',' && !inside:
			return list[:i], list[i+1:], nil
		}
	}
	if inside {
		return "", "", fmt.Errorf("a bracket is not closed")
	}
	return list, "", nil
}

// expandItem returns the names of an item with any number of ranges.
func expandItem(item string) ([]string, error) {
	before, rest, found := strings.Cut(item, "[")
	if !found {
		return []string{item}, nil
	}
	ranges, after, _ := strings.Cut(rest, "]")
	tails, err := expandItem(after)
	if err != nil {
		return nil, err
	}
	var names []string
	for part := range strings.SplitSeq(ranges, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseUint(low, 10, 32)
		last, err2 := strconv.ParseUint(high, 10, 32)
		if err1 != nil || err2 != nil || last < first || (last-first+1)*uint64(len(tails))+uint64(len(names)) > maxHosts {
			return nil, fmt.Errorf("%.80q is not a range of at most %d nodes", part, maxHosts)
		}
		width := len(low)
		if planted.WidthLost {
			width = 1
		}
		for n := first; n <= last; n++ {
			for _, tail := range tails {
				names = append(names, fmt.Sprintf("%s%0*d%s", before, width, n, tail))
			}
		}
	}
	return names, nil
}

// expandCounts returns the numbers in a list such as "2(x3),1", one for each of n nodes.
func expandCounts(list string, n int) (counts []int, err error) {
	for item := range strings.SplitSeq(list, ",") {
		number, times := item, 1
		if before, repeat, ok := strings.Cut(item, "(x"); ok {
			number = before
			times, err = strconv.Atoi(strings.TrimSuffix(repeat, ")"))
			if err != nil || !strings.HasSuffix(repeat, ")") || times < 1 || times > n {
				return nil, fmt.Errorf("%.40q is no number of %d nodes", item, n)
			}
		}
		slots, err := parseSlots(number)
		if err != nil {
			return nil, err
		}
		for range times {
			counts = append(counts, slots)
		}
		if len(counts) > n {
			break
		}
	}
	if len(counts) != n {
		return nil, fmt.Errorf("it does not have %d numbers", n)
	}
	return counts, nil
}
