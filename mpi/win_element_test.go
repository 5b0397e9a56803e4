package mpi_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Predefined operations on every predefined datatype for which they are defined have the same
// result at the target as ReduceLocal, with adjacent elements and with a vector with gaps;
// others are refused, and change nothing.
func TestRC03_EveryTypeAndOperation(t *testing.T) {
	const count = 3
	ops := []mpi.Op{mpi.Sum, mpi.Prod, mpi.Min, mpi.Max, mpi.Land, mpi.Lor, mpi.Lxor, mpi.Band, mpi.Bor, mpi.Bxor, mpi.Minloc, mpi.Maxloc, mpi.Replace}
	for _, fabric := range []string{"inproc", "tcp"} { // computed by the origin, by the target
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 2, func(t testing.TB, c *mpi.Comm) {
				w, err := mpi.WinAllocate[byte](c, 4096)
				ok(t, err)
				ok(t, w.LockAll(0))
				for name, d := range mpi.PredefinedTypes() {
					if size, _ := d.Size(); size == 0 || c.Rank() != 0 {
						continue
					}
					for _, o := range ops {
						accumulateLike(labelled{t, name + " " + o.String()}, w, d, o, count)
					}
				}
				ok(t, w.UnlockAll())
				ok(t, w.Free())
			})
		})
	}
}

// accumulateLike compares an accumulate at rank 1 with the result of ReduceLocal.
func accumulateLike(t testing.TB, w mpi.Win[byte], d mpi.Datatype, o mpi.Op, count int) {
	t.Helper()
	_, extent, err := d.Extent()
	ok(t, err)
	g := rand.New(rand.NewPCG(uint64(extent), 3))
	room := (2*count + 1) * extent
	target, operand := make([]byte, room), make([]byte, room)
	for i := range room { // small numbers in any type
		target[i], operand[i] = byte(g.IntN(3)), byte(g.IntN(3))
	}
	apart := typ(t)(mpi.TypeVector(count, 1, 2, d))
	element := op.For(types.Named(d.Name())) // what is in its gaps stays
	for _, l := range []struct {
		d     mpi.Datatype
		count int
	}{{d, count}, {apart, 1}} {
		want := slices.Clone(target)
		var local error
		if o == mpi.Replace {
			packed, err := mpi.Pack(nil, mpi.BufOf(operand, l.count, l.d))
			ok(t, err)
			_, local = mpi.Unpack(packed, mpi.BufOf(slices.Clone(want), l.count, l.d))
			for i := range count {
				at := i * extent
				if l.d == apart {
					at *= 2
				}
				element.Copy(want[at:at+extent], operand[at:])
			}
		} else {
			for i := range count { // element by element, since ReduceLocal combines only elements
				at := i * extent
				if l.d == apart {
					at *= 2
				}
				// The operand is the second: of two NaNs the result is the first.
				inout := slices.Clone(operand)
				local = o.ReduceLocal(mpi.BufAt(want, at, 1, d), mpi.BufAt(inout, at, 1, d))
				if local != nil {
					break
				}
				element.Copy(want[at:at+extent], inout[at:])
			}
		}
		ok(t, w.Put(target, 1, 64))
		ok(t, w.Flush(1))
		err := w.Untyped().Accumulate(mpi.BufOf(operand, l.count, l.d), 1, 64, l.count, l.d, o)
		if (err == nil) != (local == nil) {
			t.Errorf("at the target: %v; here: %v", err, local)
		}
		got := make([]byte, room)
		ok(t, w.Flush(1))
		ok(t, w.Get(got, 1, 64))
		ok(t, w.Flush(1))
		// The contents of padding are undefined.
		a, err := mpi.Pack(nil, mpi.BufOf(got, l.count, l.d))
		ok(t, err)
		b, err := mpi.Pack(nil, mpi.BufOf(want, l.count, l.d))
		ok(t, err)
		if !slices.Equal(a, b) {
			t.Errorf("%v: memory is\n%v, want\n%v", l.d, a, b)
		}
	}
}
