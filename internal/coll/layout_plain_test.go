package coll_test

import (
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// moving are kinds that move data and combine no operands: all but some among neighbours, which have
// the same way as others.
var moving = []coll.Kind{coll.Bcast, coll.Gather, coll.Gatherv, coll.Scatter, coll.Scatterv, coll.Allgather, coll.Allgatherv, coll.Alltoall, coll.Alltoallv, coll.Alltoallw,
	coll.NeighborAlltoall, coll.NeighborAlltoallw}

// onLayouts changes t, which is from plain, to layouts in place of slices. Elements to send have
// gaps; elements to receive interleave like the columns of a matrix.
func onLayouts(t *task) *task {
	one := predefined().Type(dtype.Byte)
	lay := func(flat []byte, typ *dtype.Type) *laid {
		typ.Commit()
		if len(flat) == 0 {
			return nil
		}
		l := &laid{flat: flat, typ: typ, count: int64(len(flat)) / typ.Size()}
		_, reach := typ.TrueExtent()
		_, step := typ.Extent()
		l.mem = make([]uint8, (l.count-1)*step+reach)
		t.laid = append(t.laid, l)
		return l
	}
	gaps := func() *dtype.Type { return must(dtype.Hindexed([]int64{3, 5}, []int64{6, 0}, one)) }
	column := func(n int) *dtype.Type {
		if n > 1<<16 {
			return gaps() // otherwise every byte would be in a cache line of its own
		}
		return must(dtype.Resized(must(dtype.Vector(8, 1, int64(max(n, 1)), one)), 0, 1))
	}
	if t.paired() {
		for r := range t.in {
			t.out[r] = lay(t.out[r].flat, gaps())
			t.in[r] = lay(t.in[r].flat, column(len(t.in[r].flat)/8))
		}
		return t
	}
	a := &t.given
	if l := lay(a.Send, gaps()); l != nil && t.kind != coll.Bcast {
		t.from, a.Send = l.all(), nil
	}
	if l := lay(a.Recv, column(len(a.Recv)/8)); l != nil {
		t.to, a.Recv = l.all(), nil
	}
	return t
}

// 5.1, 6.1: a collective of long messages on layouts does not pack any message as a whole.
func TestLongLayoutsAreNotPacked(t *testing.T) {
	testrun.PlainOnly(t, "it allocates")
	const size, most = 6 << 20, 3 << 20
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for _, f := range []form{{"auto", auto(), nil}, {"messages", slots(slot.None), nil}} {
			run(t, fabric, 3, f.c, func(w *world.World) error {
				var list []*task
				for _, k := range moving {
					list = append(list, onLayouts(plain(w.Comm, k, size)))
				}
				if err := list[0].block(w); err != nil { // it allocates the memory of the slot
					return err
				}
				for _, task := range list {
					if err := w.Coll.Barrier(w.Comm); err != nil {
						return err
					}
					var before, after runtime.MemStats
					if w.Comm.Rank == 0 {
						runtime.ReadMemStats(&before)
					}
					for _, step := range []func() error{
						func() error { return w.Coll.Barrier(w.Comm) },
						func() error { return task.block(w) },
						func() error { return w.Coll.Barrier(w.Comm) },
					} {
						if err := step(); err != nil {
							return err
						}
					}
					if w.Comm.Rank != 0 {
						continue // rank 0 reads the statistics before it enters the next barrier
					}
					runtime.ReadMemStats(&after)
					if after.TotalAlloc-before.TotalAlloc > most {
						t.Errorf("%v of %d bytes over %s, %s: %d bytes allocated", task.kind, size, fabric, f.name, after.TotalAlloc-before.TotalAlloc)
					}
				}
				return nil
			})
		}
	}
}
