package mpi

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
)

// Process sets of a job engine stand beside those of the launcher, and do not take their names.
func TestXSES01_ProcessSetsOfAJobEngine(t *testing.T) {
	j := &boot.Job{Size: 4, Rank: 2, Hosts: []string{"h"}, Host: []int32{0, 0, 0, 0}, Sets: []boot.Pset{
		{Name: "odd", Ranks: []int{1, 3}}, {Name: PsetWorld, Ranks: []int{0}}, {Name: "one", Ranks: []int{2}}}}
	if names, want := psets(j), []string{PsetWorld, PsetSelf, "halo://host/h", "halo://app/0", "odd", "one"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	for name, want := range map[string][]int32{"odd": {1, 3}, "one": {2}, PsetWorld: {0, 1, 2, 3}, PsetSelf: {2}, "halo://app/0": {0, 1, 2, 3}, "other": nil} {
		if got := pset(j, name); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
}
