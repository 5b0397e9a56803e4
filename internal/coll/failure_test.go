package coll_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

var errLeaves = errors.New("leaves")

// plain returns a task of a kind in which every member gives, or gets, size bytes. It always
// uses the same memory, and the contents do not matter.
func plain(c *comm.Comm, k coll.Kind, size int) *task {
	n := c.Size()
	size = size / 8 / n * 8 * n
	if size == 0 {
		size = 8 * n
	}
	counts := make([]int, n)
	for r := range counts {
		counts[r] = size / 8 / n
	}
	t := &task{c: c, kind: k}
	t.args = args{coll.Args{Width: 8, Op: op.Sum, Type: op.Int64}, make([]byte, size), make([]byte, size)}
	switch k {
	case coll.Gather, coll.Allgather, coll.NeighborAllgather:
		t.args.Send = t.args.Send[:size/n]
	case coll.Scatter:
		t.args.Recv = t.args.Recv[:size/n]
	case coll.Gatherv, coll.Allgatherv, coll.NeighborAllgatherv:
		t.args.Send, t.args.RecvCounts = t.args.Send[:size/n], counts
	case coll.Scatterv:
		t.args.Recv, t.args.SendCounts = t.args.Recv[:size/n], counts
	case coll.Alltoallv, coll.NeighborAlltoallv:
		t.args.SendCounts, t.args.RecvCounts = counts, counts
	case coll.ReduceScatter:
		t.args.SendCounts = counts
	case coll.Alltoallw, coll.NeighborAlltoallw:
		typ, block := must(dtype.Contiguous(int64(size/n), predefined().Type(dtype.Byte))), make([]byte, size/n)
		typ.Commit()
		for range n {
			l := &laid{flat: block, typ: typ, count: 1, mem: make([]byte, size/n)}
			t.in, t.out = append(t.in, l), append(t.out, l)
			if k == coll.NeighborAlltoallw {
				t.out[len(t.out)-1] = &laid{flat: block, typ: typ, count: 1, mem: make([]byte, size/n)}
			}
		}
	}
	t.around = everybody(n)
	t.given = t.args
	return t
}

// F1: a member dies before or in the middle of a collective. The collective ends at all others,
// with class.ProcFailed or with the result, also at members that exchange no data with the dead
// one. After that every collective fails at once.
func TestDeathEndsCollectives(t *testing.T) {
	for i, f := range forms() {
		for k, kind := range f.kinds {
			for j, size := range []int{8, long} {
				if testrun.Race && (i+j+k)%2 != 0 {
					continue // one size of each with the detector, both in a plain run, as in make soak
				}
				deathEnds(t, "inproc", f, kind, size, false)
			}
			deathEnds(t, "shm", f, kind, long, false)
		}
	}
}

// F1: collectives end at the death of a member also if some members, the dead one among them,
// have layouts.
func TestDeathEndsCollectivesOnLayouts(t *testing.T) {
	for i, f := range forms()[:4] {
		for k, kind := range moving {
			for j, fabric := range []string{"inproc", "tcp", "shm"} {
				if testrun.Race && (i+j+k)%2 != 0 {
					continue
				}
				deathEnds(t, fabric, f, kind, long, true)
			}
		}
	}
}

// long is the size in bytes of a collective that takes several pieces.
const long = 300 << 10

// deathEnds runs collectives of several members, one of which leaves after the first.
func deathEnds(t *testing.T, fabric string, f form, kind coll.Kind, size int, layouts bool) {
	if len(testrun.Fabrics(fabric)) == 0 {
		return
	}
	t.Run(fmt.Sprintf("%s/%v/%d/%s", f.name, kind, size, fabric), func(t *testing.T) {
		const n, dead = 6, 3
		var mu sync.Mutex
		failed := 0
		err := world.RunGoroutines(fabric, n, func(w *world.World) error {
			w.Coll.Choose(f.c)
			call := func(w *world.World) error {
				task := plain(w.Comm, kind, size)
				if layouts && w.Comm.Rank%2 == dead%2 {
					onLayouts(task)
				}
				return task.block(w)
			}
			err := call(w)
			if w.Comm.Rank == dead {
				return errors.Join(errLeaves, err)
			}
			for err == nil { // a root or a leaf may complete without the dead member
				err = call(w)
			}
			var ce *class.Error
			if !errors.As(err, &ce) || ce.Class != class.ProcFailed {
				return fmt.Errorf("rank %d: %w", w.Comm.Rank, err)
			}
			mu.Lock()
			failed++
			mu.Unlock()
			return nil
		})
		if !errors.Is(err, errLeaves) {
			t.Fatal(err)
		}
		if failed != n-1 {
			t.Errorf("%d ranks came to an end with an error, want %d", failed, n-1)
		}
	})
}

// 6.1: a wrong argument is an error of the standard's class, and the communicator remains
// usable.
func TestWrongArguments(t *testing.T) {
	run(t, "inproc", 2, auto(), func(w *world.World) error {
		c, e := w.Comm, w.Coll
		b := make([]byte, 16)
		reduce := func(k coll.Kind, b []byte, o op.Op, t op.Type) error {
			return e.Do(c, k, &coll.Args{Send: coll.Bytes(b), Recv: coll.Bytes(b), Op: o, Type: t})
		}
		for _, x := range []struct {
			name string
			err  error
			want class.Class
		}{
			{"root -1", e.Bcast(c, b, dtype.Mixed, -1), class.Root},
			{"root 2", e.Bcast(c, b, dtype.Mixed, 2), class.Root},
			{"root of reduce", e.Reduce(c, b, b, op.Sum, op.Int8, dtype.Mixed, 2), class.Root},
			{"root of gather", e.Do(c, coll.Gather, &coll.Args{Send: coll.Bytes(b), Recv: coll.Bytes(b), Width: 1, Root: 7}), class.Root},
			{"operation", reduce(coll.Allreduce, b, op.Band, op.Float64), class.Op},
			{"operation of reduce", reduce(coll.Reduce, b, op.Min, op.Complex64), class.Op},
			{"lengths", e.Allreduce(c, b, b[:8], op.Sum, op.Float64, dtype.Mixed), class.Count},
			{"part of an element", reduce(coll.Allreduce, b[:7], op.Sum, op.Float64), class.Count},
			{"gather", e.Do(w.Self, coll.Gather, &coll.Args{Send: coll.Bytes(b), Recv: coll.Bytes(b[:8]), Width: 1}), class.Count},
		} {
			var ce *class.Error
			if !errors.As(x.err, &ce) || ce.Class != x.want {
				return fmt.Errorf("%s: %v, want class %d", x.name, x.err, x.want)
			}
		}
		return everything(w, c, 1, 10)
	})
}

// 6.1: members that disagree on the length get an error, and do not hang.
func TestLengthsThatDisagree(t *testing.T) {
	run(t, "inproc", 4, slots(slot.None), func(w *world.World) error {
		size := 4000
		if w.Comm.Rank == 2 {
			size = 100
		}
		err := w.Coll.Bcast(w.Comm, make([]byte, size), dtype.Mixed, 0)
		var ce *class.Error
		switch {
		case w.Comm.Rank == 2 && (!errors.As(err, &ce) || ce.Class != class.Truncate):
			return fmt.Errorf("4000 bytes into 100: %v", err)
		case w.Comm.Rank == 3 && (!errors.As(err, &ce) || ce.Class != class.Count): // receives from rank 2
			return fmt.Errorf("100 bytes where 4000 are received: %v", err)
		case w.Comm.Rank < 2 && err != nil:
			return err
		}
		return everything(w, w.Comm, 1, 10)
	})
}

// 6.1: a member whose result depends on data of a member that disagrees gets an error, too,
// however many members pass the data on.
func TestWhoDependsOnWhoDisagreesLearnsIt(t *testing.T) {
	const n, odd = 8, 4
	all := func(int) bool { return true }
	calls := []struct {
		name   string
		learns func(rank int) bool
		call   func(w *world.World, b []byte) error
	}{
		{"bcast", func(r int) bool { return r >= odd }, func(w *world.World, b []byte) error {
			return w.Coll.Bcast(w.Comm, b, dtype.Mixed, 0)
		}},
		{"reduce", func(r int) bool { return r == 0 }, func(w *world.World, b []byte) error {
			return w.Coll.Reduce(w.Comm, b, make([]byte, len(b)), op.Sum, op.Int8, dtype.Mixed, 0)
		}},
		{"allreduce", all, func(w *world.World, b []byte) error {
			return w.Coll.Allreduce(w.Comm, b, make([]byte, len(b)), op.Sum, op.Int8, dtype.Mixed)
		}},
		{"allgather", all, func(w *world.World, b []byte) error {
			return w.Coll.Do(w.Comm, coll.Allgather, &coll.Args{Send: coll.Bytes(b), Recv: coll.Bytes(make([]byte, n*len(b))), Width: 1})
		}},
	}
	for _, x := range calls {
		run(t, "inproc", n, slots(slot.None), func(w *world.World) error {
			size := 2000
			if w.Comm.Rank == odd {
				size = 100
			}
			err := x.call(w, make([]byte, size))
			var ce *class.Error
			if x.learns(w.Comm.Rank) && (!errors.As(err, &ce) || ce.Class != class.Count && ce.Class != class.Truncate) {
				return fmt.Errorf("%s: rank %d has not learned that rank %d disagrees: %v", x.name, w.Comm.Rank, odd, err)
			}
			return everything(w, w.Comm, 1, 10)
		})
	}
}
