package mpi_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// syncs makes a synchronisation object in each rank, and returns those of all ranks.
func syncs(t testing.TB, c *mpi.Comm, w *mpi.Window) []mpi.Sync {
	t.Helper()
	mine, err := w.AllocSyncObjects(1, nil)
	ok(t, err)
	all := make([]mpi.Sync, c.Size())
	ok(t, mpi.Allgather(c, mine, all))
	return all
}

// startedSync starts a request that was made without an error.
func startedSync(t testing.TB, q mpi.Request) *mpi.Request {
	t.Helper()
	ok(t, q.Start())
	return &q
}

// ended waits for a request and frees it.
func ended(t testing.TB, q *mpi.Request) {
	t.Helper()
	_, err := q.Wait()
	ok(t, err)
	ok(t, q.Free())
}

// tested reports whether a request is complete.
func tested(t testing.TB, q *mpi.Request) bool {
	t.Helper()
	_, done, err := q.Test()
	ok(t, err)
	return done
}

// Three origins put and signal. The target's request is complete exactly when all have
// signalled, and then all data is there (SYN-02, SYN-03, SYN-14, SYN-26). The origin may reuse
// its memory when its request is complete, and the next round begins when the target has
// signalled that it has read the data (SYN-19, E0-15).
func TestSYN01_SYN14_SignalsFollowThePuts(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		const each = 20_000
		onSpaces(t, c, each*(n-1), func(t testing.TB, s *space[int64]) {
			all := syncs(t, c, s.Window)
			ok(t, s.LockAll(mpi.ModeNoCheck))
			if me == 0 {
				come := s.SyncObjectInit(all[0], n-1)
				var free []mpi.Request
				for r := 1; r < n; r++ {
					free = append(free, s.SyncOpsInit(r, 0, all[r]))
				}
				for round := range rounds(10) {
					ok(t, come.Start())
					_, err := come.Wait()
					ok(t, err)
					for i, v := range s.mem {
						if v != int64(round*len(s.mem)+i) {
							t.Fatalf("round %d: element %d is %d", round, i, v)
						}
					}
					clear(s.mem)
					ok(t, mpi.Startall(free))
				}
				ok(t, mpi.Waitall(free, nil))
				for i := range free {
					ok(t, free[i].Free())
				}
				ok(t, come.Free())
			} else {
				free := s.SyncObjectInit(all[me], 1)
				put := s.SyncOpsInit(0, mpi.ModeWinPut, all[0])
				mem := make([]int64, each)
				for round := range rounds(10) {
					at := (me - 1) * each
					for i := range mem {
						mem[i] = int64(round*each*(n-1) + at + i)
					}
					ok(t, put.Start())
					ok(t, free.Start())
					ok(t, s.Put(mem[:each/2], 0, s.at(0, at)))
					ok(t, s.Put(mem[each/2:], 0, s.at(0, at+each/2)))
					_, err := put.Wait()
					ok(t, err)
					clear(mem)
					_, err = free.Wait()
					ok(t, err)
				}
				ok(t, put.Free())
				ok(t, free.Free())
			}
			ok(t, s.UnlockAll())
			ok(t, s.FreeSyncObjects(all[me:me+1]))
		})
	})
}

// The data of gets is there when the origin's request is complete, and the target may change its
// memory when it is signalled (SYN-26, E0-15); also with gets of many frames.
func TestSYN26_GetsAreReadBeforeTheSignal(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		const each = 30_000
		onSpaces(t, c, each, func(t testing.TB, s *space[int64]) {
			all := syncs(t, c, s.Window)
			ok(t, s.LockAll(mpi.ModeNoCheck))
			read := startedSync(t, s.SyncObjectInit(all[me], n-1))
			for i := range s.mem {
				s.mem[i] = int64(me*each + i)
			}
			ok(t, c.Barrier())
			got := make([][]int64, n)
			for r := range n {
				if r != me {
					got[r] = make([]int64, each)
					ok(t, s.Get(got[r], r, s.at(r, 0)))
					ok(t, s.Signal(r, mpi.ModeWinGet, all[r]))
				}
			}
			ended(t, read)
			clear(s.mem)
			for r, list := range got {
				for i, v := range list {
					if v != int64(r*each+i) {
						t.Fatalf("element %d of rank %d is %d", i, r, v)
					}
				}
			}
			ok(t, s.UnlockAll())
		})
	})
}

// Signals cover accumulates of all kinds, with results and without: the sums are complete when
// the target is signalled (SYN-17, SYN-39).
func TestSYN17_SYN39_AccumulatesOfAllKinds(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			all := syncs(t, c, s.Window)
			ok(t, s.LockAll(mpi.ModeNoCheck))
			come := startedSync(t, s.SyncObjectInit(all[me], 3*n))
			ok(t, c.Barrier())
			one, was := int64(1), [3]int64{}
			for _, mode := range []mpi.SyncMode{mpi.ModeWinAccumulate, mpi.ModeWinGet, mpi.ModeWinAll} {
				for r := range n {
					ok(t, s.FetchAndOp(&one, &was[0], r, s.at(r, 0), mpi.Sum))
					ok(t, s.GetAccumulate([]int64{1}, was[1:2], r, s.at(r, 1), mpi.Sum))
					ok(t, s.CompareAndSwap(&one, new(int64), &was[2], r, s.at(r, 2)))
					if mode&mpi.ModeWinAccumulate != 0 {
						ok(t, s.Accumulate([]int64{1}, r, s.at(r, 3), mpi.Sum))
					}
					ok(t, s.Signal(r, mode, all[r]))
				}
			}
			ended(t, come)
			if want := []int64{int64(3 * n), int64(3 * n), 1, int64(2 * n)}; !slices.Equal(s.mem, want) {
				t.Fatalf("%v, want %v", s.mem, want)
			}
			ok(t, s.UnlockAll())
		})
	})
}

// A request of an object is complete after count signals, not before (SYN-15, SYN-24), and is
// inactive until it is started (SYN-13). Its status has no meaning (SYN-28).
func TestSYN15_SYN24_CompleteAfterCountSignals(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		all := syncs(t, c, w.Window)
		const count = 4
		if c.Rank() == 0 {
			come := w.SyncObjectInit(all[0], count)
			st, err := come.Wait()
			ok(t, err)
			wantEmpty(t, st)
			for range 3 {
				ok(t, come.Start())
				for i := range count {
					if tested(t, &come) {
						t.Fatalf("complete after %d signals", i)
					}
					ok(t, mpi.Send(c, []byte{}, 1, 0))
					ok(t, second(mpi.Recv(c, []byte{}, 1, 0)))
				}
				_, err = come.Wait()
				ok(t, err)
			}
			ok(t, come.Free())
		} else {
			for range 3 * count {
				ok(t, second(mpi.Recv(c, []byte{}, 0, 0)))
				ok(t, w.Signal(0, 0, all[0]))
				ok(t, mpi.Send(c, []byte{}, 0, 0))
			}
		}
		ok(t, w.Free())
	})
}

// A request waits only for operations of the selected kinds (SYN-18): a get waits for the
// target's post, but a request for puts does not wait for the get. Nor do notifications
// (SYN-19), while a request for gets is complete after the target has posted (SYN-20).
func TestSYN18_SYN19_OnlySelectedKinds(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me := c.Rank()
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			all := syncs(t, c, s.Window)
			group, err := s.Group()
			ok(t, err)
			zero, err := group.Incl([]int{0})
			ok(t, err)
			one, err := group.Incl([]int{1})
			ok(t, err)
			switch me {
			case 0:
				come := startedSync(t, s.SyncObjectInit(all[0], 2))
				s.mem[0] = 5
				ended(t, come)
				come = startedSync(t, s.SyncObjectInit(all[0], 1))
				if tested(t, come) {
					t.Fatal("the signal behind the get is there before the post")
				}
				ok(t, s.Post(one, 0))
				ended(t, come)
				ok(t, s.Window.Wait())
			case 1:
				got := []int64{0}
				ok(t, s.Start(zero, 0))
				ok(t, s.Get(got, 0, s.at(0, 0)))
				ok(t, s.Signal(0, mpi.ModeWinPut|mpi.ModeWinAccumulate, all[0]))
				gets := startedSync(t, s.SyncOpsInit(0, mpi.ModeWinGet, all[0]))
				ok(t, s.Signal(0, 0, all[0]))
				ended(t, gets)
				if got[0] != 5 {
					t.Fatalf("got %d", got[0])
				}
				ok(t, s.Complete())
			}
			ok(t, c.Barrier())
		})
	})
}

// A request covers operations before and after Start, the next request those issued since
// (SYN-20, E0-12), and requests for other kinds are independent.
func TestSYN20_BeforeAndAfterStart(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		onSpaces(t, c, 3*n, func(t testing.TB, s *space[int64]) {
			all := syncs(t, c, s.Window)
			ok(t, s.LockAll(mpi.ModeNoCheck))
			come := s.SyncObjectInit(all[me], 1)
			to, from := (me+1)%n, (me+n-1)%n
			puts := s.SyncOpsInit(to, mpi.ModeWinPut, all[to])
			others := syncs(t, c, s.Window)
			added := s.SyncObjectInit(others[me], 1)
			adds := s.SyncOpsInit(to, mpi.ModeWinAccumulate, others[to])
			for round := range int64(rounds(20)) {
				ok(t, s.Put([]int64{round + 1}, to, s.at(to, 3*me)))
				ok(t, puts.Start())
				ok(t, adds.Start())
				ok(t, s.Put([]int64{round + 2}, to, s.at(to, 3*me+1)))
				ok(t, come.Start())
				_, err := puts.Wait()
				ok(t, err)
				_, err = come.Wait()
				ok(t, err)
				if got := s.mem[3*from:][:2]; got[0] != round+1 || got[1] != round+2 {
					t.Fatalf("round %d: %v after the puts", round, got)
				}
				ok(t, s.Accumulate([]int64{1}, to, s.at(to, 3*me+2), mpi.Sum))
				ok(t, added.Start())
				_, err = adds.Wait()
				ok(t, err)
				_, err = added.Wait()
				ok(t, err)
				if got := s.mem[3*from+2]; got != round+1 {
					t.Fatalf("round %d: %d after the accumulates", round, got)
				}
				ok(t, c.Barrier())
			}
			ok(t, s.UnlockAll())
		})
	})
}

// A process synchronises with itself by its own handle (SYN-22), 100,000 times, and the counts
// remain exact (SYN-25): after that each signal still completes exactly one request.
func TestSYN22_SYN25_WithItselfAgainAndAgain(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		mine, err := w.AllocSyncObjects(1, nil)
		ok(t, err)
		me := c.Rank()
		come := w.SyncObjectInit(mine[0], 2)
		puts := w.SyncOpsInit(me, mpi.ModeWinPut, mine[0])
		free := w.SyncOpsInit(me, 0, mine[0])
		ok(t, w.LockAll(mpi.ModeNoCheck))
		cycle := func(i int64) {
			ok(t, puts.Start())
			ok(t, come.Start())
			ok(t, w.Put([]int64{i}, me, 0))
			ok(t, free.Start())
			_, err := puts.Wait()
			ok(t, err)
			_, err = come.Wait()
			ok(t, err)
			if w.Local()[0] != i {
				t.Fatalf("cycle %d: %d", i, w.Local()[0])
			}
		}
		for i := range int64(rounds(100_000)) {
			cycle(i)
		}
		ok(t, come.Start())
		ok(t, free.Start())
		if tested(t, &come) {
			t.Fatal("complete after one signal of two")
		}
		ok(t, puts.Start())
		ok(t, mpi.Waitall([]mpi.Request{puts, free, come}, nil))
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}

// Two processes signal each other alternately, many times (SYN-25), and sleep while they wait.
func TestSYN25_BackAndForth(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		all := syncs(t, c, w.Window)
		me, peer := c.Rank(), c.Rank()^1
		come := w.SyncObjectInit(all[me], 1)
		go_ := w.SyncOpsInit(peer, 0, all[peer])
		for range rounds(5_000) {
			if me > peer {
				ok(t, go_.Start())
			}
			ok(t, come.Start())
			_, err := come.Wait()
			ok(t, err)
			if me < peer {
				ok(t, go_.Start())
			}
		}
		ok(t, w.Free())
	})
}

// 64 origins signal at the same time, repeatedly, and no signal is lost (SYN-21).
func TestSYN21_SixtyFourSignalAtOnce(t *testing.T) {
	const origins = 64
	mpitest.Run(t, origins+1, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		mine := make([]mpi.Sync, 1)
		if c.Rank() == 0 {
			mine, err = w.AllocSyncObjects(1, nil)
			ok(t, err)
		}
		ok(t, mpi.Bcast(c, mine, 0))
		const each = 20
		if c.Rank() == 0 {
			come := startedSync(t, w.SyncObjectInit(mine[0], origins*each))
			ended(t, come)
			come = startedSync(t, w.SyncObjectInit(mine[0], 1))
			if tested(t, come) {
				t.Fatal("there was a signal more")
			}
			ok(t, w.Signal(0, 0, mine[0]))
			ended(t, come)
		} else {
			for range each {
				ok(t, w.Signal(0, 0, mine[0]))
			}
		}
		ok(t, w.Free())
	})
}
