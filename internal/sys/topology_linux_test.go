package sys

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

// machine returns /sys for 2 packages of 2 NUMA nodes of 2 cores of 2 threads, with an
// L3 cache for each node and an L2 cache for each core. The first threads of all cores
// have the lowest numbers, as is usual.
func machine() fstest.MapFS {
	m := fstest.MapFS{}
	file := func(name, text string) { m[name] = &fstest.MapFile{Data: []byte(text + "\n")} }
	for cpu := range 16 {
		core, dir := cpu%8, fmt.Sprintf("cpu/cpu%d/", cpu)
		pack, node := core/4, core/2
		file(dir+"topology/package_cpus_list", fmt.Sprintf("%d-%d,%d-%d", 4*pack, 4*pack+3, 8+4*pack, 8+4*pack+3))
		file(dir+"topology/core_cpus_list", fmt.Sprintf("%d,%d", core, core+8))
		file(dir+"cache/index0/level", "1")
		file(dir+"cache/index0/type", "Data")
		file(dir+"cache/index1/level", "2")
		file(dir+"cache/index1/type", "Instruction") // misleading on purpose
		file(dir+"cache/index1/shared_cpu_list", "0-15")
		file(dir+"cache/index2/level", "2")
		file(dir+"cache/index2/type", "Unified")
		file(dir+"cache/index2/shared_cpu_list", fmt.Sprintf("%d,%d", core, core+8))
		file(dir+"cache/index3/level", "3")
		file(dir+"cache/index3/type", "Unified")
		file(dir+"cache/index3/shared_cpu_list", fmt.Sprintf("%d-%d,%d-%d", 2*node, 2*node+1, 8+2*node, 8+2*node+1))
		file(fmt.Sprintf("node/node%d/cpulist", node), fmt.Sprintf("%d-%d,%d-%d", 2*node, 2*node+1, 8+2*node, 8+2*node+1))
	}
	return m
}

// A process is on a piece of hardware if all its CPUs are.
func TestXCOM01_Places(t *testing.T) {
	for _, k := range []struct {
		cpus []int
		want []int // Package, NUMANode, L3Cache, L2Cache, Core, PU
	}{
		{[]int{0}, []int{0, 0, 0, 0, 0, 0}},
		{[]int{13}, []int{4, 4, 4, 5, 5, 13}},
		{[]int{5, 13}, []int{4, 4, 4, 5, 5, -1}},
		{[]int{2, 3}, []int{0, 2, 2, -1, -1, -1}},
		{[]int{11, 10, 2, 3}, []int{0, 2, 2, -1, -1, -1}},
		{[]int{1, 2}, []int{0, -1, -1, -1, -1, -1}},
		{[]int{3, 4}, []int{-1, -1, -1, -1, -1, -1}},
		{[]int{99}, []int{-1, -1, -1, -1, -1, 99}},
		{nil, []int{-1, -1, -1, -1, -1, -1}},
	} {
		var got []int
		for i, p := range places(machine(), k.cpus) {
			if p.Kind != Kinds()[i] {
				t.Errorf("place %d is of kind %s, want %s", i, p.Kind, Kinds()[i])
			}
			got = append(got, p.Instance)
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("CPUs %v are on %v, want %v", k.cpus, got, k.want)
		}
	}
}

// The places of this machine are consistent: a process on one core is on one package.
func TestXCOM01_PlacesHere(t *testing.T) {
	all := Places()
	if len(all) != len(Kinds()) {
		t.Fatalf("%d places, want %d", len(all), len(Kinds()))
	}
	byKind := map[string]int{}
	for _, p := range all {
		byKind[p.Kind] = p.Instance
	}
	if byKind["Core"] >= 0 && byKind["Package"] < 0 {
		t.Errorf("on one core, but on no package: %v", all)
	}
}

// parseCPUs returns nil for invalid lists, and no list makes it allocate much memory.
func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0-2,7": {0, 1, 2, 7}, "": nil, "x": nil, "1-": nil, "-1": nil, "3-1": nil, "0-99999999": nil, "1,,2": nil,
	} {
		if got := parseCPUs(list); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", list, got, want)
		}
	}
}
