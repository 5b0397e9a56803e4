package mpi_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// lengthCall is a collective in which the caller gives n elements, or n to each member, and expects as
// many of the others.
type lengthCall struct {
	do    func(c *mpi.Comm, n, root int) error
	hears func(me, odd, root int) bool // the caller receives from a member with another length, or is that one and receives
}

func everyone(int, int, int) bool { return true }

// lengthCalls are the collectives of slices, blocking and nonblocking.
func lengthCalls() map[string]lengthCall {
	of := func(n int) []float64 { return make([]float64, n) }
	wait := func(r mpi.Request) error { _, err := r.Wait(); return err }
	fromRoot := func(me, odd, root int) bool { return me != root && (me == odd || odd == root) }
	toRoot := func(me, odd, root int) bool { return me == root }
	counts := func(c *mpi.Comm, n int) []int { return slices.Repeat([]int{n}, c.Size()) }
	ring := func(do func(c *mpi.Comm, n int) error) func(c *mpi.Comm, n, root int) error {
		return func(c *mpi.Comm, n, _ int) error {
			g, err := c.CartCreate([]int{c.Size()}, []bool{true}, false)
			if err != nil {
				return err
			}
			return errors.Join(do(g, n), g.Free())
		}
	}
	return map[string]lengthCall{
		"Bcast":      {func(c *mpi.Comm, n, root int) error { return mpi.Bcast(c, of(n), root) }, fromRoot},
		"Ibcast":     {func(c *mpi.Comm, n, root int) error { return wait(mpi.Ibcast(c, of(n), root)) }, fromRoot},
		"Reduce":     {func(c *mpi.Comm, n, root int) error { return mpi.Reduce(c, of(n), of(n), mpi.Sum, root) }, toRoot},
		"Ireduce":    {func(c *mpi.Comm, n, root int) error { return wait(mpi.Ireduce(c, of(n), of(n), mpi.Sum, root)) }, toRoot},
		"Allreduce":  {func(c *mpi.Comm, n, _ int) error { return mpi.Allreduce(c, of(n), of(n), mpi.Sum) }, everyone},
		"Iallreduce": {func(c *mpi.Comm, n, _ int) error { return wait(mpi.Iallreduce(c, of(n), of(n), mpi.Sum)) }, everyone},
		"Allreduce of a Buffer": {func(c *mpi.Comm, n, _ int) error {
			return c.Allreduce(mpi.Buf(of(n)), mpi.Buf(of(n)), mpi.Sum)
		}, everyone},
		"Gather":  {func(c *mpi.Comm, n, root int) error { return mpi.Gather(c, of(n), of(n*c.Size()), root) }, toRoot},
		"Scatter": {func(c *mpi.Comm, n, root int) error { return mpi.Scatter(c, of(n*c.Size()), of(n), root) }, fromRoot},
		"Gatherv": {func(c *mpi.Comm, n, root int) error {
			return mpi.Gatherv(c, of(n), of(n*c.Size()), counts(c, n), nil, root)
		}, toRoot},
		"Scatterv": {func(c *mpi.Comm, n, root int) error {
			return mpi.Scatterv(c, of(n*c.Size()), counts(c, n), nil, of(n), root)
		}, fromRoot},
		"Allgather":  {func(c *mpi.Comm, n, _ int) error { return mpi.Allgather(c, of(n), of(n*c.Size())) }, everyone},
		"Iallgather": {func(c *mpi.Comm, n, _ int) error { return wait(mpi.Iallgather(c, of(n), of(n*c.Size()))) }, everyone},
		"Allgather of a Buffer": {func(c *mpi.Comm, n, _ int) error {
			return c.Allgather(mpi.Buf(of(n)), mpi.Buf(of(n*c.Size())))
		}, everyone},
		"Allgatherv": {func(c *mpi.Comm, n, _ int) error {
			return mpi.Allgatherv(c, of(n), of(n*c.Size()), counts(c, n), nil)
		}, everyone},
		"Alltoall":  {func(c *mpi.Comm, n, _ int) error { return mpi.Alltoall(c, of(n*c.Size()), of(n*c.Size())) }, everyone},
		"Ialltoall": {func(c *mpi.Comm, n, _ int) error { return wait(mpi.Ialltoall(c, of(n*c.Size()), of(n*c.Size()))) }, everyone},
		"Alltoallv": {func(c *mpi.Comm, n, _ int) error {
			return mpi.Alltoallv(c, of(n*c.Size()), counts(c, n), nil, of(n*c.Size()), counts(c, n), nil)
		}, everyone},
		"Scan":               {func(c *mpi.Comm, n, _ int) error { return mpi.Scan(c, of(n), of(n), mpi.Sum) }, func(me, odd, _ int) bool { return me == odd && me > 0 || me == odd+1 }},
		"Exscan":             {func(c *mpi.Comm, n, _ int) error { return mpi.Exscan(c, of(n), of(n), mpi.Sum) }, func(me, odd, _ int) bool { return me == odd && me > 0 || me == odd+1 }},
		"ReduceScatterBlock": {func(c *mpi.Comm, n, _ int) error { return mpi.ReduceScatterBlock(c, of(n*c.Size()), of(n), mpi.Sum) }, everyone},
		"ReduceScatter": {func(c *mpi.Comm, n, _ int) error {
			return mpi.ReduceScatter(c, of(n*c.Size()), of(n), counts(c, n), mpi.Sum)
		}, everyone},
		"NeighborAllgather": {ring(func(c *mpi.Comm, n int) error { return mpi.NeighborAllgather(c, of(n), of(2*n)) }), nil},
		"NeighborAlltoall":  {ring(func(c *mpi.Comm, n int) error { return mpi.NeighborAlltoall(c, of(2*n), of(2*n)) }), nil},
	}
}

// BRD-08, COL-02: if a member of a collective has another length than the others, all that receive what has another
// length than they expect get an error that names both lengths. Nobody hangs, and the communicator remains usable.
func TestBRD08_CollectivesOfOtherLengths(t *testing.T) {
	unchecked(t)
	calls := lengthCalls()
	for _, form := range []string{"auto", "cells", "counter"} {
		t.Setenv("HALO_COLL_SLOT", form)
		for _, ranks := range []int{2, 3, 4} {
			mpitest.Run(t, ranks, func(t testing.TB, c *mpi.Comm) {
				me := c.Rank()
				for _, name := range slices.Sorted(maps.Keys(calls)) {
					x := calls[name]
					for _, n := range [][2]int{{4, 3}, {3, 4}, {1, 2}, {3, 1}, {40, 50}, {50, 40}} {
						for odd := range ranks {
							mine, root := n[0], 0
							if me == odd {
								mine = n[1]
							}
							err := x.do(c, mine, root)
							what := fmt.Sprintf("%s of %d elements, %d at rank %d: rank %d", name, n[0], n[1], odd, me)
							hears := x.hears
							if hears == nil { // in a ring
								hears = func(me, odd, _ int) bool { return (me-odd+ranks)%ranks <= 1 || (odd-me+ranks)%ranks <= 1 }
							}
							switch {
							case err == nil && hears(me, odd, root):
								t.Errorf("%s: no error", what)
							case err != nil && !errors.Is(err, mpi.ErrCount) && !errors.Is(err, mpi.ErrTruncate):
								t.Errorf("%s: %v", what, err)
							case err != nil && ranks == 2 && (!strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "rank 1")):
								t.Errorf("%s: %v does not name both ranks", what, err)
							}
							sum, err := mpi.AllreduceOne(c, 1, mpi.Sum)
							if err != nil || sum != c.Size() {
								t.Fatalf("%s: then %d, %v", what, sum, err)
							}
						}
					}
				}
			})
		}
	}
}
