package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Tests over several hosts. Here mpitest.RunOver simulates them: "shm@0110" are four ranks, of
// which the second and third are on a separate host. hosts_linux_test.go has hosts that are
// network namespaces.

// onHosts runs fn on ranks at these places, with each fabric within a host.
func onHosts(t *testing.T, places string, fn func(t testing.TB, world *mpi.Comm)) {
	t.Helper()
	for _, fabric := range mpitest.Fabrics() {
		fabric += "@" + places
		t.Run(fabric, func(t *testing.T) { mpitest.On(t, fabric, len(places), fn) })
	}
}

// here are the ranks on the host of rank r, ordered by key and then by rank.
func here(places string, r int, key func(rank int) int) (ranks []int) {
	for i := range places {
		if places[i] == places[r] {
			ranks = append(ranks, i)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return key(a) - key(b) })
	return ranks
}

// memoryOf returns the places of ranks on a fabric such as tcp@0011, and in the same form which
// ranks share memory: none do over sockets.
func memoryOf(fabric string) (places, memory string) {
	name, places, _ := strings.Cut(fabric, "@")
	if name == "tcp" {
		return places, "abcdefghijklmnopqrstuvwxyz"[:len(places)]
	}
	return places, places
}

// splitsByHost returns an error unless splits of c by what ranks share consist of the ranks of a
// host, or of those that share memory.
func splitsByHost(c *mpi.Comm, fabric string) error {
	places, memory := memoryOf(fabric)
	sum := func(c *mpi.Comm) (int64, error) {
		v := []int64{int64(c.Size())}
		err := mpi.Allreduce(c, v, v, mpi.Sum)
		return v[0], err
	}
	info, machine := mpi.NewInfo(), mpi.NewInfo()
	if err := errors.Join(info.Set("mpi_hw_resource_type", "mpi_shared_memory"), machine.Set("mpi_hw_resource_type", "hwloc://Machine")); err != nil {
		return err
	}
	hosts := len(slices.Compact(slices.Sorted(slices.Values([]byte(places)))))
	largest := "mpi_shared_memory"
	if memory != places && hosts < len(places) { // otherwise each host has one process
		largest = "hwloc://Machine"
	}
	for _, by := range []struct {
		kind mpi.CommType
		info *mpi.Info
		who  string
	}{
		{mpi.CommTypeShared, nil, memory}, {mpi.CommTypeHwGuided, info, memory}, {mpi.CommTypeResourceGuided, info, memory},
		{mpi.CommTypeHwGuided, machine, places}, {mpi.CommTypeHwUnguided, mpi.NewInfo(), places},
	} {
		for _, sign := range []int{0, 1, -1} {
			if by.kind == mpi.CommTypeHwUnguided && hosts == 1 {
				continue // the type that splits depends on the hardware
			}
			d, err := c.SplitType(by.kind, sign*c.Rank(), by.info)
			if err != nil {
				return err
			}
			want := here(by.who, c.Rank(), func(r int) int { return sign * r })
			if d.Size() != len(want) || d.Rank() != slices.Index(want, c.Rank()) {
				return fmt.Errorf("split %d of %s: rank %d is %d of %d, want %v", by.kind, places, c.Rank(), d.Rank(), d.Size(), want)
			}
			ranks := make([]int64, d.Size())
			if err := mpi.Allgather(d, []int64{int64(c.Rank())}, ranks); err != nil {
				return err
			}
			for i, r := range ranks {
				if int(r) != want[i] {
					return fmt.Errorf("split %d of %s: ranks %v, want %v", by.kind, places, ranks, want)
				}
			}
			// An unguided split reports the type by which it has split, and a guided split by
			// that type is the same.
			if by.kind == mpi.CommTypeHwUnguided {
				if v, _ := by.info.Get("mpi_hw_resource_type"); v != largest {
					return fmt.Errorf("unguided split of %s by %q, want %s", fabric, v, largest)
				}
			}
			if by.kind == mpi.CommTypeShared { // the purpose of the split
				w, err := mpi.WinAllocateShared[int64](d, 1)
				if err != nil {
					return err
				}
				if err := w.Free(); err != nil {
					return err
				}
			}
			if s, err := sum(d); err != nil || s != int64(len(want)*len(want)) {
				return fmt.Errorf("sum over the host: %d, %v", s, err)
			}
			if err := d.Free(); err != nil {
				return err
			}
		}
	}
	// Some ranks pass Undefined, among them all of one host.
	kind := mpi.CommTypeShared
	if c.Rank() == 0 || places[c.Rank()] == places[len(places)-1] {
		kind = mpi.Undefined
	}
	d, err := c.SplitType(kind, 0)
	if err != nil {
		return err
	}
	if (d == nil) != (kind == mpi.Undefined) {
		return fmt.Errorf("rank %d of %s: a communicator: %t", c.Rank(), places, d != nil)
	}
	if d != nil {
		want := slices.DeleteFunc(here(memory, c.Rank(), func(int) int { return 0 }), func(r int) bool { return r == 0 })
		if d.Size() != len(want) {
			return fmt.Errorf("%d without rank 0, want %v", d.Size(), want)
		}
		if err := d.Free(); err != nil {
			return err
		}
	}
	return c.Barrier()
}

// X-COM-01, 7.4.2: SplitType over several hosts gives the ranks of each host, at any places, in
// the order of the keys; over sockets, where no memory can be shared, it gives each rank alone.
// Splitting again changes nothing.
func TestXCOM01_SplitTypeOverHosts(t *testing.T) {
	for _, places := range []string{"00", "01", "0011", "0101", "01201", "001122", "01020304"} {
		onHosts(t, places, func(t testing.TB, c *mpi.Comm) {
			_, fabric, _ := strings.Cut(t.Name(), "/")
			ok(t, splitsByHost(c, fabric))
			_, memory := memoryOf(fabric)
			d, err := c.SplitType(mpi.CommTypeShared, 0)
			ok(t, err)
			e, err := d.SplitType(mpi.CommTypeShared, 0)
			ok(t, err)
			wantMembers(t, e, c, here(memory, c.Rank(), func(int) int { return 0 }))
			ok(t, e.Free())
			ok(t, d.Free())
		})
	}
}
