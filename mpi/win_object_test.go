package mpi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Names belong to the process and occur in its errors.
func TestNAM02_Names(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		if w.Name() != "" {
			t.Errorf("a new window is called %q", w.Name())
		}
		ok(t, w.SetName("grid"))
		wantText(t, w.Put([]int64{1}, 2, 0), mpi.ErrRank, "mpi: Put on grid to 2: ")
		longest := strings.Repeat("x", 127)
		ok(t, w.SetName(longest))
		wantClass(t, w.SetName(longest+"x"), mpi.ErrArg)
		if w.Name() != longest || c.Name() != "world" {
			t.Errorf("names are %q and %q", w.Name(), c.Name())
		}
		ok(t, w.Free())
		var none *mpi.Window
		if none.Name() != "" {
			t.Error("no window has a name")
		}
	})
}

// Keys of windows (ATT-10): values are set, read, replaced and deleted. Free deletes them, the
// last set first, and fails if a callback fails (RW-06).
func TestATT09_RW06_Attributes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		a, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		b, err := c.WinCreateDynamic()
		ok(t, err)
		var deleted []string
		refuse := false
		del := func(w *mpi.Window, v string) error {
			if refuse {
				return mpi.ErrPending
			}
			deleted = append(deleted, fmt.Sprint(v, w == a.Window))
			return nil
		}
		k := mpi.CreateKeyval(mpi.DupFn[*mpi.Window, string], del)
		l := mpi.CreateKeyval(nil, del)
		hasNoAttr(t, a.Window, k)
		ok(t, mpi.SetAttr(a.Window, k, "one"))
		ok(t, mpi.SetAttr(b, k, "other"))
		ok(t, mpi.SetAttr(a.Window, l, "two"))
		ok(t, mpi.SetAttr(a.Window, k, "three"))
		hasAttr(t, a.Window, k, "three")
		hasAttr(t, b, k, "other")
		ok(t, mpi.DeleteAttr(b, k))
		hasNoAttr(t, b, k)
		refuse = true
		wantClass(t, a.Free(), mpi.ErrPending)
		hasAttr(t, a.Window, l, "two")
		refuse = false
		ok(t, c.Barrier())
		ok(t, a.Fence(0)) // the window still works
		ok(t, a.Free())
		ok(t, b.Free())
		if want := []string{"onetrue", "otherfalse", "threetrue", "twotrue"}; !slices.Equal(deleted, want) {
			t.Errorf("deleted %v, want %v", deleted, want)
		}
		for _, err := range []error{mpi.SetAttr(a.Window, k, ""), third(mpi.GetAttr(a.Window, k)), mpi.DeleteAttr(a.Window, k)} {
			wantClass(t, err, mpi.ErrWin)
		}
		var none mpi.Keyval[*mpi.Window, int] // ERR-14
		w, err := c.WinCreateDynamic()
		ok(t, err)
		wantClass(t, mpi.SetAttr(w, none, 1), mpi.ErrKeyval)
		ok(t, w.Free())
	})
}
