package coll_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// equalTask returns a random task in which every member gives about size bytes to each other
// one.
func equalTask(c *comm.Comm, k coll.Kind, g *rand.Rand, size int) *task {
	t := &task{c: c, kind: k, typ: someType(g), inPlace: g.IntN(2) == 0}
	for op.Check(t.o, t.typ) != nil {
		t.o = op.Op(1 + g.IntN(op.Ops))
	}
	count := max(1, size/t.typ.Size()+g.IntN(5)-2)
	for range c.Size() {
		row := make([]int, c.Size())
		for d := range row {
			row[d] = count
		}
		t.counts = append(t.counts, row)
	}
	t.layOut(g)
	t.given = t.args
	if k == coll.Allgather || k == coll.Alltoall {
		t.layOutTypes(rand.New(rand.NewPCG(g.Uint64(), uint64(c.Rank))))
	}
	return t
}

// K: collectives that take several steps in a slot give the same as a serial computation, at
// lengths close to those at which the number of steps changes: elements of all widths, in place
// or not.
func TestStepsEqualSerial(t *testing.T) {
	const stage = shmfmt.StageSize
	ranks, fabrics := []int{2, 3, 7}, both
	if testrun.Race {
		ranks, fabrics = []int{3}, both[:1]
	}
	for _, fabric := range fabrics {
		for _, f := range []slot.Form{slot.Cells, slot.Counter} {
			for _, n := range ranks {
				run(t, fabric, n, slots(f), func(w *world.World) error {
					g := rand.New(rand.NewPCG(uint64(n), 21))
					for _, x := range []struct {
						kind  coll.Kind
						sizes []int
					}{
						{coll.Allreduce, []int{600, stage * n / (n + 1), stage, 2 * stage * n / (n + 1), 3*stage + 1000}},
						{coll.Allgather, []int{600, stage, 2 * stage, 2*stage + 1000}},
						{coll.Alltoall, []int{600, stage / n, stage / (n - 1), 2 * stage / (n - 1), 3*stage/(n-1) + 1000}},
					} {
						for _, size := range x.sizes {
							if err := equalTask(w.Comm, x.kind, g, size).do(w, 1, 0); err != nil {
								return fmt.Errorf("about %d bytes: %w", size, err)
							}
						}
					}
					return nil
				})
			}
		}
	}
}

// The contribution of a member to a step does not overwrite memory that a root of Reduce still
// reads: the other members do not wait for this root.
func TestStepsAfterReduce(t *testing.T) {
	for _, fabric := range both {
		for _, f := range []slot.Form{slot.Cells, slot.Counter} {
			run(t, fabric, 3, slots(f), func(w *world.World) error {
				g := rand.New(rand.NewPCG(3, 22))
				for k := range uint64(200) {
					for range 1 + g.IntN(3) {
						if err := equalTask(w.Comm, coll.Reduce, g, 400).do(w, k, 0); err != nil {
							return err
						}
					}
					kind := []coll.Kind{coll.Allreduce, coll.Allgather, coll.Alltoall}[g.IntN(3)]
					if err := equalTask(w.Comm, kind, g, 600).do(w, k, 0); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}
