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

// refusedCall is a collective that one member calls with wrong arguments.
type refusedCall struct {
	name  string
	call  func(c *mpi.Comm, wrong bool) error
	class mpi.Class
	// told reports whether a rank depends on the wrong one. Others may succeed.
	told func(r, wrong int) bool
	by   []int // the ranks that refuse, one at a time; nil for any
}

// refusals lists, by the forms of calls and the classes of errors, collectives of n members that one
// of them refuses. Where there is a root it is rank 1.
func refusals(n int) []refusedCall {
	ints := func(n int) []int32 { return make([]int32, n) }
	pick := func(wrong bool, yes, no int) int {
		if wrong {
			return yes
		}
		return no
	}
	all := func(int, int) bool { return true }
	root := func(r, wrong int) bool { return r == 1 }
	fromRoot := func(r, wrong int) bool { return wrong == 1 }
	above := func(r, wrong int) bool { return r > wrong }
	ended := func(q mpi.Request) error { _, err := q.Wait(); return err }
	again := func(q mpi.Request) error {
		for range 3 {
			if err := q.Start(); err != nil {
				return err
			}
			if _, err := q.Wait(); err == nil {
				return errors.New("the start of a refused collective has succeeded")
			}
		}
		if err := q.Start(); err != nil {
			return err
		}
		_, err := q.Wait()
		return errors.Join(err, q.Free())
	}
	counts := func(each int) []int {
		list := make([]int, n)
		for r := range list {
			list[r] = each
		}
		return list
	}
	sum := mpi.CreateOp(func(in, inout []int32) {}, true)
	list := []refusedCall{
		{"Bcast of another root", func(c *mpi.Comm, w bool) error {
			return mpi.Bcast(c, ints(3), pick(w, n, 1))
		}, mpi.ErrRoot, func(int, int) bool { return false }, []int{2, 3}},
		{"Comm.Bcast of no type", func(c *mpi.Comm, w bool) error {
			if w {
				return c.Bcast(mpi.BufOf(ints(3), -1, mpi.Byte()), 1)
			}
			return c.Bcast(mpi.Buf(ints(3)), 1)
		}, mpi.ErrCount, fromRoot, nil},
		{"Allreduce into a short slice", func(c *mpi.Comm, w bool) error {
			return mpi.Allreduce(c, ints(3), ints(pick(w, 2, 3)), mpi.Sum)
		}, mpi.ErrCount, all, nil},
		{"Allreduce of long slices", func(c *mpi.Comm, w bool) error {
			return mpi.Allreduce(c, ints(100000), ints(pick(w, 99999, 100000)), mpi.Sum)
		}, mpi.ErrCount, all, nil},
		{"Allreduce by an operation that is not defined", func(c *mpi.Comm, w bool) error {
			if w {
				return mpi.Allreduce(c, make([]float32, 3), make([]float32, 3), mpi.Band)
			}
			return mpi.Allreduce(c, ints(3), ints(3), mpi.Sum)
		}, mpi.ErrOp, all, nil},
		{"Allreduce by an operation of the program", func(c *mpi.Comm, w bool) error {
			return mpi.Allreduce(c, ints(3), ints(pick(w, 2, 3)), sum)
		}, mpi.ErrCount, all, nil},
		{"Allreduce in part of its own memory", func(c *mpi.Comm, w bool) error {
			b := ints(8)
			if w {
				return mpi.Allreduce(c, b[:4], b[1:5], mpi.Sum)
			}
			return mpi.Allreduce(c, b[:4], b[4:], mpi.Sum)
		}, mpi.ErrBuffer, all, nil},
		{"Reduce by an operation that is not defined", func(c *mpi.Comm, w bool) error {
			if w {
				return mpi.Reduce(c, make([]float64, 1), make([]float64, 1), mpi.Bxor, 1)
			}
			return mpi.Reduce(c, make([]float64, 1), make([]float64, 1), mpi.Sum, 1)
		}, mpi.ErrOp, root, nil},
		{"Allgather into a short slice", func(c *mpi.Comm, w bool) error {
			return mpi.Allgather(c, ints(3), ints(3*n-pick(w, 1, 0)))
		}, mpi.ErrCount, all, nil},
		{"Iallgather", func(c *mpi.Comm, w bool) error {
			return ended(mpi.Iallgather(c, ints(3), ints(3*n-pick(w, 1, 0))))
		}, mpi.ErrCount, all, nil},
		{"Allgatherv", func(c *mpi.Comm, w bool) error {
			return mpi.Allgatherv(c, ints(2), ints(2*n), counts(pick(w, 3, 2)), nil)
		}, mpi.ErrCount, all, nil},
		{"Alltoall of unequal blocks", func(c *mpi.Comm, w bool) error {
			return mpi.Alltoall(c, ints(n+pick(w, 1, 0)), ints(2*n))
		}, mpi.ErrCount, all, nil},
		{"Alltoallv", func(c *mpi.Comm, w bool) error {
			return mpi.Alltoallv(c, ints(n), counts(pick(w, -1, 1)), nil, ints(n), counts(1), nil)
		}, mpi.ErrCount, all, nil},
		{"Alltoallw", func(c *mpi.Comm, w bool) error {
			bufs := make([]mpi.Buffer, n)
			for r := range bufs {
				bufs[r] = mpi.Buf(ints(1))
			}
			return c.Alltoallw(bufs[pick(w, 1, 0):], bufs)
		}, mpi.ErrCount, all, nil},
		{"Gather", func(c *mpi.Comm, w bool) error {
			b := ints(3 * n)
			if w && c.Rank() != 1 {
				return mpi.Gather(c, b[:3], b, -1)
			}
			return mpi.Gather(c, b[:3], ints(3*n-pick(w, 1, 0)), 1)
		}, 0, root, nil},
		{"Igatherv", func(c *mpi.Comm, w bool) error {
			return ended(mpi.Igatherv(c, ints(1), ints(n), counts(1), nil, pick(w, n, 1)))
		}, mpi.ErrRoot, root, nil},
		{"Scatter", func(c *mpi.Comm, w bool) error {
			if w && c.Rank() == 1 {
				return mpi.Scatter(c, ints(3*n), ints(4), 1)
			}
			return mpi.Scatter(c, ints(3*n), ints(3), pick(w, n, 1))
		}, 0, fromRoot, nil},
		{"Scan", func(c *mpi.Comm, w bool) error {
			return mpi.Scan(c, ints(3), ints(pick(w, 2, 3)), mpi.Sum)
		}, mpi.ErrCount, above, nil},
		{"ReduceScatterBlock", func(c *mpi.Comm, w bool) error {
			return mpi.ReduceScatterBlock(c, ints(n+pick(w, 1, 0)), ints(2), mpi.Sum)
		}, mpi.ErrCount, all, nil},
		{"Iallreduce", func(c *mpi.Comm, w bool) error {
			return ended(mpi.Iallreduce(c, ints(100), ints(pick(w, 99, 100)), mpi.Sum))
		}, mpi.ErrCount, all, nil},
		{"Ibcast of a long slice", func(c *mpi.Comm, w bool) error {
			if w {
				return ended(mpi.Ibcast(c, ints(200000), -7))
			}
			return ended(mpi.Ibcast(c, ints(200000), 1))
		}, mpi.ErrRoot, fromRoot, nil},
		{"AllgatherInit", func(c *mpi.Comm, w bool) error {
			q := mpi.AllgatherInit(c, ints(3), ints(3*n-pick(w, 1, 0)))
			if w {
				return ended(q)
			}
			return again(q)
		}, mpi.ErrCount, all, nil},
	}
	return list
}

// ERR-04: a member whose own arguments of a collective are wrong gets the error at once, and those
// that depend on it get an error with its class and rank. Afterwards the communicator works,
// whatever the algorithm, also by further collectives that others refuse.
func TestERR04_MembersLearnOfWrongArguments(t *testing.T) {
	unchecked(t)
	defer testrun.Watch(t.Name() + ": a member waits for ever")()
	const n = 4
	run := func(fabric string) {
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, n, func(t testing.TB, c *mpi.Comm) {
				for i, x := range refusals(n) {
					by := x.by
					if by == nil {
						by = []int{i % n, (i + 1) % n}
					}
					for _, wrong := range by {
						refuse(t, c, x, wrong)
					}
				}
			})
		})
	}
	for _, fabric := range append(mpitest.Fabrics(), testrun.Fabrics("inproc@0011", "shm@0011", "shm@0101", "tcp@0111")...) {
		run(fabric)
	}
	for _, env := range []string{"cells", "counter", "none"} {
		t.Setenv("HALO_COLL_SLOT", env)
		run(mpitest.Fabrics()[0])
	}
	t.Setenv("HALO_COLL_SLOT", "")
	t.Setenv("HALO_COLL_BCAST", "chain")
	t.Setenv("HALO_COLL_ALLREDUCE", "ring")
	t.Setenv("HALO_COLL_ALLGATHER", "bruck")
	t.Setenv("HALO_COLL_ALLTOALL", "bruck")
	run(mpitest.Fabrics()[0])
}

// ERR-04 and X-NBC-01: likewise the neighbours of a member, also in the first collective on the
// communicator. Others may succeed, or learn it.
func TestERR04_XNBC01_NeighborsLearnOfWrongArguments(t *testing.T) {
	unchecked(t)
	defer testrun.Watch(t.Name() + ": a member waits for ever")()
	const n = 4
	ints := func(n int) []int32 { return make([]int32, n) }
	more := func(wrong bool) int {
		if wrong {
			return 1
		}
		return 0
	}
	beside := func(r, wrong int) bool { return r == (wrong+1)%n || wrong == (r+1)%n }
	ended := func(q mpi.Request) error { _, err := q.Wait(); return err }
	list := []refusedCall{
		{"NeighborAlltoall of unequal blocks", func(c *mpi.Comm, w bool) error {
			return mpi.NeighborAlltoall(c, ints(2+more(w)), ints(2))
		}, mpi.ErrCount, beside, nil},
		{"NeighborAllgather of unequal blocks", func(c *mpi.Comm, w bool) error {
			return mpi.NeighborAllgather(c, ints(30000), ints(60000+more(w)))
		}, mpi.ErrCount, beside, nil},
		{"NeighborAlltoallv", func(c *mpi.Comm, w bool) error {
			counts := []int{1, 1 - 2*more(w)}
			return mpi.NeighborAlltoallv(c, ints(2), counts, nil, ints(2), []int{1, 1}, nil)
		}, mpi.ErrCount, beside, nil},
		{"NeighborAlltoallw", func(c *mpi.Comm, w bool) error {
			bufs := []mpi.Buffer{mpi.Buf(ints(1)), mpi.Buf(ints(2))}
			return c.NeighborAlltoallw(bufs[more(w):], []mpi.Buffer{mpi.Buf(ints(2)), mpi.Buf(ints(1))})
		}, mpi.ErrCount, beside, nil},
		{"IneighborAlltoall", func(c *mpi.Comm, w bool) error {
			return ended(mpi.IneighborAlltoall(c, ints(2+more(w)), ints(2)))
		}, mpi.ErrCount, beside, nil},
		{"IneighborAlltoallw", func(c *mpi.Comm, w bool) error {
			bufs := []mpi.Buffer{mpi.Buf(ints(1)), mpi.Buf(ints(2))}
			return ended(c.IneighborAlltoallw(bufs[more(w):], []mpi.Buffer{mpi.Buf(ints(2)), mpi.Buf(ints(1))}))
		}, mpi.ErrCount, beside, nil},
	}
	mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
		before, after := (c.Rank()+n-1)%n, (c.Rank()+1)%n
		for wrong := range n {
			grid, err := c.CartCreate([]int{n}, []bool{true}, false)
			ok(t, err)
			graph, err := c.DistGraphCreateAdjacent([]int{before, after}, nil, []int{after, before}, nil, false)
			ok(t, err)
			ok(t, grid.SetName("grid"))
			ok(t, graph.SetName("graph"))
			for i := range list {
				refuse(t, grid, list[(i+wrong)%len(list)], wrong)
				if !strings.Contains(list[(i+wrong)%len(list)].name, "lltoallw") { // its blocks are those of the grid
					refuse(t, graph, list[(i+wrong)%len(list)], wrong)
				}
			}
			ok(t, grid.Free())
			ok(t, graph.Free())
		}
	})
}

// refuse carries out x, which one member refuses, and then collectives that are right.
func refuse(t testing.TB, c *mpi.Comm, x refusedCall, wrong int) {
	me, n := c.Rank(), c.Size()
	err := x.call(c, me == wrong)
	text := fmt.Sprintf("rank %d takes no part", wrong)
	switch told := err != nil && (x.class == 0 || errors.Is(err, x.class)) && strings.Contains(err.Error(), text) && strings.Contains(err.Error(), " on "+c.Name()+": "); {
	case me == wrong:
		if err == nil || x.class != 0 && !errors.Is(err, x.class) || strings.Contains(err.Error(), "takes no part") {
			t.Errorf("%s: rank %d itself gets %v, want %v", x.name, me, err, x.class)
		}
	case err == nil && x.told(me, wrong) || err != nil && !told:
		t.Errorf("%s with wrong arguments of rank %d: rank %d gets %v, want %v with %q", x.name, wrong, me, err, x.class, text)
	}
	if err := c.Barrier(); err != nil {
		t.Errorf("%s: rank %d: a Barrier afterwards: %v", x.name, me, err)
	}
	for _, root := range []int{wrong, (wrong + 1) % n} {
		b := []int32{int32(100*root + 7*me)}
		if err := mpi.Bcast(c, b, root); err != nil || b[0] != int32(107*root) {
			t.Errorf("%s: rank %d: a Bcast from %d afterwards: %d, %v", x.name, me, root, b[0], err)
		}
		s := []int32{0}
		if err := mpi.Reduce(c, []int32{int32(me)}, s, mpi.Sum, root); err != nil || me == root && s[0] != int32(n*(n-1)/2) {
			t.Errorf("%s: rank %d: a Reduce to %d afterwards: %d, %v", x.name, me, root, s[0], err)
		}
	}
	if sum, err := mpi.AllreduceOne(c, me, mpi.Sum); err != nil || sum != n*(n-1)/2 {
		t.Errorf("%s: rank %d: an Allreduce afterwards: %d, %v", x.name, me, sum, err)
	}
	all := make([]int32, n)
	q := mpi.Iallgather(c, []int32{int32(me)}, all)
	if _, err := q.Wait(); err != nil || all[n-1] != int32(n-1) {
		t.Errorf("%s: rank %d: an Iallgather afterwards: %v, %v", x.name, me, all, err)
	}
	if t.Failed() {
		t.FailNow()
	}
}
