package mpi_test

import (
	"maps"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Each typed hint of windows has the effect of its info key, when the window is made and later.
// Of two the later one counts, nil has no effect, and an invalid value changes nothing.
func TestRW07_TypedWinHints(t *testing.T) {
	made := func(t testing.TB, c *mpi.Comm, hints ...mpi.WinHint) (mpi.Win[int64], map[string]string) {
		w, err := mpi.WinAllocateShared[int64](c, 1, hints...)
		ok(t, err)
		return w, hintsOf(t, w.Info)
	}
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		w, initial := made(t, c)
		ok(t, w.Free())
		for _, x := range []struct {
			hint       mpi.WinHint
			key, value string
			later      bool // SetInfo can change it
		}{
			{mpi.NoLocks(true), "no_locks", "true", true},
			{mpi.OrderNone, "accumulate_ordering", "none", true},
			{mpi.OrderRAR | mpi.OrderWAW, "accumulate_ordering", "rar,waw", true},
			{mpi.OrderRAW | mpi.OrderWAR, "accumulate_ordering", "raw,war", true},
			{mpi.SameOp, "accumulate_ops", "same_op", true},
			{mpi.AccumulateGranularity(64), "mpi_accumulate_granularity", "64", false},
			{mpi.AccumulateIntrinsic(true), "mpi_assert_accumulate_intrinsic", "true", true},
			{mpi.SameSize(true), "same_size", "true", true},
			{mpi.SameDispUnit(true), "same_disp_unit", "true", true},
			{mpi.SharedNoncontig(true), "alloc_shared_noncontig", "true", true},
			{mpi.MinimumAlignment(4096), "mpi_minimum_memory_alignment", "4096", false},
			{mpi.ScopeThread, "mpi_win_scope", "thread", true},
			{mpi.WinOrder(true), "mpi_win_order", "true", true},
		} {
			typed, got := made(t, c, x.hint)
			named, want := made(t, c, nil, pairs(t, x.key, x.value), (*mpi.Info)(nil))
			if !maps.Equal(got, want) {
				t.Errorf("%T(%v) makes a window with %v, %s=%s one with %v", x.hint, x.hint, got, x.key, x.value, want)
			}
			if got[x.key] == initial[x.key] {
				t.Errorf("%T(%v) changes nothing", x.hint, x.hint)
			}
			ok(t, typed.Free())
			ok(t, named.Free())
			typed, _ = made(t, c)
			ok(t, typed.SetInfo(x.hint))
			if !x.later {
				want = initial
			}
			if got := hintsOf(t, typed.Info); !maps.Equal(got, want) {
				t.Errorf("SetInfo(%T(%v)) makes %v of a window, want %v", x.hint, x.hint, got, want)
			}
			ok(t, typed.Free())
		}
		for _, hints := range [][]mpi.WinHint{
			{mpi.AccumulateGranularity(-1)}, {mpi.MinimumAlignment(48)}, {mpi.MinimumAlignment(0)}, {mpi.MinimumAlignment(1 << 31)},
			{mpi.WinOrder(true), pairs(t, "mpi_win_order", "false")}, {pairs(t, "mpi_win_scope", "thread"), mpi.ScopeProcess},
			{mpi.SameOp, mpi.SameOpNoOp},
		} {
			w, got := made(t, c, hints...)
			if !maps.Equal(got, initial) {
				t.Errorf("%v makes a window with %v", hints, got)
			}
			ok(t, w.Free())
		}
	})
}

// Each typed hint of communicators has the effect of its info key, for Dup, Idup and SetInfo.
func TestXP2P05_TypedCommHints(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		for _, x := range []struct {
			hint mpi.CommHint
			key  string
		}{
			{mpi.NoAnyTag(true), "mpi_assert_no_any_tag"}, {mpi.NoAnySource(true), "mpi_assert_no_any_source"},
			{mpi.ExactLength(true), "mpi_assert_exact_length"}, {mpi.AllowOvertaking(true), "mpi_assert_allow_overtaking"},
			{mpi.StrictPersistentOrdering(true), "mpi_assert_strict_persistent_collective_ordering"},
		} {
			c, err := world.Dup()
			ok(t, err)
			want := hintsOf(t, c.Info)
			want[x.key] = "true"
			ok(t, c.SetInfo(nil, x.hint))
			if got := hintsOf(t, c.Info); !maps.Equal(got, want) {
				t.Errorf("SetInfo(%T) makes %v, want %v", x.hint, got, want)
			}
			ok(t, c.Free())
		}
		some := []mpi.CommHint{mpi.NoAnyTag(true), mpi.ExactLength(true), mpi.NoAnyTag(false)}
		c, err := world.Dup(some...)
		ok(t, err)
		d, r := world.Idup(some...)
		_, err = r.Wait()
		ok(t, err)
		for _, c := range []*mpi.Comm{c, d} {
			if got := hintsOf(t, c.Info); got["mpi_assert_no_any_tag"] != "false" || got["mpi_assert_exact_length"] != "true" {
				t.Errorf("a communicator has %v", got)
			}
			ok(t, c.Free())
		}
	})
}

// The other typed hints have the effect of their keys.
func TestXRMA14_TypedHints(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		mem, err := mpi.AllocMem[byte](c, 10, nil, mpi.MinimumAlignment(8192))
		ok(t, err)
		if mpi.Address(mem)%8192 != 0 {
			t.Errorf("memory begins at %#x", mpi.Address(mem))
		}
		ok(t, mpi.FreeMem(c, mem))
		d, err := c.SplitType(mpi.CommTypeHwGuided, 0, mpi.HwResourceType("hwloc://Machine"))
		ok(t, err)
		e, err := c.SplitType(mpi.CommTypeHwGuided, 0, pairs(t, "mpi_hw_resource_type", "hwloc://Machine"))
		ok(t, err)
		if d.Size() != e.Size() {
			t.Errorf("%d on the host, by the key %d", d.Size(), e.Size())
		}
		ok(t, d.Free())
		ok(t, e.Free())
	})
}

// hintsOf is what Info of an object returns.
func hintsOf(t testing.TB, info func() (*mpi.Info, error)) map[string]string {
	t.Helper()
	i, err := info()
	ok(t, err)
	all := map[string]string{}
	for n := range i.NKeys() {
		k, err := i.NthKey(n)
		ok(t, err)
		all[k], _ = i.Get(k)
	}
	return all
}
