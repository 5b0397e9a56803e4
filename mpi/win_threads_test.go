package mpi_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Many goroutines of each rank use one window at the same time: each has separate elements, and
// all add to a common one. Operations that one has flushed are complete, whatever the others
// have started.
func TestXRMA06_ManyGoroutinesOneWindow(t *testing.T) {
	const workers, each = 8, 40
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(40)
		n := c.Size()
		onSpaces(t, c, n*workers*each+1, func(t testing.TB, s *space[int64]) {
			common := n * workers * each
			ok(t, s.LockAll(0))
			var wg sync.WaitGroup
			for worker := range workers {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(c.Rank()), uint64(worker)))
					own := (c.Rank()*workers + worker) * each
					out, in := make([]int64, each), make([]int64, each)
					one, was := int64(1), int64(0)
					for range k {
						target := r.IntN(n)
						at, length := s.at(target, own), 1+r.IntN(each)
						for i := range length {
							out[i] = r.Int64()
						}
						var err error
						if r.IntN(2) == 0 {
							err = s.Put(out[:length], target, at)
						} else {
							q := s.Rput(out[:length], target, at)
							_, err = q.Wait()
						}
						if err == nil {
							err = s.FetchAndOp(&one, &was, target, s.at(target, common), mpi.Sum)
						}
						if err == nil {
							err = s.Flush(target)
						}
						if err == nil {
							err = s.Get(in[:length], target, at)
						}
						if err == nil {
							err = s.FlushLocal(target)
						}
						if err != nil {
							t.Error(err)
							return
						}
						for i := range length {
							if in[i] != out[i] {
								t.Errorf("worker %d: %d came back as %d", worker, out[i], in[i])
								return
							}
						}
					}
				})
			}
			wg.Wait()
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			total, err := mpi.AllreduceOne(c, s.mem[common], mpi.Sum)
			ok(t, err)
			if total != int64(n*workers*k) {
				t.Errorf("%d were added, want %d", total, n*workers*k)
			}
		})
	})
}

// Several goroutines lock different targets of one window, and several windows are made, used
// and freed at the same time.
func TestRS10_GoroutinesWithLocksOfTheirOwn(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		n := c.Size()
		k := rounds(50)
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			var wg sync.WaitGroup
			for target := range n {
				wg.Go(func() {
					for i := range k {
						typ := mpi.LockExclusive
						if i%3 == 0 {
							typ = mpi.LockShared
						}
						if err := s.Lock(typ, target, 0); err != nil {
							t.Error(err)
							return
						}
						if err := s.Accumulate([]int64{1}, target, s.at(target, 0), mpi.Sum); err != nil {
							t.Error(err)
						}
						if err := s.Unlock(target); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			ok(t, c.Barrier())
			if s.mem[0] != int64(n*k) {
				t.Errorf("%d were added, want %d", s.mem[0], n*k)
			}
		})
		var wg sync.WaitGroup
		for worker := range 4 {
			own, err := c.Dup()
			ok(t, err)
			wg.Go(func() {
				for i := range rounds(20) {
					w, err := mpi.WinAllocate[int64](own, 1+i)
					if err == nil {
						err = w.Fence(0)
					}
					if err == nil {
						err = w.Put([]int64{int64(worker*100 + i)}, (c.Rank()+1)%n, i)
					}
					if err == nil {
						err = w.Fence(0)
					}
					if err != nil {
						t.Error(err)
						return
					}
					if v := w.Local()[i]; v != int64(worker*100+i) {
						t.Errorf("worker %d: %d", worker, v)
					}
					if err := w.Free(); err != nil {
						t.Error(err)
						return
					}
				}
				if err := own.Free(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}
