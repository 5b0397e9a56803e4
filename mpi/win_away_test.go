package mpi_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// absence is a test of two ranks in which rank 1 is away for a time: its program makes no call, and
// the lock of its engine is held, so that nothing of its process serves rank 0 either.
type absence struct {
	worlds           [2]*world.World
	came, gone, back chan struct{}
}

// whileAway runs fn as two ranks over every fabric.
func whileAway(t *testing.T, fn func(t testing.TB, c *mpi.Comm, x *absence)) {
	t.Helper()
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			defer testrun.Watch(t.Name() + ": a call waits for a target that is away")()
			x := &absence{came: make(chan struct{}), gone: make(chan struct{}), back: make(chan struct{})}
			err := mpi.Internals.RunBy(func(rank func(w *world.World) error) error {
				return world.RunGoroutines(fabric, 2, func(w *world.World) error {
					x.worlds[w.Comm.Rank] = w
					return rank(w)
				})
			}, func(c *mpi.Comm) error {
				fn(t, c, x)
				if t.Failed() {
					return errors.New("the test has failed")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// during has rank 0 call fn while rank 1 is away. Both ranks call it. Rank 1 stays until rank 0 has come here: a call of
// rank 0 before may need it.
func (x *absence) during(c *mpi.Comm, fn func()) {
	if c.Rank() == 0 {
		x.came <- struct{}{}
		<-x.gone
		defer func() { x.back <- struct{}{} }()
		fn()
		return
	}
	<-x.came
	p := x.worlds[1].Proc
	p.Lock()
	defer p.Unlock()
	x.gone <- struct{}{}
	<-x.back
}

// sent returns how many bytes rank 0 has put into the ring to rank 1 so far.
func (x *absence) sent(t testing.TB) uint64 {
	p := x.worlds[0].Proc
	p.Lock()
	defer p.Unlock()
	f := p.Direct(1)
	if f == nil {
		t.Fatal("no ring leads to rank 1, or it is full")
	}
	return reflect.ValueOf(&f.Record(1).Out).Elem().FieldByName("tail").Uint()
}

// claimedOp is an operation by its name in OpIntrinsic.
type claimedOp struct {
	name     string
	op       mpi.Op
	integers bool // only
}

// claimed are all of them, except cas and those on pairs.
var claimed = []claimedOp{
	{"sum", mpi.Sum, false}, {"prod", mpi.Prod, false}, {"min", mpi.Min, false}, {"max", mpi.Max, false},
	{"replace", mpi.Replace, false}, {"no_op", mpi.NoOp, false},
	{"land", mpi.Land, true}, {"lor", mpi.Lor, true}, {"lxor", mpi.Lxor, true},
	{"band", mpi.Band, true}, {"bor", mpi.Bor, true}, {"bxor", mpi.Bxor, true},
}

// intrinsicElem are the types of elements in tests of OpIntrinsic.
type intrinsicElem interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// QV-17: OpIntrinsic never turns true for a greater number of elements, for each operation and type
// on each kind of window, with the assertion and without.
func TestQV17_TheAnswerDoesNotGrowWithTheCount(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		var counts []int
		for n := range 300 {
			counts = append(counts, n)
		}
		for n := 1 << 10; n < 1<<45; n *= 2 {
			counts = append(counts, n-1, n, n+1)
		}
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			d, err := s.Dup(pairs(t, "mpi_assert_accumulate_intrinsic", "true"))
			ok(t, err)
			for i, typ := range []mpi.Datatype{mustType[int8](t), mustType[uint64](t), mustType[float64](t), mustType[complex128](t)} {
				for _, o := range append(slices.Clone(claimed), claimedOp{"cas", mpi.Op{}, true}) {
					if o.integers && i > 1 || i == 3 && (o.name == "min" || o.name == "max") {
						continue
					}
					for _, w := range []*mpi.Window{s.Window, d.Window} {
						last := true
						for _, n := range counts {
							yes, err := w.OpIntrinsic(o.name, n, typ)
							ok(t, err)
							if yes && !last {
								t.Fatalf("%s of type %d: true for %d, and not for fewer", o.name, i, n)
							}
							last = yes
						}
					}
				}
			}
			ok(t, d.Free())
		})
	})
}

// QV-17, EXP-2: what OpIntrinsic says is true while the target is away: nothing is sent to it, and
// flushes return, when the operations are done. Over tcp nothing is said to be so.
func TestQV17_ClaimsHoldWithTheTargetAway(t *testing.T) {
	unchecked(t) // in checking mode each access asks its target
	whileAway(t, func(t testing.TB, c *mpi.Comm, x *absence) {
		claims := claimsHold[int8](t, c, x) + claimsHold[uint8](t, c, x) + claimsHold[int16](t, c, x) + claimsHold[uint16](t, c, x) +
			claimsHold[int32](t, c, x) + claimsHold[uint32](t, c, x) + claimsHold[int64](t, c, x) + claimsHold[uint64](t, c, x) +
			claimsHold[float32](t, c, x) + claimsHold[float64](t, c, x)
		shared := x.worlds[c.Rank()].Proc.Node() != nil
		if c.Rank() == 0 && shared != (claims > 0) {
			t.Errorf("%d claims were tested; memory is shared: %v", claims, shared)
		}
	})
}

// claimsHold tests all claims for one type, and returns how many there are.
func claimsHold[T intrinsicElem](t testing.TB, c *mpi.Comm, x *absence) (claims int) {
	const size = 200
	typ := mustType[T](t)
	one, two := T(1), T(2)
	floats := one/two != 0
	onSpaces(t, c, size, func(t testing.TB, s *space[T]) {
		d, err := s.Dup(pairs(t, "mpi_assert_accumulate_intrinsic", "true"))
		ok(t, err)
		ok(t, s.LockAll(0))
		ok(t, s.FlushAll())
		ok(t, c.Barrier())
		model, got, origin, old := make([]T, size), make([]T, size), make([]T, size), make([]T, size)
		x.during(c, func() {
			for asserted, w := range []mpi.Win[T]{s.Win, d} {
				can := func(name string, n int) bool {
					yes, err := w.OpIntrinsic(name, n, typ)
					ok(t, err)
					if yes && x.worlds[0].Proc.Node() == nil {
						t.Fatalf("%s of %d %T: atomic operations of this processor on memory of another host", name, n, origin[0])
					}
					if yes {
						claims++
					}
					return yes
				}
				done := func(what string, n int, do func() error) {
					t.Helper()
					before := x.sent(t)
					ok(t, do())
					if x.sent(t) != before {
						t.Fatalf("%s of %d %T (window %d) is said to need no target, and sends a frame to it", what, n, origin[0], asserted)
					}
					ok(t, w.Flush(1))
				}
				same := func(what string, n int) {
					t.Helper()
					ok(t, w.Get(got, 1, s.at(1, 0)))
					ok(t, w.Flush(1))
					if !slices.Equal(got, model) {
						t.Fatalf("%s of %d %T (window %d): the target has %v, want %v", what, n, origin[0], asserted, got, model)
					}
				}
				for _, o := range claimed {
					if o.integers && floats {
						continue
					}
					for _, n := range []int{1, 2, 3, 4, 7, 8, 16, 31, 33, 64, 150} {
						if !can(o.name, n) {
							continue
						}
						ok(t, w.Put(make([]T, size), 1, s.at(1, 0)))
						clear(model)
						for i := range n {
							origin[i], model[i+1] = T(i%5+1), T(i%3)
						}
						ok(t, w.Put(model, 1, s.at(1, 0)))
						ok(t, w.Flush(1))
						for _, form := range []string{"Accumulate", "GetAccumulate", "FetchAndOp"} {
							if o.name == "no_op" && form == "Accumulate" {
								continue // is no accumulate
							}
							was := slices.Clone(model[1 : n+1])
							if form == "FetchAndOp" {
								was = was[:1]
							}
							switch o.name {
							case "no_op":
							case "replace":
								copy(model[1:], origin[:len(was)])
							default:
								ok(t, mpi.ReduceLocal(origin[:len(was)], model[1:1+len(was)], o.op))
							}
							switch form {
							case "Accumulate":
								done(o.name, n, func() error { return w.Accumulate(origin[:n], 1, s.at(1, 1), o.op) })
							case "GetAccumulate":
								done(o.name, n, func() error { return w.GetAccumulate(origin[:n], old[:n], 1, s.at(1, 1), o.op) })
							case "FetchAndOp":
								done(o.name, n, func() error { return w.FetchAndOp(&origin[0], &old[0], 1, s.at(1, 1), o.op) })
							}
							if form != "Accumulate" && !slices.Equal(old[:len(was)], was) {
								t.Fatalf("%s by %s of %d %T has fetched %v, want %v", o.name, form, n, origin[0], old[:len(was)], was)
							}
							same(fmt.Sprint(o.name, " by ", form), n)
						}
					}
				}
				if floats || !can("cas", 1) {
					continue
				}
				for i := range 20 {
					expected, next := model[1], T(i%7+1)
					if i%2 == 1 {
						expected++ // does not swap
					}
					was := model[1]
					done("cas", 1, func() error { return w.CompareAndSwap(&next, &expected, &old[0], 1, s.at(1, 1)) })
					if expected == was {
						model[1] = next
					}
					if old[0] != was {
						t.Fatalf("cas of %T has found %v, want %v", was, old[0], was)
					}
					same("cas", 1)
				}
			}
		})
		ok(t, s.UnlockAll())
		ok(t, d.Free())
		ok(t, c.Barrier())
	})
	return claims
}
