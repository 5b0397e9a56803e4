package mpi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Ranks that are goroutines are on one host, and share all hardware to which they are bound.
func TestXCOM01_SplitType(t *testing.T) {
	mpitest.Run(t, 4, func(t testing.TB, c *mpi.Comm) {
		asked := func(resource string) *mpi.Info {
			i := mpi.NewInfo()
			ok(t, i.Set("mpi_hw_resource_type", resource))
			return i
		}
		here := mpi.GetHwResourceInfo()
		type split struct {
			kind mpi.CommType
			info *mpi.Info
			want []int
		}
		all := []int{3, 2, 1, 0} // ordered by the keys
		sharing := all
		if strings.Contains(t.Name(), "/tcp-") { // no ranks share memory
			sharing = []int{c.Rank()}
		}
		splits := []split{
			{mpi.CommTypeShared, nil, sharing},
			{mpi.CommTypeHwGuided, asked("mpi_shared_memory"), sharing},
			{mpi.CommTypeResourceGuided, asked("mpi_shared_memory"), sharing},
			{mpi.CommTypeHwGuided, asked("hwloc://Machine"), all},
			{mpi.CommTypeHwGuided, asked("hwloc://Teapot"), nil},
			{mpi.CommTypeHwGuided, nil, nil},
			{mpi.CommTypeHwUnguided, nil, nil}, // no type of hardware splits the communicator
			{mpi.CommTypeHwUnguided, mpi.NewInfo(), nil},
		}
		for n := range here.NKeys() {
			k, err := here.NthKey(n)
			ok(t, err)
			want := all
			if v, _ := here.Get(k); v == "false" {
				want = nil
			}
			splits = append(splits, split{mpi.CommTypeHwGuided, asked(k), want})
		}
		for i, s := range splits {
			d, err := c.SplitType(s.kind, -c.Rank(), s.info)
			ok(t, err)
			if s.want == nil {
				if d != nil {
					t.Fatalf("split %d gives a communicator of %d", i, d.Size())
				}
				continue
			}
			wantMembers(t, d, c, s.want)
			ok(t, d.Free())
		}
		kind := mpi.CommTypeShared
		if c.Rank() == 2 {
			kind = mpi.Undefined
		}
		d, err := c.SplitType(kind, 0)
		ok(t, err)
		want := []int{0, 1, 3}
		if len(sharing) == 1 {
			want = sharing
		}
		wantMembers(t, d, c, slices.DeleteFunc(want, func(r int) bool { return r == 2 }))
		if d != nil {
			ok(t, d.Free())
		}
		if c.Rank() == 2 { // if members disagree, all get the error
			kind = mpi.CommTypeHwUnguided
		}
		wantClass(t, second(c.SplitType(kind, 0)), mpi.ErrArg)
		ok(t, c.Barrier())
	})
}

// X-COM-01: a split guided by a process set gives its members a communicator, in the order of the keys, and all
// others nil. A set is another one in each process if its members differ. A type of hardware and a set together
// are an error in all members, also in those that pass one of them.
func TestXCOM01_SplitTypeByProcessSets(t *testing.T) {
	mpitest.Run(t, 4, func(t testing.TB, c *mpi.Comm) {
		odds, err := c.Split(c.Rank()%2, c.Rank())
		ok(t, err)
		for _, of := range []*mpi.Comm{c, odds} {
			var all []int
			for r := of.Size() - 1; r >= 0; r-- {
				all = append(all, r) // ordered by the keys
			}
			for _, s := range []struct {
				name string
				want []int
			}{
				{mpi.PsetWorld, all}, {"mpi://world", all}, {mpi.PsetSelf, []int{of.Rank()}}, {"halo://app/0", all},
				{"halo://app/1", nil}, {mpi.PsetParent, nil}, {mpi.PsetChildren, nil}, {"no://such", nil},
			} {
				for _, hint := range []mpi.SplitHint{mpi.PsetName(s.name), pairs(t, "mpi_pset_name", s.name)} {
					d, err := of.SplitType(mpi.CommTypeResourceGuided, -of.Rank(), hint)
					ok(t, err)
					if s.want == nil {
						if d != nil {
							t.Fatalf("%s: a communicator of %d", s.name, d.Size())
						}
						continue
					}
					wantMembers(t, d, of, s.want)
					ok(t, d.Free())
				}
			}
			// members may pass names of different sets
			name, want := mpi.PsetName(mpi.PsetWorld), all[:len(all)-1]
			if of.Rank() == 0 {
				name, want = mpi.PsetSelf, []int{0}
			}
			d, err := of.SplitType(mpi.CommTypeResourceGuided, -of.Rank(), name)
			ok(t, err)
			wantMembers(t, d, of, want)
			ok(t, d.Free())
			// the other kinds of splits do not take the name of a set
			d, err = of.SplitType(mpi.CommTypeHwGuided, 0, mpi.PsetName(mpi.PsetWorld))
			ok(t, err)
			if d != nil {
				t.Error("a split by hardware takes the name of a process set")
			}
			hints := []mpi.SplitHint{mpi.PsetName(mpi.PsetWorld)}
			if of.Rank() == 1 {
				hints = append(hints, mpi.HwResourceType("mpi_shared_memory"))
			}
			wantClass(t, second(of.SplitType(mpi.CommTypeResourceGuided, 0, hints...)), mpi.ErrInfo)
			ok(t, of.Barrier())
		}
		ok(t, odds.Free())
	})
}
