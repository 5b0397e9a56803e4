package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// K: a wrong argument is an error of the standard's class that names the call, the communicator
// and numbers; after that the members' collectives still match. TRM-03: memory to send and to
// receive that overlaps in part is such an argument.
func TestCollectiveArguments(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		b, me := make([]float64, 8), c.Rank()
		two := []int{2, 2}
		for what, x := range map[string]struct {
			err  error
			want mpi.Class
			text string
		}{
			"root":         {mpi.Bcast(c, b, 2), mpi.ErrRoot, "mpi: Bcast on world: root 2 in a communicator of 2"},
			"root -1":      {waited(mpi.Igather(c, b[:1], b, -1)), mpi.ErrRoot, "Igather on world: root -1"},
			"Init":         {waited(mpi.ScatterInit(c, b, b[:4], 5)), mpi.ErrRoot, "ScatterInit on world: root 5"},
			"op":           {mpi.Allreduce(c, b, b, mpi.Band), mpi.ErrOp, "Band is not defined on elements of float64"},
			"scan op":      {mpi.Scan(c, b, b, mpi.Land), mpi.ErrOp, "Land"},
			"short":        {mpi.Allreduce(c, b, make([]float64, 3), mpi.Sum), mpi.ErrCount, "receive slice of 3 elements for 8"},
			"allgather":    {mpi.Allgather(c, b[:4], make([]float64, 7)), mpi.ErrCount, "receive slice of 7 elements for 8"},
			"alltoall":     {mpi.Alltoall(c, b[:3], make([]float64, 9)), mpi.ErrCount, "3 elements is not a block for each of 2"},
			"counts":       {mpi.Allgatherv(c, b[:2], make([]float64, 9), []int{2}, nil), mpi.ErrCount, "1 receive counts for 2 members"},
			"displs":       {mpi.Allgatherv(c, b[:2], make([]float64, 9), two, []int{1}), mpi.ErrArg, "1 receive displacements for 2 members"},
			"negative":     {mpi.Alltoallv(c, b, []int{1, -1}, nil, make([]float64, 9), two, nil), mpi.ErrCount, "send count -1 of rank 1 is negative"},
			"beyond":       {mpi.Alltoallv(c, b, two, nil, make([]float64, 9), two, []int{0, 8}), mpi.ErrCount, "receive block of rank 1: 2 elements at 8 of a slice of 9"},
			"own count":    {mpi.Allgatherv(c, b[:3], make([]float64, 9), two, nil), mpi.ErrCount, fmt.Sprintf("3 elements, the count of rank %d is 2", me)},
			"add up":       {mpi.ReduceScatter(c, b, make([]float64, 9), two, mpi.Sum), mpi.ErrCount, "add up to 4"},
			"overlap":      {mpi.Allreduce(c, b[:4], b[1:5], mpi.Sum), mpi.ErrBuffer, "overlap in part"},
			"other block":  {mpi.Allgather(c, b[4*(1-me):4*(1-me)+4], b), mpi.ErrBuffer, "own block"},
			"alltoall own": {mpi.Alltoall(c, b[2:6], b[:4]), mpi.ErrBuffer, "overlap in part"},
			"nil":          {mpi.Bcast(nil, b, 0), mpi.ErrComm, "Bcast: communicator is nil"},
		} {
			if !errors.Is(x.err, x.want) || !strings.Contains(x.err.Error(), x.text) {
				t.Errorf("%s: %v, want %v with %q", what, x.err, x.want, x.text)
			}
		}
		if sum, err := mpi.AllreduceOne(c, 1, mpi.Sum); err != nil || sum != 2 {
			t.Errorf("afterwards: %d, %v", sum, err)
		}
	})
}

// K: lengths that disagree are an error of the member that can detect it.
func TestCollectiveMismatch(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		size := []int{1000, 900}[c.Rank()]
		err := mpi.Bcast(c, make([]int, size), 0)
		if c.Rank() == 1 && !errors.Is(err, mpi.ErrTruncate) || c.Rank() == 0 && err != nil {
			t.Errorf("1000 elements into 900: %v", err)
		}
		counts := []int{5, 5}
		err = mpi.Gatherv(c, make([]int, 5-2*c.Rank()), make([]int, 10), counts, nil, 0)
		if c.Rank() == 0 && (!errors.Is(err, mpi.ErrCount) || !strings.Contains(err.Error(), "rank 1 sends 24 bytes, rank 0 receives 40")) {
			t.Errorf("3 elements where 5 are expected: %v", err)
		}
		if sum, err := mpi.AllreduceOne(c, 1, mpi.Sum); err != nil || sum != 2 {
			t.Errorf("afterwards: %d, %v", sum, err)
		}
	})
}

// COL-15: a nonblocking collective can be neither cancelled nor freed; a persistent one can be
// started and freed only while it is inactive.
func TestCOL15_RequestsOfCollectives(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		is := func(what string, err error) {
			if !errors.Is(err, mpi.ErrRequest) {
				t.Errorf("%s: %v, want ErrRequest", what, err)
			}
		}
		r := c.Ibarrier()
		is("Cancel", r.Cancel())
		is("Free of an active one", r.Free())
		is("Start of one that is not persistent", r.Start())
		st, err := r.Wait()
		if err != nil || st.Source != mpi.AnySource || st.Tag != mpi.AnyTag || !r.IsNull() {
			t.Errorf("status %v, %v, null %t", st, err, r.IsNull())
		}
		p := c.BarrierInit()
		if _, done, err := p.Test(); !done || err != nil {
			t.Errorf("an inactive request is complete: %t, %v", done, err)
		}
		if err := p.Start(); err != nil {
			t.Error(err)
		}
		is("Start of an active one", p.Start())
		is("Free of an active persistent one", p.Free())
		if _, err := p.Wait(); err != nil {
			t.Error(err)
		}
		if err := p.Free(); err != nil {
			t.Error(err)
		}
	})
}

// X-PCL-01: persistent collectives are started a thousand times, in a different order on every
// rank, on data that changes between starts.
func TestXPCL01_ThousandStarts(t *testing.T) {
	starts := 1000
	if testrun.Race {
		starts = 100
	}
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		n, me := c.Size(), c.Rank()
		give, sum := make([]int, 1), make([]int, 1)
		all, prefix := make([]int, n), make([]int, 1)
		long := make([]float64, 2000)
		rs := []mpi.Request{
			mpi.AllreduceInit(c, give, sum, mpi.Sum),
			mpi.AllgatherInit(c, give, all),
			mpi.ExscanInit(c, give, prefix, mpi.Sum),
			mpi.BcastInit(c, long, 1),
		}
		for i := range starts {
			give[0] = i + me
			if me == 1 {
				long[1999] = float64(i)
			}
			for k := range rs {
				if err := rs[(k+me+i)%len(rs)].Start(); err != nil {
					t.Fatal(err)
				}
			}
			if err := mpi.Waitall(rs, nil); err != nil {
				t.Fatal(err)
			}
			if sum[0] != n*i+n*(n-1)/2 || all[n-1] != i+n-1 || me > 0 && prefix[0] != me*i+me*(me-1)/2 || long[1999] != float64(i) {
				t.Fatalf("start %d on rank %d: %v %v %v %v", i, me, sum, all, prefix, long[1999])
			}
		}
		for i := range rs {
			if err := rs[i].Free(); err != nil {
				t.Error(err)
			}
		}
	})
}
