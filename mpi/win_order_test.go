package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// orderedSpaces runs fn on an ordered window of every kind.
func orderedSpaces(t testing.TB, c *mpi.Comm, n int, info *mpi.Info, fn func(t testing.TB, s *space[int64])) {
	t.Helper()
	for _, kind := range spaceKinds {
		l := labelled{t, kind}
		s := newSpace[int64](l, c, kind, n, info)
		if s == nil {
			continue
		}
		i, err := s.Info()
		ok(t, err)
		if v, _ := i.Get("mpi_win_order"); v != "true" { // Info returns it
			l.Errorf("mpi_win_order is %q", v)
		}
		ok(t, s.LockAll(0))
		fn(l, s)
		ok(t, s.UnlockAll())
		ok(t, c.Barrier())
		s.free(l, c)
	}
}

// watch polls the flag in this rank's memory, element 0, until it is k, and checks the elements
// that it announces: element i is i.
func watch(t testing.TB, s *space[int64], self, k int) {
	t.Helper()
	var seen int64
	for checked := 1; checked <= k && !t.Failed(); { // a rank that fails stops raising the flag
		ok(t, s.FetchAndOp(nil, &seen, self, s.at(self, 0), mpi.NoOp))
		ok(t, s.FlushLocal(self))
		for ; checked <= int(seen); checked++ {
			if s.mem[checked] != int64(checked) {
				t.Fatalf("the flag is %d, and element %d still %d", seen, checked, s.mem[checked])
			}
		}
	}
}

// QV-07, QV-10, QV-11, QV-13, QV-41: data, then a flag, repeatedly and without any flush: a rank
// that sees the flag sees the data, whether put, accumulate or fetch-and-op moves them, short or
// long.
func TestQV07_FlagsStayBehindData(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		most := rounds(20_000)
		if !testing.Short() && rounds(10) == 10 {
			most = 1_000_000
		}
		orderedSpaces(t, c, most+1, pairs(t, "mpi_win_order", "true"), func(t testing.TB, s *space[int64]) {
			k := most
			if s.kind != "allocate" {
				k = min(k, 60_000) // the other kinds differ only in how the memory was exposed
			}
			if c.Rank() == 1 {
				watch(t, s, 1, k)
				return
			}
			data, one, sum := make([]int64, k+1), int64(1), make([]int64, 1)
			var olds [2]int64
			for i := range data {
				data[i] = int64(i)
			}
			for i := 1; i <= k; {
				n := 1
				switch at := s.at(1, i); i % 5 {
				case 0:
					ok(t, s.Accumulate(data[i:i+1], 1, at, mpi.Sum))
				case 1:
					ok(t, s.FetchAndOp(&data[i], &olds[0], 1, at, mpi.Replace))
				case 2:
					ok(t, s.CompareAndSwap(&data[i], &data[0], &olds[1], 1, at))
				default:
					if i%25_000 == 3 {
						n = min(5000, k-i+1)
					}
					ok(t, s.Put(data[i:i+n], 1, at))
				}
				i += n
				sum[0] = int64(n)
				if n > 1 {
					ok(t, s.Accumulate(sum, 1, s.at(1, 0), mpi.Sum))
					ok(t, s.Flush(1)) // sum is reused
				} else {
					ok(t, s.Accumulate([]int64{one}, 1, s.at(1, 0), mpi.Sum))
				}
			}
		})
	})
}

// QV-07: if only some of a target's memory is mapped, operations on it stay after those that go
// to the rest as frames: a rank that sees the flag, in memory of AllocMem, sees the data, in the
// Go heap.
func TestQV07_MappedMemoryStaysBehindFrames(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		s := newSpace[int64](t, c, "dynamic", 1, pairs(t, "mpi_win_order", "true"))
		if s == nil {
			return
		}
		flag, err := mpi.AllocMem[int64](c, 1)
		ok(t, err)
		ok(t, mpi.Attach(s.Window, flag))
		flags, err := mpi.AllgatherOne(c, mpi.Address(flag))
		ok(t, err)
		flagAt := int(flags[1])
		ok(t, s.LockAll(0))
		k := int64(rounds(20_000))
		if c.Rank() == 0 {
			store := s.Put
			if testrun.Race { // the race detector would report a put that others poll for as a race
				store = func(x []int64, to, at int) error { return s.Accumulate(x, to, at, mpi.Replace) }
			}
			ok(t, store([]int64{0}, 1, flagAt)) // so that the origin finds the region
			for i := int64(1); i <= k; i++ {
				ok(t, store([]int64{i}, 1, s.at(1, 0)))
				ok(t, store([]int64{i}, 1, flagAt))
				if i%64 == 0 {
					ok(t, s.Flush(1))
				}
			}
		} else {
			var seen, data int64
			for seen < k && !t.Failed() {
				ok(t, s.FetchAndOp(nil, &seen, 1, flagAt, mpi.NoOp))
				ok(t, s.FetchAndOp(nil, &data, 1, s.at(1, 0), mpi.NoOp))
				ok(t, s.FlushLocal(1))
				if data < seen {
					t.Errorf("the flag is %d, and the data are still %d", seen, data)
				}
			}
		}
		ok(t, s.UnlockAll())
		ok(t, c.Barrier())
		ok(t, mpi.Detach(s.Window, flag))
		ok(t, mpi.FreeMem(c, flag))
		s.free(t, c)
	})
}

// QV-08, E3-15: one location after another, also of the rank itself: a get after a put reads the
// data of the put, a get before it does not; the same with accumulates, and with a long get.
func TestQV08_GetsAndPutsInOrder(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const size = 100_000
		orderedSpaces(t, c, c.Size()*size, pairs(t, "mpi_win_order", "true"), func(t testing.TB, s *space[int64]) {
			own := c.Rank() * size
			for target := range c.Size() {
				at, k := s.at(target, own), rounds(100)
				a, b, z := make([]int64, k), make([]int64, k), make([]int64, k)
				for i := range k {
					ok(t, s.Put([]int64{int64(i + 1)}, target, at))
					ok(t, s.Get(a[i:i+1], target, at))
					ok(t, s.Accumulate([]int64{1000}, target, at, mpi.Sum))
					ok(t, s.Get(b[i:i+1], target, at))
					ok(t, s.Put([]int64{-1}, target, at))
					ok(t, s.GetAccumulate(nil, z[i:i+1], target, at, mpi.NoOp))
				}
				long := make([]int64, size)
				ok(t, s.Get(long, target, at))
				ok(t, s.Put([]int64{5}, target, s.at(target, own+size-1)))
				ok(t, s.Flush(target))
				for i := range k {
					if a[i] != int64(i+1) || b[i] != int64(i+1001) || z[i] != -1 {
						t.Fatalf("rank %d: got %d, %d and %d in round %d", target, a[i], b[i], z[i], i)
					}
				}
				if long[0] != -1 || long[size-1] != 0 {
					t.Errorf("rank %d: a long get has read %d and %d", target, long[0], long[size-1])
				}
			}
		})
	})
}

// QV-09: with process scope the order is that in which the goroutines issue operations one after
// the other; with thread scope each duplicate has its own order.
func TestQV09_OrderAcrossGoroutines(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		k := rounds(5000)
		orderedSpaces(t, c, k+1, pairs(t, "mpi_win_order", "true"), func(t testing.TB, s *space[int64]) {
			if c.Rank() == 1 {
				watch(t, s, 1, k)
				return
			}
			data := make(chan int)
			done := make(chan error)
			go func() {
				for i := range data {
					done <- s.Put([]int64{int64(i)}, 1, s.at(1, i))
				}
			}()
			for i := 1; i <= k; i++ {
				data <- i
				ok(t, <-done)
				ok(t, s.Accumulate([]int64{1}, 1, s.at(1, 0), mpi.Sum))
			}
			close(data)
		})
		info := pairs(t, "mpi_win_order", "true", "mpi_win_scope", "thread")
		orderedSpaces(t, c, k+1, info, func(t testing.TB, s *space[int64]) {
			if c.Rank() == 1 {
				watch(t, s, 1, k)
				return
			}
			for i := 1; i <= k; i++ {
				ok(t, s.Put([]int64{int64(i)}, 1, s.at(1, i)))
				ok(t, s.Accumulate([]int64{1}, 1, s.at(1, 0), mpi.Sum))
			}
		})
	})
}

// QV-14: on a window without order, Order is needed where a flag has to stay after data, and
// Flush is not; Order is allowed where Flush is.
func TestQV14_Order(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		k := rounds(2000)
		onSpaces(t, c, k+1, func(t testing.TB, s *space[int64]) {
			wantClass(t, s.Order(0), mpi.ErrRMASync)
			wantClass(t, s.OrderAll(), mpi.ErrRMASync)
			ok(t, s.LockAll(0))
			wantClass(t, s.Order(2), mpi.ErrRank)
			ok(t, s.Order(mpi.ProcNull))
			if c.Rank() == 1 {
				watch(t, s, 1, k)
			} else {
				was := make([]int64, 3*(k/100+1)) // until the flush it belongs to the gets
				for i := 1; i <= k; i++ {
					ok(t, s.Put([]int64{int64(i)}, 1, s.at(1, i)))
					if i%100 == 0 {
						ok(t, s.Order(1)) // after the last accumulate, too
						ok(t, s.Get(was[i/100*3:][:3], 1, s.at(1, 0)))
					}
					if i%3 == 0 {
						ok(t, s.OrderAll())
					} else {
						ok(t, s.Order(1))
					}
					ok(t, s.Accumulate([]int64{1}, 1, s.at(1, 0), mpi.Sum))
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
		})
	})
}

// QV-14: operations after an ordering point find those before it done, and their results
// persist, whatever paths the two take: accumulates by frames and puts by the kernel, long ones
// and remote-completing ones that overtake them, and gets that are answered in parts.
func TestQV14_NothingPassesAnOrder(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const size = 60_000
		right := (c.Rank() + 1) % c.Size()
		onSpaces(t, c, size, func(t testing.TB, s *space[int64]) {
			data, last, got := make([]int64, size), make([]int64, 1), make([]int64, size)
			at := s.at(right, 0)
			ok(t, s.LockAll(0))
			for round := range int64(rounds(30)) {
				for i := range data {
					data[i] = 10 * round
				}
				ok(t, s.Accumulate(data, right, at, mpi.Replace))
				ok(t, s.Order(right))
				ok(t, s.Put(data[:1], right, s.at(right, size-1)))
				ok(t, s.OrderAll())
				last[0] = 10*round + 1
				q := s.Rrput(last, right, s.at(right, size-1))
				ok(t, second(q.Wait()))
				ok(t, s.Get(got, right, at))
				ok(t, s.Order(right))
				later := []int64{-1}
				ok(t, s.Put(later, right, s.at(right, size-2)))
				ok(t, s.Flush(right))
				if got[0] != 10*round || got[size-2] != 10*round || got[size-1] != 10*round+1 {
					t.Fatalf("round %d: got %d, %d and %d", round, got[0], got[size-2], got[size-1])
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
		})
	})
}
