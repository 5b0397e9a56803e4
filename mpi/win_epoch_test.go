package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// winState is the state of one of two ranks with a window; the target of its accesses is rank 1.
type winState struct {
	name    string
	enter   func(s *space[int64], peer mpi.Group) error
	leave   func(s *space[int64]) error
	illegal []string
}

// winStates are the states of epochs, and the calls that are not allowed in each.
func winStates() []winState {

	none := func(*space[int64]) error { return nil }
	put := func(s *space[int64]) error { return s.Put([]int64{1}, 1, s.at(1, 0)) }
	exposure := []string{"Complete", "Wait", "Test"}
	passive := []string{"Unlock", "Unlock other", "UnlockAll", "Flush", "FlushAll", "FlushLocal", "FlushLocalAll", "Sync"}
	requests := []string{"Rput", "Rget", "Raccumulate", "RgetAccumulate"}
	access := append([]string{"Put", "Put other", "Put null", "Get", "Accumulate", "GetAccumulate", "FetchAndOp", "CompareAndSwap"}, requests...)
	join := func(lists ...[]string) (all []string) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	return []winState{
		{"no epoch", func(*space[int64], mpi.Group) error { return nil }, none, join(exposure, passive, access)},
		{"after a fence", func(s *space[int64], _ mpi.Group) error { return s.Fence(0) }, none, join(exposure, passive, requests)},
		{"after a fence and a put", func(s *space[int64], _ mpi.Group) error {
			if err := s.Fence(0); err != nil {
				return err
			}
			return put(s)
		}, func(s *space[int64]) error { return s.Fence(0) },
			join(exposure, passive, requests, []string{"Post", "Start", "Lock", "Lock other", "LockAll", "Free"})},
		{"after Start", func(s *space[int64], peer mpi.Group) error { return s.Start(peer, 0) }, func(s *space[int64]) error { return s.Complete() },
			join(passive, requests, []string{"Wait", "Test", "Start", "Lock", "Lock other", "LockAll", "Fence", "Put other", "Free"})},
		{"after Post", func(s *space[int64], peer mpi.Group) error { return s.Post(peer, 0) }, func(s *space[int64]) error { return s.Wait() },
			join(passive, access, []string{"Complete", "Post", "Fence", "Free"})},
		{"with a lock", func(s *space[int64], _ mpi.Group) error { return s.Lock(mpi.LockShared, 1, 0) }, func(s *space[int64]) error { return s.Unlock(1) },
			join(exposure, []string{"Lock", "LockAll", "Unlock other", "UnlockAll", "Start", "Fence", "Put other", "Flush other", "FlushLocal other", "Free"})},
		{"with all locks", func(s *space[int64], _ mpi.Group) error { return s.LockAll(0) }, func(s *space[int64]) error { return s.UnlockAll() },
			join(exposure, []string{"Lock", "Lock other", "LockAll", "Unlock", "Unlock other", "Start", "Fence", "Free"})},
	}
}

// winCalls are calls by the names that winStates uses. Calls that are allowed in a state are not
// made in it.
func winCalls(s *space[int64], peer mpi.Group) map[string]func() error {
	b, v := []int64{1}, int64(1)
	calls := map[string]func() error{
		"Fence": func() error { return s.Fence(0) },
		"Post":  func() error { return s.Post(peer, 0) }, "Start": func() error { return s.Start(peer, 0) },
		"Complete": s.Complete, "Wait": s.Win.Wait, "Test": func() error { return second(s.Win.Test()) },
		"LockAll": func() error { return s.LockAll(0) }, "UnlockAll": s.UnlockAll,
		"Sync": s.Sync, "FlushAll": s.FlushAll, "FlushLocalAll": s.FlushLocalAll,
		"Put null": func() error { return s.Put(b, mpi.ProcNull, 0) },
		"Free":     s.Free,
	}
	for target, suffix := range map[int]string{1: "", 0: " other"} {
		at := s.at(target, 0)
		calls["Lock"+suffix] = func() error { return s.Lock(mpi.LockShared, target, 0) }
		calls["Unlock"+suffix] = func() error { return s.Unlock(target) }
		calls["Flush"+suffix] = func() error { return s.Flush(target) }
		calls["FlushLocal"+suffix] = func() error { return s.FlushLocal(target) }
		calls["Put"+suffix] = func() error { return s.Put(b, target, at) }
	}
	at := s.at(1, 0)
	for name, call := range map[string]func() error{
		"Get":            func() error { return s.Get(b, 1, at) },
		"Accumulate":     func() error { return s.Accumulate(b, 1, at, mpi.Sum) },
		"GetAccumulate":  func() error { return s.GetAccumulate(b, b, 1, at, mpi.Sum) },
		"FetchAndOp":     func() error { return s.FetchAndOp(&v, &v, 1, at, mpi.Sum) },
		"CompareAndSwap": func() error { return s.CompareAndSwap(&v, &v, &v, 1, at) },
		"Rput":           func() error { return waited(s.Rput(b, 1, at)) },
		"Rget":           func() error { return waited(s.Rget(b, 1, at)) },
		"Raccumulate":    func() error { return waited(s.Raccumulate(b, 1, at, mpi.Sum)) },
		"RgetAccumulate": func() error { return waited(s.RgetAccumulate(b, b, 1, at, mpi.Sum)) },
	} {
		calls[name] = call
	}
	return calls
}

// Each illegal transition is ErrRMASync, and changes neither state nor window: the epoch ends
// normally, and another one works. Flush is for passive epochs only (X-RMA-04), a target is
// locked once (RS-10), and Free needs all epochs to be closed.
func TestXRMA06_XRMA04_RS10_IllegalTransitions(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		all, err := c.Group()
		ok(t, err)
		peer, err := all.Incl([]int{1 - c.Rank()})
		ok(t, err)
		for _, state := range winStates() {
			onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
				t = labelled{t, state.name}
				ok(t, s.SetName("w"))
				if c.Rank() == 0 {
					ok(t, state.enter(s, peer))
					calls := winCalls(s, peer)
					for _, name := range state.illegal {
						call := calls[name]
						if call == nil {
							t.Fatalf("no call %q", name)
						}
						wantText(labelled{t, name}, call(), mpi.ErrRMASync, "mpi: ", " on w")
					}
				} else {
					ok(t, partner(state.name, s, peer))
				}
				if c.Rank() == 0 {
					ok(t, state.leave(s))
				}
				ok(t, c.Barrier())
				ok(t, s.LockAll(0))
				one := []int64{1}
				ok(t, s.Accumulate(one, 0, s.at(0, 0), mpi.Sum))
				ok(t, s.UnlockAll())
				ok(t, c.Barrier())
				if c.Rank() == 0 && s.mem[0] != 2 {
					t.Errorf("memory is %d, want 2: a call that failed has done something", s.mem[0])
				}
			})
		}
	})
}

// partner is what rank 1 does so that rank 0 gets into a state and out of it.
func partner(state string, s *space[int64], peer mpi.Group) error {
	steps := map[string][]func() error{
		"after a fence":           {func() error { return s.Fence(0) }},
		"after a fence and a put": {func() error { return s.Fence(0) }, func() error { return s.Fence(0) }},
		"after Start":             {func() error { return s.Post(peer, 0) }, s.Win.Wait},
		"after Post":              {func() error { return s.Start(peer, 0) }, s.Complete},
	}
	for _, step := range steps[state] {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// A fence opens an epoch only if accesses follow: otherwise locks, or Start, are allowed.
func TestXRMA06_FenceThenOtherEpochs(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		es := epochs(t, c)
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			for round, e := range append(es, es...) {
				ok(t, s.Fence(0))
				ok(t, e.open(s.Window))
				if c.Rank() == 0 {
					ok(t, s.Put([]int64{int64(round + 1)}, 1, s.at(1, 0)))
				}
				ok(t, e.close(s.Window))
				if c.Rank() == 1 && s.mem[0] != int64(round+1) {
					t.Errorf("%s: memory %v", e.name, s.mem)
				}
				ok(t, c.Barrier())
			}
		})
	})
}

// Locks of several targets are nested in any order.
func TestXRMA06_NestedLocks(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		onSpaces(t, c, n, func(t testing.TB, s *space[int64]) {
			for round := range rounds(30) {
				for r := range n { // in one order, so that there is no deadlock
					typ := mpi.LockShared
					if (round+r)%3 == 0 {
						typ = mpi.LockExclusive
					}
					ok(t, s.Lock(typ, r, 0))
					ok(t, s.Accumulate([]int64{1}, r, s.at(r, me), mpi.Sum))
				}
				for r := range n {
					ok(t, s.Unlock((r*3+round)%n))
				}
			}
			ok(t, c.Barrier())
			for r, v := range s.mem {
				if v != int64(rounds(30)) {
					t.Errorf("rank %d has added %d", r, v)
				}
			}
		})
	})
}

// Every legal sum of assertions is accepted by its call, and does not change the outcome if it
// is true; all others are ErrAssert, and the call does nothing.
func TestXRMA08_Assertions(t *testing.T) {
	const (
		all   = mpi.ModeNoCheck | mpi.ModeNoStore | mpi.ModeNoPut | mpi.ModeNoPrecede | mpi.ModeNoSucceed
		fence = mpi.ModeNoStore | mpi.ModeNoPut | mpi.ModeNoPrecede | mpi.ModeNoSucceed
		post  = mpi.ModeNoCheck | mpi.ModeNoStore | mpi.ModeNoPut
	)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		g, err := c.Group()
		ok(t, err)
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			for _, call := range []struct {
				name  string
				legal mpi.Assert
				do    func(a mpi.Assert) error
				undo  func(a mpi.Assert) error
			}{
				{"Fence", fence, s.Fence, func(mpi.Assert) error { return nil }},
				{"Post", post, func(a mpi.Assert) error { return s.Post(g, a) }, func(a mpi.Assert) error {
					ok(t, c.Barrier()) // so that ModeNoCheck, which both calls pass, is true
					ok(t, s.Start(g, a&mpi.ModeNoCheck))
					ok(t, s.Complete())
					return s.Win.Wait()
				}},
				{"Start", mpi.ModeNoCheck, func(a mpi.Assert) error { return s.Start(g, a) }, nil},
				{"Lock", mpi.ModeNoCheck, func(a mpi.Assert) error { return s.Lock(mpi.LockShared, 1, a) }, func(mpi.Assert) error { return s.Unlock(1) }},
				{"LockAll", mpi.ModeNoCheck, s.LockAll, func(mpi.Assert) error { return s.UnlockAll() }},
			} {
				for bits := range 1 << 5 {
					a := mpi.Assert(bits << 10)
					legal := a&^call.legal == 0
					if !legal {
						wantText(t, call.do(a), mpi.ErrAssert, "mpi: "+call.name)
						continue
					}
					if call.name == "Start" {
						ok(t, s.Post(g, a)) // both calls pass ModeNoCheck
						ok(t, c.Barrier())
						ok(t, s.Start(g, a))
						ok(t, s.Put([]int64{int64(bits)}, 1-c.Rank(), s.at(1-c.Rank(), 0)))
						ok(t, s.Complete())
						ok(t, s.Win.Wait())
						if s.mem[0] != int64(bits) {
							t.Errorf("memory %v", s.mem)
						}
						ok(t, c.Barrier())
						continue
					}
					ok(t, call.do(a))
					ok(t, call.undo(a))
					ok(t, c.Barrier())
				}
				for _, a := range []mpi.Assert{1, -1, all << 5} {
					wantClass(t, call.do(a), mpi.ErrAssert)
				}
			}
		})
	})
}
