package coll_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// run runs fn as n ranks over a fabric, with the choice c for collectives, if this run of the
// tests covers that fabric.
func run(t *testing.T, fabric string, n int, c choice.Choice, fn func(w *world.World) error) {
	t.Helper()
	if len(testrun.Fabrics(fabric)) == 0 {
		return
	}
	err := world.RunGoroutines(fabric, n, func(w *world.World) error {
		w.Coll.Choose(c)
		return fn(w)
	})
	if err != nil {
		t.Fatalf("%d ranks over %s: %v", n, fabric, err)
	}
}

// auto returns the default choice; slots returns one with a slot of the given form, or with
// messages only.
func auto() choice.Choice { return choice.Defaults() }

func slots(f slot.Form) choice.Choice {
	c := choice.Defaults()
	c.Slot = f
	return c
}

// form is one way to carry out collectives.
type form struct {
	name  string
	c     choice.Choice
	kinds []coll.Kind // the kinds that it affects
}

// forms returns all ways: the default choice, each form of the slot, messages only, and each
// algorithm.
func forms() []form {
	var all []coll.Kind
	for k := range coll.Kinds {
		all = append(all, coll.Kind(k))
	}
	list := []form{
		{"auto", auto(), all},
		{"cells", slots(slot.Cells), all},
		{"counter", slots(slot.Counter), all},
		{"messages", slots(slot.None), all},
	}
	for _, k := range all {
		for _, a := range choice.Algorithms(k) {
			c := choice.Defaults()
			c.Force(a)
			list = append(list, form{a.String(), c, []coll.Kind{k}})
		}
	}
	return list
}

// contribution returns what rank r gives in step k: pseudo-random elements whose reduction does
// not depend on the order.
func contribution(typ op.Type, count, r int, k uint64) []byte {
	g := rand.New(rand.NewPCG(uint64(r), k))
	b := make([]byte, count*typ.Size())
	fill(b, g)
	smallNumbers(typ, b, g)
	return b
}

// everything carries out the given number of random collectives of the given kinds on c, or of
// all kinds, in all forms. The seed is the same at all members.
func everything(w *world.World, c *comm.Comm, seed uint64, steps int, kinds ...coll.Kind) error {
	g := rand.New(rand.NewPCG(seed, 1))
	most := 9000
	if testrun.Race {
		most = 3000
	}
	for step := range steps {
		k := coll.Kind(g.IntN(coll.Kinds))
		if len(kinds) > 0 {
			k = kinds[g.IntN(len(kinds))]
		}
		form := g.IntN(3)
		if err := newTask(c, k, g, most).do(w, seed*1000+uint64(step)*10, form); err != nil {
			return fmt.Errorf("seed %d step %d: %w", seed, step, err)
		}
	}
	return nil
}

// K: every collective by every algorithm, blocking, nonblocking and persistent, gives the same
// as a serial computation, on 1 to 9 ranks: with any root and counts, also 0, in place or not.
// COL-12: also the two reductions that are scattered.
func TestCollectivesEqualSerial(t *testing.T) {
	one, all, alone := 4, 20, 1
	if testrun.Race {
		one, all, alone = 1, 5, 1
	}
	fabric := "inproc"
	if covered := testrun.Fabrics("shm", "inproc"); len(covered) > 0 {
		fabric = covered[0]
	}
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			for n := 1; n <= 9; n++ {
				run(t, fabric, n, f.c, func(w *world.World) error {
					steps := one
					if len(f.kinds) > 1 {
						steps = all
					}
					if err := everything(w, w.Comm, uint64(n), steps, f.kinds...); err != nil {
						return err
					}
					return everything(w, w.Self, uint64(n), alone)
				})
			}
		})
	}
}

// K: collectives over sockets give the same as a serial computation.
func TestCollectivesOverSockets(t *testing.T) {
	for _, f := range forms() {
		for _, n := range []int{2, 5} {
			run(t, "tcp", n, f.c, func(w *world.World) error {
				return everything(w, w.Comm, uint64(n), 2*len(f.kinds)+4, f.kinds...)
			})
		}
	}
}
