package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
)

// groups computes the result for every member of a list of sharers.
func groups(t *testing.T, list []sharer) ([][]int, []int, error) {
	t.Helper()
	var all []byte
	for i := range list {
		all = append(all, list[i].encode()...)
	}
	ranks, levels := make([][]int, len(list)), make([]int, len(list))
	var err error
	for me := range list {
		ranks[me], levels[me], err = sharers(all, me)
		if err != nil {
			return nil, nil, err
		}
	}
	return ranks, levels, nil
}

// at places a process on host h, whose hardware has one thread for each core: two packages of
// two NUMA nodes (with an L3 cache each) of two cores. bound is the part of the host that the
// process may use, as an index of resourceNames.
func at(h, core, bound int) []int64 {
	instances := []int{h, core / 4 * 4, core / 2 * 2, core / 2 * 2, core, core, core}
	var p []int64
	for level, i := range instances {
		if level > bound {
			i = -1
		}
		p = append(p, int64(i))
	}
	return p
}

const hostLevel, packageLevel, numaLevel, l3Level, l2Level, coreLevel, puLevel = 0, 1, 2, 3, 4, 5, 6

// Splitting by hosts and by hardware, on two hosts, of which one has members on all cores and
// the other on two.
func TestXCOM01_SplitTypeGroups(t *testing.T) {
	places := func(kind CommType, level int64, bound int) []sharer {
		var list []sharer
		for core := range 8 {
			list = append(list, sharer{kind, level, 0, at(0, core, bound)})
		}
		return append(list, sharer{kind, level, 0, at(1, 0, bound)}, sharer{kind, level, 0, at(1, 3, bound)})
	}
	oneHost := func(bound, n int) []sharer { return places(CommTypeHwUnguided, -1, bound)[:n] }
	each := func(n int) (g [][]int) {
		for r := range n {
			g = append(g, []int{r})
		}
		return g
	}
	none := func(n int) [][]int { return make([][]int, n) }
	for name, k := range map[string]struct {
		list  []sharer
		want  [][]int // the distinct groups, or one for each rank
		level int
	}{
		"hosts":           {places(CommTypeShared, hostLevel, 6), [][]int{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9}}, hostLevel},
		"packages":        {places(CommTypeHwGuided, packageLevel, 6), [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}, packageLevel},
		"NUMA nodes":      {places(CommTypeResourceGuided, numaLevel, 6), [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8}, {9}}, numaLevel},
		"cores":           {places(CommTypeHwGuided, coreLevel, 6), each(10), coreLevel},
		"not bound":       {places(CommTypeHwGuided, coreLevel, numaLevel), none(10), coreLevel},
		"unknown":         {places(CommTypeHwGuided, -1, 6), none(10), 0},
		"any: hosts":      {places(CommTypeHwUnguided, -1, 6), [][]int{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9}}, hostLevel},
		"any: packages":   {oneHost(6, 8), [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, packageLevel},
		"any: NUMA nodes": {oneHost(6, 4), [][]int{{0, 1}, {2, 3}}, numaLevel},
		"any: cores":      {oneHost(6, 2), [][]int{{0}, {1}}, l2Level},
		"any: one member": {oneHost(6, 1), none(1), 0},
		"any: not bound":  {oneHost(hostLevel, 8), none(8), 0},
	} {
		ranks, levels, err := groups(t, k.list)
		if err != nil {
			t.Fatal(err)
		}
		for me, got := range ranks {
			i := slices.IndexFunc(k.want, func(g []int) bool { return slices.Contains(g, me) })
			var want []int
			if i >= 0 {
				want = k.want[i]
			}
			if !slices.Equal(got, want) || got != nil && levels[me] != k.level {
				t.Errorf("%s: rank %d is in %v by level %d, want %v by %d", name, me, got, levels[me], want, k.level)
			}
		}
	}
	_, _, err := groups(t, []sharer{{CommTypeShared, 0, 0, at(0, 0, 6)}, {CommTypeHwGuided, 0, 0, at(0, 0, 6)}})
	var e *class.Error
	if !errors.As(err, &e) || e.Class != class.Arg {
		t.Errorf("different types of split: %v, want MPI_ERR_ARG", err)
	}
}

// With any contributions the groups are disjoint and ordered by key and then by rank, and all
// members of a group compute the same.
func TestXCOM01_SplitTypeGroupsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		kind := CommTypeShared + CommType(rng.IntN(4))
		level := int64(rng.IntN(8) - 1)
		if kind == CommTypeShared {
			level = 0
		} else if kind == CommTypeHwUnguided {
			level = -1
		}
		var list []sharer
		for range 1 + rng.IntN(9) {
			s := sharer{kind, level, int64(rng.IntN(3) - 1), at(rng.IntN(2), rng.IntN(8), rng.IntN(7))}
			switch rng.IntN(8) {
			case 0:
				s.kind = Undefined
			case 1:
				if kind == CommTypeHwGuided {
					s.level = int64(rng.IntN(8) - 1)
				}
			}
			list = append(list, s)
		}
		ranks, _, err := groups(t, list)
		if err != nil {
			t.Fatal(err)
		}
		for me, g := range ranks {
			if g == nil {
				continue
			}
			if list[me].kind == Undefined || !slices.Contains(g, me) {
				t.Fatalf("rank %d of %v is in %v", me, list, g)
			}
			for i, r := range g {
				if !slices.Equal(ranks[r], g) {
					t.Fatalf("rank %d computes %v, rank %d computes %v; %v", me, g, r, ranks[r], list)
				}
				if i > 0 && (list[g[i-1]].key > list[r].key || list[g[i-1]].key == list[r].key && g[i-1] > r) {
					t.Fatalf("%v is not in order; %v", g, fmt.Sprint(list))
				}
			}
		}
	}
}
