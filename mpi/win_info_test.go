package mpi_test

import (
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// pairs makes an Info.
func pairs(t testing.TB, kv ...string) *mpi.Info {
	t.Helper()
	i := mpi.NewInfo()
	for ; len(kv) > 0; kv = kv[2:] {
		ok(t, i.Set(kv[0], kv[1]))
	}
	return i
}

// wantInfo checks that the hints of a window are the defaults with these changes.
func wantInfo(t testing.TB, w *mpi.Window, changes ...string) {
	t.Helper()
	want := map[string]string{"no_locks": "false", "accumulate_ordering": "rar,raw,war,waw", "accumulate_ops": "same_op_no_op",
		"same_size": "false", "same_disp_unit": "false", "mpi_accumulate_granularity": "0",
		"mpi_win_scope": "process", "mpi_win_order": "false", "mpi_assert_accumulate_intrinsic": "false", "mpi_memory_alloc_kinds": "mpi,system"}
	switch w.Flavor() {
	case mpi.WinFlavorShared:
		want["alloc_shared_noncontig"] = "false"
		fallthrough
	case mpi.WinFlavorAllocate:
		want["mpi_minimum_memory_alignment"] = "64"
	}
	for ; len(changes) > 0; changes = changes[2:] {
		want[changes[0]] = changes[1]
	}
	i, err := w.Info()
	ok(t, err)
	for key, v := range want {
		if got, found := i.Get(key); !found || got != v {
			t.Errorf("%s is %q (%v), want %q", key, got, found, v)
		}
	}
	if i.NKeys() != len(want) {
		t.Errorf("%d keys, want %d", i.NKeys(), len(want))
	}
}

// All supported keys are there, with their defaults or the values that were set. Unknown keys
// (INF-03) and those without a valid value (INF-08) are ignored, and not returned. X-RMA-24, EX-06:
// so it is with keys of other implementations.
func TestRW07_XRMA10_Info(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) { wantInfo(t, s.Window) })
		info := pairs(t, "no_locks", "true", "accumulate_ordering", "waw,rar", "accumulate_ops", "same_op", "same_size", "true",
			"same_disp_unit", "true", "mpi_accumulate_granularity", "8", "mpi_minimum_memory_alignment", "4096",
			"alloc_shared_noncontig", "true", "zzz", "true", "which_accumulate_ops", "sum")
		for _, kind := range spaceKinds {
			s := newSpace[int64](t, c, kind, 2, info)
			if s == nil {
				continue
			}
			all := []string{"no_locks", "true", "accumulate_ordering", "rar,waw", "accumulate_ops", "same_op",
				"same_size", "true", "same_disp_unit", "true", "mpi_accumulate_granularity", "8"}
			switch s.Flavor() {
			case mpi.WinFlavorShared:
				all = append(all, "alloc_shared_noncontig", "true", "mpi_minimum_memory_alignment", "4096")
			case mpi.WinFlavorAllocate:
				all = append(all, "mpi_minimum_memory_alignment", "4096")
			}
			wantInfo(t, s.Window, all...)
			// A value that is set replaces the old one; the others do not change.
			ok(t, s.SetInfo(pairs(t, "no_locks", "false", "accumulate_ordering", "none", "accumulate_ops", "same_op_no_op",
				"same_size", "false", "mpi_minimum_memory_alignment", "8", "zzz", "1")))
			all[1], all[3], all[5], all[7] = "false", "none", "same_op_no_op", "false"
			wantInfo(t, s.Window, all...)
			ok(t, s.SetInfo(nil, (*mpi.Info)(nil)))
			wantInfo(t, s.Window, all...)
			s.free(t, c)
		}
		for _, bad := range [][]string{{"no_locks", "TRUE"}, {"no_locks", "1"}, {"accumulate_ordering", "rar,xyz"}, {"accumulate_ordering", ""},
			{"accumulate_ordering", "none,rar"}, {"accumulate_ops", "any"}, {"mpi_accumulate_granularity", "-8"}, {"mpi_accumulate_granularity", "8.5"},
			{"mpi_minimum_memory_alignment", "48"}, {"mpi_minimum_memory_alignment", "0"}, {"mpi_minimum_memory_alignment", "x"}} {
			w, err := mpi.WinAllocate[int64](c, 2, pairs(t, bad...))
			ok(t, err)
			wantInfo(t, w.Window)
			ok(t, w.SetInfo(pairs(t, bad...)))
			wantInfo(t, w.Window)
			ok(t, w.Free())
		}
	})
}

// Keys have their effect (INF-04): no_locks forbids locks until it is set to false.
func TestXRMA10_NoLocks(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, kind := range spaceKinds {
			s := newSpace[int64](t, c, kind, 1, pairs(t, "no_locks", "true"))
			if s == nil {
				continue
			}
			wantClass(t, s.Lock(mpi.LockShared, 0, 0), mpi.ErrRMASync)
			wantClass(t, s.LockAll(0), mpi.ErrRMASync)
			// no lock is taken with ModeNoCheck: that is an error in checking mode only
			ok(t, s.LockAll(mpi.ModeNoCheck))
			ok(t, s.Put([]int64{2}, 1-c.Rank(), s.at(1-c.Rank(), 0)))
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			if s.mem[0] != 2 {
				t.Errorf("memory %v", s.mem)
			}
			ok(t, s.Lock(mpi.LockShared, 0, mpi.ModeNoCheck))
			ok(t, s.Unlock(0))
			ok(t, s.Fence(0))
			ok(t, s.Put([]int64{3}, 1-c.Rank(), s.at(1-c.Rank(), 0)))
			ok(t, s.Fence(0))
			if s.mem[0] != 3 {
				t.Errorf("memory %v", s.mem)
			}
			ok(t, s.SetInfo(pairs(t, "no_locks", "false")))
			ok(t, c.Barrier())
			ok(t, s.LockAll(0))
			ok(t, s.UnlockAll())
			s.free(t, c)
		}
	})
}

// In checking mode a lock of a window with no_locks is an error, also with ModeNoCheck.
func TestXRMA10_NoLocksInCheckingMode(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1, mpi.NoLocks(true))
		ok(t, err)
		for _, assert := range []mpi.Assert{0, mpi.ModeNoCheck} {
			wantClass(t, w.LockAll(assert), mpi.ErrRMASync)
			wantClass(t, w.Lock(mpi.LockShared, 0, assert), mpi.ErrRMASync)
		}
		ok(t, w.Free())
	})
}

// Memory has the requested alignment.
func TestXRMA14_Alignment(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		for _, align := range []string{"8", "64", "4096", "65536"} {
			want := map[string]uintptr{"8": 64, "64": 64, "4096": 4096, "65536": 65536}[align]
			for _, kind := range []string{"allocate", "shared"} {
				s := newSpace[int8](t, c, kind, 100+c.Rank(), pairs(t, "mpi_minimum_memory_alignment", align, "alloc_shared_noncontig", "true"))
				if s == nil {
					continue
				}
				if at := uintptr(unsafe.Pointer(&s.mem[0])); at%want != 0 {
					t.Errorf("%s: memory at %#x, want a multiple of %s", kind, at, align)
				}
				s.free(t, c)
			}
			mem, err := mpi.AllocMem[int8](c, 100, pairs(t, "mpi_minimum_memory_alignment", align))
			ok(t, err)
			if at := uintptr(unsafe.Pointer(&mem[0])); at%want != 0 {
				t.Errorf("AllocMem at %#x, want a multiple of %s", at, align)
			}
			ok(t, mpi.FreeMem(c, mem))
		}
	})
}

// With any granularity, ordering and asserted operations, updates are exact.
func TestXRMA16_RW08_Granularity(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const width = 3000
		k := rounds(50)
		for _, granularity := range []string{"0", "1", "8", "4096"} {
			for _, ordering := range []string{"none", "rar,raw,war,waw"} {
				info := pairs(t, "mpi_accumulate_granularity", granularity, "accumulate_ordering", ordering, "accumulate_ops", "same_op")
				for _, kind := range []string{"create", "allocate"} {
					s := newSpace[int64](t, c, kind, width, info)
					if s == nil {
						continue
					}
					ones := make([]int64, width)
					for i := range ones {
						ones[i] = 1
					}
					ok(t, s.LockAll(0))
					for i := range k {
						ok(t, s.Accumulate(ones, 0, s.at(0, 0), mpi.Sum))
						one, was := int64(1), int64(0)
						ok(t, s.FetchAndOp(&one, &was, 0, s.at(0, i), mpi.Sum))
					}
					ok(t, s.UnlockAll())
					ok(t, c.Barrier())
					for i, v := range s.mem {
						want := int64(0)
						if c.Rank() == 0 {
							want = int64(k * c.Size())
							if i < k {
								want += int64(c.Size())
							}
						}
						if v != want {
							t.Fatalf("granularity %s, ordering %s: element %d is %d, want %d", granularity, ordering, i, v, want)
						}
					}
					s.free(t, c)
				}
			}
		}
	})
}

// same_size and same_disp_unit are assertions: if they are true nothing changes.
func TestXRMA10_SameSizeAndUnit(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		for _, kind := range spaceKinds {
			s := newSpace[int32](t, c, kind, 10, pairs(t, "same_size", "true", "same_disp_unit", "true"))
			if s == nil {
				continue
			}
			next := (c.Rank() + 1) % c.Size()
			ok(t, s.Fence(0))
			ok(t, s.Put([]int32{5}, next, s.at(next, 9)))
			ok(t, s.Fence(0))
			if s.mem[9] != 5 {
				t.Errorf("%s: memory %v", kind, s.mem)
			}
			s.free(t, c)
		}
	})
}
