package coll_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/world"
)

// run runs fn as n ranks over a fabric, with what is forced.
func run(t *testing.T, fabric string, n int, f coll.Forced, fn func(w *world.World) error) {
	t.Helper()
	err := world.RunGoroutines(fabric, n, func(w *world.World) error {
		w.Coll.Force(f)
		return fn(w)
	})
	if err != nil {
		t.Fatalf("%d ranks over %s: %v", n, fabric, err)
	}
}

// form is one way to carry out collectives.
type form struct {
	name string
	f    coll.Forced
}

// forms are all ways: the table's choice, the slots in either form, and every
// algorithm.
func forms() []form {
	list := []form{
		{"auto", coll.Forced{}},
		{"cells", coll.Forced{Slot: coll.SlotCells}},
		{"counter", coll.Forced{Slot: coll.SlotCounter}},
		{"messages", coll.Forced{Slot: coll.SlotNone}},
	}
	for _, a := range []struct {
		k coll.Kind
		a coll.Algorithm
	}{
		{coll.Barrier, coll.BarrierDissemination},
		{coll.Bcast, coll.BcastBinomial}, {coll.Bcast, coll.BcastChain},
		{coll.Reduce, coll.ReduceBinomial}, {coll.Reduce, coll.ReduceScatter},
		{coll.Allreduce, coll.AllreduceDoubling}, {coll.Allreduce, coll.AllreduceRing},
		{coll.Gather, coll.GatherBinomial}, {coll.Gather, coll.GatherLinear},
	} {
		f := coll.Forced{Slot: coll.SlotNone}
		f.Algorithm[a.k] = a.a
		list = append(list, form{a.a.String(), f})
	}
	return list
}

// contribution is what rank r gives in step k: pseudo-random elements whose
// reduction does not depend on the order.
func contribution(typ op.Type, count, r int, k uint64) []byte {
	g := rand.New(rand.NewPCG(uint64(r), k))
	b := make([]byte, count*typ.Size())
	fill(b, g)
	smallNumbers(typ, b, g)
	return b
}

// oracle reduces what all n ranks give.
func oracle(o op.Op, typ op.Type, count, n int, k uint64) []byte {
	sum := contribution(typ, count, 0, k)
	for r := 1; r < n; r++ {
		op.Apply(o, typ, sum, sum, contribution(typ, count, r, k))
	}
	return sum
}

// everything does all collectives on c with random arguments and compares with
// serial computations. The seed is the same for all members.
func everything(w *world.World, c *comm.Comm, seed uint64, steps int) error {
	g := rand.New(rand.NewPCG(seed, 1))
	n, e := c.Size(), w.Coll
	for step := range steps {
		k := g.Uint64()
		o, typ := op.Op(1+g.IntN(op.Ops)), op.Type(1+g.IntN(op.Types))
		root := g.IntN(n)
		count := []int{0, 1, g.IntN(8), g.IntN(64), g.IntN(1500), g.IntN(9000)}[g.IntN(6)]
		inPlace := g.IntN(2) == 0
		kind := g.IntN(5)
		what := fmt.Sprintf("seed %d step %d kind %d rank %d of %d root %d: %v of %d %v, in place %t", seed, step, kind, c.Rank, n, root, o, count, typ, inPlace)
		same := func(got, want []byte) error {
			plainZeros(typ, got)
			plainZeros(typ, want)
			if !bytes.Equal(got, want) {
				i := 0
				for got[i] == want[i] {
					i++
				}
				return fmt.Errorf("%s: byte %d of %d is %d, want %d", what, i, len(want), got[i], want[i])
			}
			return nil
		}
		if kind >= 2 && kind <= 3 && op.Check(o, typ) != nil {
			o = op.Sum
			if typ == op.Bool {
				o = op.Lor
			}
		}
		send := contribution(typ, count, c.Rank, k)
		recv := make([]byte, len(send))
		var err error
		switch kind {
		case 0:
			err = e.Barrier(c)
		case 1:
			want := contribution(typ, count, root, k)
			if c.Rank == root {
				copy(recv, want)
			}
			if err = e.Bcast(c, recv, root); err == nil {
				err = same(recv, want)
			}
		case 2:
			if inPlace {
				recv = send
			}
			if err = e.Allreduce(c, send, recv, o, typ); err == nil {
				err = same(recv, oracle(o, typ, count, n, k))
			}
		case 3:
			switch {
			case c.Rank != root:
				recv = nil
			case inPlace:
				recv = send
			}
			if err = e.Reduce(c, send, recv, o, typ, root); err == nil && c.Rank == root {
				err = same(recv, oracle(o, typ, count, n, k))
			}
		case 4:
			recv, want := []byte(nil), []byte(nil)
			if c.Rank == root {
				recv = make([]byte, n*len(send))
				for r := range n {
					want = append(want, contribution(typ, count, r, k)...)
				}
				if inPlace {
					own := recv[root*len(send) : (root+1)*len(send)]
					copy(own, send)
					send = own
				}
			}
			if err = e.Gather(c, send, recv, root); err == nil && c.Rank == root {
				err = same(recv, want)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// D: every collective in every form gives what a serial computation gives.
func TestCollectivesEqualSerial(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			for n := 1; n <= 9; n++ {
				run(t, "inproc", n, f.f, func(w *world.World) error {
					if err := everything(w, w.Comm, uint64(n), 24); err != nil {
						return err
					}
					return everything(w, w.Self, uint64(n), 5)
				})
			}
		})
	}
}
