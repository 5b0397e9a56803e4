package sys

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Places returns for each of Kinds where the CPUs are that the calling process may use.
func Places() []Place {
	cpus, err := AllowedCPUs()
	if err != nil {
		cpus = nil
	}
	return places(os.DirFS("/sys/devices/system"), cpus)
}

// places reads the places of CPUs from /sys/devices/system: one file for each kind, for any number of
// CPUs.
func places(system fs.FS, cpus []int) []Place {
	var all []Place
	for _, kind := range Kinds() {
		p := Place{kind, -1}
		if len(cpus) > 0 {
			piece := piece(system, kind, cpus[0])
			if !slices.ContainsFunc(cpus, func(c int) bool { return !slices.Contains(piece, c) }) {
				p.Instance = slices.Min(piece)
			}
		}
		all = append(all, p)
	}
	return all
}

// piece returns the CPUs of the piece of hardware that a CPU belongs to, nil if there is none.
func piece(system fs.FS, kind string, cpu int) []int {
	dir := fmt.Sprintf("cpu/cpu%d/", cpu)
	switch kind {
	case "Package": // the second is what Linux before 5.0 calls it
		return with(system, cpu, dir+"topology/package_cpus_list", dir+"topology/core_siblings_list")
	case "Core":
		return with(system, cpu, dir+"topology/core_cpus_list", dir+"topology/thread_siblings_list")
	case "NUMANode":
		lists, _ := fs.Glob(system, "node/node[0-9]*/cpulist") // the pattern is well formed
		return with(system, cpu, lists...)
	case "L3Cache", "L2Cache":
		level := kind[1:2]
		caches, _ := fs.Glob(system, dir+"cache/index*")
		for _, c := range caches {
			// Instruction caches have levels, too.
			if text(system, c+"/level") == level && text(system, c+"/type") != "Instruction" {
				return with(system, cpu, c+"/shared_cpu_list")
			}
		}
		return nil
	}
	return []int{cpu}
}

// with returns the first of the lists of CPUs that contains cpu.
func with(system fs.FS, cpu int, lists ...string) []int {
	for _, name := range lists {
		if cpus := parseCPUs(text(system, name)); slices.Contains(cpus, cpu) {
			return cpus
		}
	}
	return nil
}

func text(system fs.FS, name string) string {
	b, err := fs.ReadFile(system, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// parseCPUs parses a list such as 0-3,8. It returns nil if the text is no list.
func parseCPUs(list string) []int {
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		lo, err := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || lo < 0 || hi-lo > 1<<16 {
			return nil
		}
		for c := lo; c <= hi; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus
}
