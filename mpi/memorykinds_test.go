package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// An assertion about kinds of memory that are all supported is told as it was given, and narrows
// what an object says that it supports. With other kinds it has no effect.
func TestXMEM01_AssertedKinds(t *testing.T) {
	everywhere(t, 1, nil, func(t testing.TB, p *mpitest.Process) {
		for _, k := range []struct {
			requested, asserted string
			used                bool
		}{
			{"mpi,system", "system", true},
			{"mpi,system", "system,mpi", true},
			{"mpi,system", "system, mpi:alloc_mem", true},
			{"mpi,system", "", true},
			{"mpi,system", "mpi:other", false},
			{"mpi,system", "system,cuda:device", false},
			{"system", "mpi", false},
			{"mpi:alloc_mem", "mpi:alloc_mem", true},
			{"mpi:alloc_mem", "mpi", false},
			{"mpi:alloc_mem", "mpi:win_allocate", false},
			{"mpi:alloc_mem:win_allocate,system", "system,mpi:win_allocate", true},
			{"mpi:alloc_mem,mpi:win_allocate", "mpi:win_allocate:alloc_mem", false},
		} {
			s := opened(t, p, mpi.MemoryAllocKinds(k.requested))
			hint := mpi.AssertMemoryAllocKinds(k.asserted)
			c, err := mpi.CommFromGroup(groupOf(t, s, mpi.PsetSelf), "kinds", mpi.ErrorsReturn, hint)
			ok(t, err)
			plain, err := c.Dup() // does not inherit hints
			ok(t, err)
			dup, err := c.Dup(pairs(t, "mpi_assert_memory_alloc_kinds", k.asserted))
			ok(t, err)
			w, err := mpi.WinAllocate[byte](c, 1, hint)
			ok(t, err)
			dynamic, err := c.WinCreateDynamic(pairs(t, "mpi_assert_memory_alloc_kinds", k.asserted))
			ok(t, err)
			wanted := func(what string, info func() (*mpi.Info, error), used bool) {
				i, err := info()
				ok(t, err)
				asserted, found := i.Get("mpi_assert_memory_alloc_kinds")
				kinds, _ := i.Get("mpi_memory_alloc_kinds")
				want := k.requested
				if used {
					want = k.asserted
				}
				if found != used || found && asserted != k.asserted || kinds != want {
					t.Errorf("%s of a session with %q: asserted %q: mpi_assert_memory_alloc_kinds %q (%v), mpi_memory_alloc_kinds %q",
						what, k.requested, k.asserted, asserted, found, kinds)
				}
			}
			wanted("communicator", c.Info, k.used)
			wanted("duplicate", plain.Info, false)
			wanted("duplicate with info", dup.Info, k.used)
			wanted("window", w.Info, k.used)
			wanted("dynamic window", dynamic.Info, k.used)
			ok(t, plain.SetInfo(mpi.NoAnyTag(true), hint))
			wanted("communicator whose info was set", plain.Info, k.used)
			ok(t, plain.SetInfo(mpi.AssertMemoryAllocKinds("cuda:device")))
			wanted("communicator with an assertion that has no effect", plain.Info, k.used)
			wanted("session", s.Info, false)
			ok(t, dynamic.Free())
			ok(t, w.Free())
			ok(t, s.Finalize())
		}
	})
}

// A duplicate of a window inherits the assertion, as it does other hints.
func TestXMEM01_AssertedKindsOfDuplicates(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[byte](c, 1)
		ok(t, err)
		wantInfo(t, w.Window)
		ok(t, w.SetInfo(mpi.AssertMemoryAllocKinds("system")))
		d, err := w.Dup()
		ok(t, err)
		e, err := w.Dup(mpi.AssertMemoryAllocKinds("mpi"))
		ok(t, err)
		wantInfo(t, w.Window, "mpi_assert_memory_alloc_kinds", "system", "mpi_memory_alloc_kinds", "system")
		wantInfo(t, d.Window, "mpi_assert_memory_alloc_kinds", "system", "mpi_memory_alloc_kinds", "system")
		wantInfo(t, e.Window, "mpi_assert_memory_alloc_kinds", "mpi", "mpi_memory_alloc_kinds", "mpi")
		ok(t, e.Free())
		ok(t, d.Free())
		ok(t, w.Free())
	})
}
