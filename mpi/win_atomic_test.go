package mpi_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
)

// rounds is the number of updates in tests of atomicity: fewer under the race detector and in
// checking mode.
func rounds(n int) int {
	if testrun.Race || os.Getenv("HALO_CHECK") == "1" { // in checking mode each access asks its target
		return n / 10
	}
	return n
}

// All ranks repeatedly add 1 to one number and to every element of vectors: no update is lost,
// on any path.
func TestRC03_AccumulateIsAtomic(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const width = 300
		k := rounds(1000)
		onSpaces(t, c, width, func(t testing.TB, s *space[int64]) {
			ones := slices.Repeat([]int64{1}, width)
			target := 1 % c.Size()
			ok(t, s.LockAll(0))
			for i := range k {
				ok(t, s.Accumulate(ones[:1], target, s.at(target, 3), mpi.Sum))
				if i%10 == 0 {
					ok(t, s.Accumulate(ones, target, s.at(target, 0), mpi.Sum))
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			for i, v := range s.mem {
				want := int64(0)
				if c.Rank() == target {
					want = int64((k + 9) / 10 * c.Size())
					if i == 3 {
						want += int64(k * c.Size())
					}
				}
				if v != want {
					t.Fatalf("element %d is %d, want %d", i, v, want)
				}
			}
		})
	})
}

// E4-02: accumulates of one element by different operations, and as elements of different types of one size, are
// atomic: half of the ranks add to the lower bits, the others flip the upper one.
func TestE402_DifferentOperationsAreAtomic(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(1000)
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			one, top := []int64{1}, []uint64{1 << 63}
			ok(t, s.LockAll(0))
			for range k {
				if c.Rank()%2 == 0 {
					ok(t, s.Accumulate(one, 0, s.at(0, 0), mpi.Sum))
				} else {
					ok(t, mpi.Accumulate(s.Window, top, 0, s.at(0, 0), mpi.Bxor))
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			want := int64(k) * int64((c.Size()+1)/2)
			if k*(c.Size()/2)%2 != 0 {
				want |= -1 << 63
			}
			if c.Rank() == 0 && s.mem[0] != want {
				t.Errorf("%#x, want %#x", s.mem[0], want)
			}
		})
	})
}

// The values that fetch and add returns are all different, and ascending at each rank: by
// GetAccumulate (RC-04) and FetchAndOp (RC-05).
func TestRC04_RC05_FetchedValuesAreAPermutation(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(500)
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			one, got := int64(1), make([]int64, k)
			ok(t, s.LockAll(0))
			for i := range got {
				if i%2 == 0 {
					ok(t, s.FetchAndOp(&one, &got[i], 0, s.at(0, 0), mpi.Sum))
				} else {
					ok(t, s.GetAccumulate([]int64{1}, got[i:i+1], 0, s.at(0, 0), mpi.Sum))
				}
				if i%7 == 0 {
					ok(t, s.FlushLocal(0))
				}
			}
			ok(t, s.UnlockAll())
			if !slices.IsSorted(got) {
				t.Errorf("values of one rank are not in order: %v", got)
			}
			all := make([]int64, k*c.Size())
			ok(t, mpi.Allgather(c, got, all))
			slices.Sort(all)
			for i, v := range all {
				if v != int64(i) {
					t.Fatalf("value %d is %d: one was given twice, or lost", i, v)
				}
			}
		})
	})
}

// NoOp reads and Replace swaps atomically (RC-16): values that are passed around by swapping
// each remain present once, and a pair of halves is never torn.
func TestRC05_RC16_NoOpAndReplace(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(300)
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			mine := int64(c.Rank() + 1)
			ok(t, s.LockAll(0))
			for range k {
				given := mine
				ok(t, s.FetchAndOp(&given, &mine, 0, s.at(0, 0), mpi.Replace))
				seen := int64(-1)
				ok(t, s.FetchAndOp(nil, &seen, 0, s.at(0, 0), mpi.NoOp))
				ok(t, s.FlushLocal(0))
				if seen < 0 || seen > int64(c.Size()) {
					t.Fatalf("read %d", seen)
				}
			}
			ok(t, s.UnlockAll())
			all, err := mpi.AllgatherOne(c, mine)
			ok(t, err)
			left, err := mpi.BcastOne(c, s.mem[0], 0)
			ok(t, err)
			all = append(all, left)
			slices.Sort(all)
			for i, v := range all {
				if v != int64(i) {
					t.Fatalf("tokens are now %v", all)
				}
			}
		})
	})
}

// A lock made with CompareAndSwap excludes other ranks from updates without atomics.
func TestRC06_SpinLock(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(100)
		onSpaces(t, c, 2, func(t testing.TB, s *space[int32]) {
			free, held, was := int32(0), int32(1), int32(0)
			ok(t, s.LockAll(0))
			for range k {
				for {
					ok(t, s.CompareAndSwap(&held, &free, &was, 0, s.at(0, 0)))
					ok(t, s.Flush(0))
					if was == free {
						break
					}
				}
				n := []int32{0}
				ok(t, s.Get(n, 0, s.at(0, 1)))
				ok(t, s.Flush(0))
				n[0]++
				ok(t, s.Put(n, 0, s.at(0, 1)))
				ok(t, s.Flush(0))
				ok(t, s.FetchAndOp(&free, &was, 0, s.at(0, 0), mpi.Replace))
				ok(t, s.Flush(0))
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			if c.Rank() == 0 && (s.mem[0] != 0 || s.mem[1] != int32(k*c.Size())) {
				t.Errorf("lock %d, count %d, want 0 and %d", s.mem[0], s.mem[1], k*c.Size())
			}
		})
	})
}

// CompareAndSwap is defined on booleans, integers of every size, and bytes; other numbers are
// refused.
func TestRC06_TypesOfCompareAndSwap(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		swaps(t, c, false, true)
		swaps[int8](t, c, -5, 5)
		swaps[int16](t, c, -300, 7)
		swaps[int32](t, c, -1, 1<<30)
		swaps[int64](t, c, 1<<62, -1)
		swaps[uint8](t, c, 255, 0)
		swaps[uint16](t, c, 65535, 1)
		swaps[uint32](t, c, 1<<31, 3)
		swaps[uint](t, c, 1<<63, 3)
		w, err := mpi.WinAllocate[float64](c, 1)
		ok(t, err)
		x := 0.0
		ok(t, w.LockAll(0))
		wantText(t, w.CompareAndSwap(&x, &x, &x, 0, 0), mpi.ErrType, "MPI_DOUBLE")
		for name, fits := range map[string]bool{"MPI_INTEGER": true, "MPI_LOGICAL": true, "MPI_AINT": true, "MPI_BYTE": true, "MPI_INTEGER16": true,
			"MPI_REAL": false, "MPI_C_DOUBLE_COMPLEX": false, "MPI_CHAR": true, "MPI_CHARACTER": false, "MPI_2INT": false, "MPI_WCHAR": false} {
			d := typ(t)(mpi.Predefined(name))
			b := mpi.BufOf(make([]int64, 2), 1, d)
			own := mpi.BufOf(make([]int64, 2), 1, d)
			if w, err := c.Self().WinAllocate(64, 1); err != nil {
				t.Error(err)
			} else {
				ok(t, w.LockAll(0))
				if err := w.Untyped().CompareAndSwap(b, b, own, 0, 0); (err == nil) != fits {
					t.Errorf("%s: %v", name, err)
				} else if err != nil {
					wantClass(t, err, mpi.ErrType)
				}
				ok(t, w.UnlockAll())
				ok(t, w.Free())
			}
		}
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}

// swaps has all ranks swap a to b in each round, of which exactly one wins. Adjacent elements
// must not change.
func swaps[T interface {
	comparable
	mpi.Elem
}](t testing.TB, c *mpi.Comm, a, b T) {
	t.Helper()
	onSpaces(t, c, 3, func(t testing.TB, s *space[T]) {
		s.mem[0], s.mem[1], s.mem[2] = b, a, b
		ok(t, c.Barrier())
		ok(t, s.LockAll(0))
		var was, again T
		ok(t, s.CompareAndSwap(&b, &a, &was, 0, s.at(0, 1)))
		ok(t, s.Flush(0))
		ok(t, s.CompareAndSwap(&a, &a, &again, 0, s.at(0, 1))) // the element is b now
		ok(t, s.UnlockAll())
		won := int64(0)
		if was == a {
			won = 1
		} else if was != b {
			t.Errorf("fetched %v", was)
		}
		winners, err := mpi.AllreduceOne(c, won, mpi.Sum)
		ok(t, err)
		if winners != 1 || again != b {
			t.Errorf("%d ranks have swapped, a second swap finds %v", winners, again)
		}
		if c.Rank() == 0 && (s.mem[0] != b || s.mem[1] != b || s.mem[2] != b) {
			t.Errorf("memory %v, want %v three times", s.mem, b)
		}
		ok(t, c.Barrier())
	})
}

// Accumulate, GetAccumulate, FetchAndOp and CompareAndSwap, of one element and of many, by
// several goroutines of all ranks on the same words: every update counts once (RC-11, and RC-17
// for one against many).
func TestRC11_RC17_MixedUpdates(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const width, workers = 1000, 2
		k := rounds(200)
		onSpaces(t, c, width, func(t testing.TB, s *space[int64]) {
			ones := slices.Repeat([]int64{1}, width)
			var mu sync.Mutex
			added := make([]int64, width)
			ok(t, s.LockAll(0))
			var wg sync.WaitGroup
			for worker := range workers {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(c.Rank()), uint64(worker)))
					mine, room := make([]int64, width), make([]int64, width)
					for range k {
						lo := r.IntN(width)
						n := []int{1, 1, 5, width - lo}[r.IntN(4)]
						n = min(n, width-lo)
						one, old, next := int64(1), int64(0), int64(0)
						var err error
						switch r.IntN(4) {
						case 0:
							err = s.Accumulate(ones[:n], 0, s.at(0, lo), mpi.Sum)
						case 1:
							err = s.GetAccumulate(ones[:n], room[:n], 0, s.at(0, lo), mpi.Sum)
						case 2:
							n = 1
							err = s.FetchAndOp(&one, &old, 0, s.at(0, lo), mpi.Sum)
						case 3:
							n = 1
							for err == nil {
								next = old + 1
								seen := int64(-1)
								err = s.CompareAndSwap(&next, &old, &seen, 0, s.at(0, lo))
								if err == nil {
									err = s.FlushLocal(0)
								}
								if seen == old {
									break
								}
								old = seen
							}
						}
						if err == nil {
							err = s.FlushLocal(0)
						}
						if err != nil {
							t.Error(err)
							return
						}
						for i := range n {
							mine[lo+i]++
						}
					}
					mu.Lock()
					defer mu.Unlock()
					for i, v := range mine {
						added[i] += v
					}
				})
			}
			wg.Wait()
			ok(t, s.UnlockAll())
			ok(t, mpi.Allreduce(c, added, added, mpi.Sum))
			if c.Rank() == 0 && !slices.Equal(s.mem, added) {
				for i := range s.mem {
					if s.mem[i] != added[i] {
						t.Fatalf("element %d is %d, %d were added", i, s.mem[i], added[i])
					}
				}
			}
		})
	})
}

// Accumulates of one rank on one location are done in order, on every path.
func TestRW08_OrderOfAccumulates(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(1000)
		onSpaces(t, c, c.Size(), func(t testing.TB, s *space[int64]) {
			ok(t, s.LockAll(0))
			for r := range c.Size() {
				for i := range k {
					ok(t, s.Accumulate([]int64{int64(i)}, r, s.at(r, c.Rank()), mpi.Replace))
					if i%100 == 50 { // read after write
						v := int64(-1)
						ok(t, s.FetchAndOp(nil, &v, r, s.at(r, c.Rank()), mpi.NoOp))
						ok(t, s.FlushLocal(r))
						if v != int64(i) {
							t.Fatalf("after %d was stored %d is read", i, v)
						}
					}
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			for r, v := range s.mem {
				if v != int64(k-1) {
					t.Errorf("rank %d has left %d, want %d", r, v, k-1)
				}
			}
		})
	})
}

// The result of conflicting accesses, puts of several ranks and stores of the owner to the same
// place, is undefined there (RC-10, RC-12), but consists of bytes that were written, and
// adjacent memory does not change. Concurrent gets do not conflict, nor do concurrent
// accumulates.
func TestRC10_RC12_ConflictsStayWhereTheyAre(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it reports them, as it should")
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const n, lo, hi = 500, 13, 400
		onSpaces(t, c, n, func(t testing.TB, s *space[uint8]) {
			mine := slices.Repeat([]uint8{uint8(c.Rank() + 1)}, hi-lo)
			ok(t, s.LockAll(0))
			for i := range rounds(100) {
				at := lo + i%7
				ok(t, s.Put(mine[:hi-at], 0, s.at(0, at)))
				if c.Rank() == 0 {
					s.mem[lo+i%100] = 9
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			if c.Rank() != 0 {
				return
			}
			for i, v := range s.mem {
				if in := i >= lo && i < hi; in && (v == 0 || v > 4 && v != 9) || !in && v != 0 {
					t.Fatalf("byte %d is %d", i, v)
				}
			}
		})
	})
}
