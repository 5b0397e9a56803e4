package mpi_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// coveredCall is a call that requests of operations may cover.
type coveredCall struct {
	name  string
	modes mpi.SyncMode // with any of them a request covers it
	issue func(s *space[int64], mem *[3]int64) error
}

// coveredCalls are the operations without a request: puts, gets and accumulates are covered by their own mode, and what
// both reads and changes memory by that of gets and that of accumulates.
func coveredCalls() []coveredCall {
	const both = mpi.ModeWinGet | mpi.ModeWinAccumulate
	return []coveredCall{
		{"Put", mpi.ModeWinPut, func(s *space[int64], mem *[3]int64) error { return s.Put(mem[:1], 0, s.at(0, 0)) }},
		{"Get", mpi.ModeWinGet, func(s *space[int64], mem *[3]int64) error { return s.Get(mem[:1], 0, s.at(0, 0)) }},
		{"Accumulate", mpi.ModeWinAccumulate, func(s *space[int64], mem *[3]int64) error {
			return s.Accumulate(mem[:1], 0, s.at(0, 0), mpi.Sum)
		}},
		{"GetAccumulate", both, func(s *space[int64], mem *[3]int64) error {
			return s.GetAccumulate(mem[:1], mem[1:2], 0, s.at(0, 0), mpi.Sum)
		}},
		{"FetchAndOp", both, func(s *space[int64], mem *[3]int64) error {
			return s.FetchAndOp(&mem[0], &mem[1], 0, s.at(0, 0), mpi.Sum)
		}},
		{"CompareAndSwap", both, func(s *space[int64], mem *[3]int64) error {
			return s.CompareAndSwap(&mem[0], &mem[1], &mem[2], 0, s.at(0, 0))
		}},
	}
}

// A request covers the operations of its modes, on its window and to its target (SYN-17, SYN-18, E0-13, E0-19): while the
// target has not posted, so that an operation to it is not complete, a request that covers the operation is not complete,
// and all others are: of another mode, to another target, and of another window.
func TestSYN17_SYN18_WhatARequestCovers(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me := c.Rank()
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			other, err := mpi.WinAllocate[int64](c, 1)
			ok(t, err)
			objects, others := syncs(t, c, s.Window), syncs(t, c, other.Window)
			group, err := s.Group()
			ok(t, err)
			const rounds = 6 * 4 // a signal of each request
			var come []*mpi.Request
			if me <= 1 {
				come = append(come, startedSync(t, s.SyncObjectInit(objects[me], rounds)))
			}
			if me == 0 {
				come = append(come, startedSync(t, other.SyncObjectInit(others[0], rounds)))
			}
			for _, x := range coveredCalls() {
				for _, mode := range []mpi.SyncMode{mpi.ModeWinPut, mpi.ModeWinGet, mpi.ModeWinAccumulate, mpi.ModeWinAll} {
					if me == 0 {
						from, err := group.Incl([]int{1})
						ok(t, err)
						ok(t, second(mpi.Recv(c, []byte{}, 1, 1)))
						ok(t, s.Post(from, 0))
						ok(t, s.Window.Wait())
					}
					if me == 1 {
						what := fmt.Sprintf("%s, mode %#x", x.name, int(mode))
						to, err := group.Incl([]int{0})
						ok(t, err)
						mem := new([3]int64)
						ok(t, s.Start(to, 0))
						ok(t, x.issue(s, mem))
						ok(t, s.Signal(1, mode, objects[1]))    // to another target
						ok(t, other.Signal(0, mode, others[0])) // of another window
						q := startedSync(t, s.SyncOpsInit(0, mode, objects[0]))
						if covers := mode&x.modes != 0; !covers {
							ended(t, q)
						} else if tested(t, q) {
							t.Fatalf("%s: the request is complete before the operation", what)
						}
						ok(t, mpi.Send(c, []byte{}, 0, 1))
						ok(t, s.Complete())
						if mode&x.modes != 0 {
							ended(t, q)
						}
					}
				}
			}
			for _, q := range come {
				ended(t, q)
			}
			ok(t, c.Barrier())
			ok(t, other.Free())
		})
	})
}

// A request that is freed while operations that it covers are under way signals when they are complete, not before, and
// once (SYN-29, E0-14).
func TestSYN29_FreedBeforeTheOperations(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me := c.Rank()
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			objects := syncs(t, c, s.Window)
			group, err := s.Group()
			ok(t, err)
			if me == 0 {
				from, err := group.Incl([]int{1})
				ok(t, err)
				come := s.SyncObjectInit(objects[0], 1)
				ok(t, come.Start())
				ok(t, second(mpi.Recv(c, []byte{}, 1, 1)))
				if tested(t, &come) {
					t.Fatal("there is a signal before the target has posted")
				}
				ok(t, s.Post(from, 0))
				ok(t, second(come.Wait()))
				ok(t, s.Window.Wait())
				if s.mem[0] != 7 {
					t.Errorf("%d is there behind the signal", s.mem[0])
				}
				ok(t, come.Start())
				ok(t, c.Barrier())
				if tested(t, &come) {
					t.Error("there was a second signal")
				}
				ok(t, come.Free())
				return
			}
			if me == 1 {
				to, err := group.Incl([]int{0})
				ok(t, err)
				ok(t, s.Start(to, 0))
				ok(t, s.Put([]int64{7}, 0, s.at(0, 0)))
				q := startedSync(t, s.SyncOpsInit(0, mpi.ModeWinPut, objects[0]))
				ok(t, q.Free())
				ok(t, mpi.Send(c, []byte{}, 0, 1))
				ok(t, s.Complete())
			}
			ok(t, c.Barrier())
		})
	})
}
