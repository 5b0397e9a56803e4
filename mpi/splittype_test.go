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
