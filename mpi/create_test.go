package mpi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// wantMembers checks that c has these members, by their ranks in world, and that its messages
// and collectives reach no other communicator.
func wantMembers(t testing.TB, c, world *mpi.Comm, want []int) {
	t.Helper()
	me := slices.Index(want, world.Rank())
	if me < 0 {
		if c != nil {
			t.Fatalf("rank %d of the world got a communicator of %v", world.Rank(), want)
		}
		return
	}
	if c == nil {
		t.Fatalf("rank %d of the world got no communicator of %v", world.Rank(), want)
	}
	g, err := c.Group()
	ok(t, err)
	all, err := world.Group()
	ok(t, err)
	if have := contents(t, g, all); !slices.Equal(have, want) || c.Rank() != me || c.Size() != len(want) {
		t.Fatalf("members are %v, rank %d of %d; want %v", have, c.Rank(), c.Size(), want)
	}
	ok(t, exercise(c, want))
}

// exercise communicates on c, whose members have these numbers.
func exercise(c *mpi.Comm, numbers []int) error {
	n, me := c.Size(), c.Rank()
	sum, total := []int{0}, 0
	for _, x := range numbers {
		total += x
	}
	if err := mpi.Allreduce(c, []int{numbers[me]}, sum, mpi.Sum); err != nil || sum[0] != total {
		return fmt.Errorf("sum of %v is %d (%w)", numbers, sum[0], err)
	}
	got, left := []int{0}, (me+n-1)%n
	_, err := mpi.Sendrecv(c, []int{numbers[me]}, (me+1)%n, 3, got, mpi.AnySource, mpi.AnyTag)
	if err != nil || got[0] != numbers[left] {
		return fmt.Errorf("rank %d got %d, want %d (%w)", me, got[0], numbers[left], err)
	}
	return c.Barrier()
}

// subset is a group of the given ranks of c.
func subset(t testing.TB, c *mpi.Comm, ranks []int) mpi.Group {
	t.Helper()
	all, err := c.Group()
	ok(t, err)
	g, err := all.Incl(ranks)
	ok(t, err)
	return g
}

// 7.4.2: Create makes communicators of any groups, also of several disjoint ones at the same
// time; a process that is in none of them gets nil.
func TestXCOM01_Create(t *testing.T) {
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			rng := rand.New(rand.NewPCG(3, uint64(n))) // the same in all ranks
			for range 20 {
				order := rng.Perm(n)
				a, b := rng.IntN(n+1), rng.IntN(n+1)
				a, b = min(a, b), max(a, b)
				first, second := order[:a], order[a:b] // the rest is in no group
				mine := first
				if slices.Contains(second, c.Rank()) {
					mine = second
				}
				g := subset(t, c, mine)
				if !slices.Contains(order[:b], c.Rank()) {
					g = mpi.GroupEmpty
				}
				d, err := c.Create(g)
				ok(t, err)
				if g.Size() == 0 {
					if d != nil {
						t.Fatal("a communicator of nobody")
					}
					continue
				}
				wantMembers(t, d, c, mine)
				ok(t, d.Free())
			}
		})
	}
}

// Invalid groups and tags are errors before the collective begins.
func TestXCOM01_CreateErrors(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		part, err := c.Split(min(c.Rank(), 1), 0)
		ok(t, err)
		all := subset(t, c, []int{0, 1, 2})
		for _, err := range []error{second(part.Create(all)), second(part.CreateGroup(all, 0))} {
			wantClass(t, err, mpi.ErrGroup)
		}
		wantClass(t, second(c.CreateGroup(all, -1)), mpi.ErrTag)
		wantClass(t, second(c.SplitType(17, 0)), mpi.ErrArg)
		ok(t, c.Barrier())
		ok(t, part.Free())
		var none *mpi.Comm
		for _, k := range []*mpi.Comm{part, none} {
			_, idup := k.Idup()
			_, with := k.Idup(nil)
			for i, err := range []error{second(k.Create(all)), second(k.CreateGroup(all, 0)), second(k.SplitType(mpi.CommTypeShared, 0)),
				waited(idup), waited(with), second(k.Dup()), second(k.Group()), k.SetInfo(), second(k.Info()),
				second(k.Errhandler()), k.SetErrhandler(mpi.ErrorsReturn), k.CallErrhandler(mpi.ErrArg), k.SetName("x")} {
				if !errors.Is(err, mpi.ErrComm) {
					t.Errorf("call %d: %v, want ErrComm", i, err)
				}
			}
		}
	})
}

// CreateGroup is collective over the group only: the other members wait in a receive that is
// answered after the communicator has been made, or compute.
func TestXCOM01_CreateGroupWithoutTheOthers(t *testing.T) {
	mpitest.Run(t, 5, func(t testing.TB, c *mpi.Comm) {
		ranks := []int{3, 0, 2}
		if !slices.Contains(ranks, c.Rank()) {
			_, err := mpi.Recv(c, []byte{0}, 0, 1)
			ok(t, err)
			return
		}
		d, err := c.CreateGroup(subset(t, c, ranks), 1)
		ok(t, err)
		wantMembers(t, d, c, ranks)
		ok(t, d.Free())
		if c.Rank() == 0 {
			for _, r := range []int{1, 4} {
				ok(t, mpi.Send(c, []byte{0}, r, 1))
			}
		}
	})
}

// Overlapping groups make communicators at the same time, in goroutines with different tags,
// while the parent carries collectives and messages with the same tags.
func TestXCOM01_CreateGroupsThatOverlap(t *testing.T) {
	const n, rounds = 5, 6
	groups := [][]int{{0, 1, 2}, {2, 1, 4}, {4, 3}, {0, 1, 2, 3, 4}, {3, 0, 4}, {2, 1, 0}, {1}}
	mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
		for range rounds {
			var all sync.WaitGroup
			errs := make([]error, len(groups)+1)
			for tag, ranks := range groups {
				if !slices.Contains(ranks, c.Rank()) {
					continue
				}
				g := subset(t, c, ranks)
				all.Go(func() {
					d, err := c.CreateGroup(g, tag)
					if err == nil {
						err = exercise(d, ranks)
					}
					if err == nil {
						err = d.Free()
					}
					errs[tag] = err
				})
			}
			all.Go(func() { errs[len(groups)] = exercise(c, []int{0, 1, 2, 3, 4}) })
			all.Wait()
			ok(t, errors.Join(errs...))
		}
	})
}

// 7.4.2: Idup does not wait; its communicator can be used when the request is complete, and not
// before; several may be pending at the same time, together with other calls.
func TestXCOM01_Idup(t *testing.T) {
	for n := 1; n <= 4; n++ {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			numbers := []int{0, 1, 2, 3}[:n]
			if n > 1 {
				// The context number of rank 0 is not chosen as long as it waits for rank 1.
				if c.Rank() == 0 {
					_, err := mpi.Recv(c, []byte{0}, 1, 0)
					ok(t, err)
				}
				d, r := c.Idup()
				if c.Rank() == 1 {
					wantClass(t, mpi.Send(d, []byte{0}, 0, 0), mpi.ErrComm)
					wantClass(t, d.Free(), mpi.ErrComm)
					ok(t, d.SetErrhandler(mpi.ErrorsReturn))
					if h, err := d.Errhandler(); err != nil || h != mpi.ErrorsReturn {
						t.Errorf("the error handler is %v, %v while the communicator is being made", h, err)
					}
					if _, done, err := r.Test(); done || err != nil {
						t.Errorf("Idup has completed without rank 0 (%v)", err)
					}
					ok(t, mpi.Send(c, []byte{0}, 0, 0))
				}
				_, err := r.Wait()
				ok(t, err)
				ok(t, exercise(d, numbers))
				ok(t, d.Free())
			}
			// The parent may be freed while Idup is pending.
			p, err := c.Dup()
			ok(t, err)
			d, r := p.Idup()
			ok(t, p.Free())
			_, err = r.Wait()
			ok(t, err)
			ok(t, exercise(d, numbers))
			ok(t, d.Free())
			const many = 20
			var comms []*mpi.Comm
			var rs []mpi.Request
			for i := range many {
				d, r := c.Idup()
				comms, rs = append(comms, d), append(rs, r)
				switch i % 5 {
				case 1:
					ok(t, c.Barrier())
				case 3:
					e, err := c.Dup()
					ok(t, err)
					ok(t, exercise(e, numbers))
					ok(t, e.Free())
				}
			}
			ok(t, rs[many-1].Free()) // it completes nevertheless
			slices.Reverse(rs)
			ok(t, mpi.Waitall(rs[1:], nil))
			for _, d := range comms[:many-1] {
				ok(t, exercise(d, numbers))
			}
			// All duplicates are different: one message on each, received in reverse order.
			right, left := (c.Rank()+1)%n, (c.Rank()+n-1)%n
			for i, d := range comms[:many-1] {
				ok(t, mpi.Send(d, []int{i}, right, 0))
			}
			for i := many - 2; i >= 0; i-- {
				got := []int{0}
				_, err := mpi.Recv(comms[i], got, left, mpi.AnyTag)
				ok(t, err)
				if got[0] != i {
					t.Fatalf("duplicate %d got the message of %d", i, got[0])
				}
				ok(t, comms[i].Free())
			}
		})
	}
}

// Goroutines make communicators at the same time, each from a different parent.
func TestCOM04_ConcurrentCreation(t *testing.T) {
	const workers, rounds = 4, 12
	mpitest.Run(t, 4, func(t testing.TB, world *mpi.Comm) {
		errs := make([]error, workers)
		var all sync.WaitGroup
		for i := range workers {
			c, err := world.Dup()
			ok(t, err)
			all.Go(func() {
				for round := range rounds {
					errs[i] = createAll(c, i+round, true)
					if errs[i] != nil {
						return
					}
				}
				errs[i] = c.Free()
			})
		}
		all.Wait()
		ok(t, errors.Join(errs...))
	})
}

// createAll makes a communicator in each way and uses it; if all is false, only in the ways that
// need the last rank.
func createAll(c *mpi.Comm, k int, all bool) error {
	everybody, err := c.Group()
	if err != nil {
		return err
	}
	odd, err := everybody.RangeIncl([]mpi.Range{{First: 1, Last: c.Size() - 1, Stride: 2}})
	if err != nil {
		return err
	}
	dup, err := c.Dup()
	if err != nil {
		return err
	}
	idup, r := dup.Idup()
	half, err := c.Split((c.Rank()+k)%2, -c.Rank())
	if err != nil {
		return err
	}
	made, err := c.Create(odd)
	if err != nil {
		return err
	}
	var group *mpi.Comm
	if odd.Rank() != mpi.Undefined {
		group, err = c.CreateGroup(odd, k)
		if err != nil {
			return err
		}
	}
	if _, err := r.Wait(); err != nil {
		return err
	}
	for _, d := range []*mpi.Comm{dup, idup, half, made, group} {
		if d == nil || d == half && !all && c.Rank()%2 == 0 {
			continue
		}
		numbers := []int{k, k + 1, k + 2, k + 3}[:d.Size()]
		if err := errors.Join(exercise(d, numbers), d.Free()); err != nil {
			return err
		}
	}
	return nil
}

// A member dies while communicators are made: all other members get an error, and none waits for
// ever. Groups without the dead process are not affected. But a member that waits for one that
// has left because of the death waits for ever, so that communicators without the dead process
// are not used before all members know of the death.
func TestF1_DeathDuringCreation(t *testing.T) {
	var met atomic.Int64
	for round := range 8 {
		onDeath(t, 4, func(t testing.TB, c *mpi.Comm) {
			for i := range 3 * round {
				if err := createAll(c, i, false); err != nil {
					t.Errorf("rank 3 alive: %v", err)
				}
			}
			steps := round % 4 // and then in the middle of a step
			if steps > 0 {
				d, err := c.Dup()
				ok(t, err)
				if steps > 1 {
					d.Idup()
				}
			}
			if steps > 2 {
				_, err := c.Split(0, 0)
				ok(t, err)
			}
		}, func(t testing.TB, c *mpi.Comm) {
			var err error
			for i := 0; err == nil; i++ {
				err = createAll(c, i, false)
			}
			wantClass(t, err, mpi.ErrProcFailed)
			for i, err := range []error{second(c.Dup()), second(c.Split(0, 0)), second(c.SplitType(mpi.CommTypeShared, 0)),
				second(c.Create(subset(t, c, []int{0, 1, 2, 3}))), second(c.CreateGroup(subset(t, c, []int{3, 2, 1, 0}), 7))} {
				if !errors.Is(err, mpi.ErrProcFailed) {
					t.Fatalf("call %d after the death: %v", i, err)
				}
			}
			_, r := c.Idup()
			wantClass(t, second(r.Wait()), mpi.ErrProcFailed)
			living := []int{2, 0, 1}
			d, err := c.CreateGroup(subset(t, c, living), 5)
			ok(t, err)
			wantMembers(t, d, c, living)
			ok(t, d.Free())
			// A process that leaves is dead to the others: all have to be here first.
			mine := met.Add(1)
			for met.Load() < (mine+2)/3*3 && !t.Failed() {
				runtime.Gosched()
			}
		})
	}
}
