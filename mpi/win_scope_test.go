package mpi_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// QV-02, QV-04, QV-05, E3-14: goroutines have duplicates of thread scope: each of the four
// flushes completes the operations on its own duplicate; unlock and fence complete all.
func TestQV04_ThreadScope(t *testing.T) {
	flushes := []func(w *mpi.Window, target int) error{(*mpi.Window).Flush, func(w *mpi.Window, _ int) error { return w.FlushAll() }}
	local := []func(w *mpi.Window, target int) error{(*mpi.Window).FlushLocal, func(w *mpi.Window, _ int) error { return w.FlushLocalAll() }}
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const workers, size = 4, 20_000
		k, n := rounds(10), c.Size()
		onSpaces(t, c, n*workers*size, func(t testing.TB, s *space[int32]) {
			ok(t, s.LockAll(0))
			var wg sync.WaitGroup
			var dups []mpi.Win[int32]
			for worker := range workers {
				d, err := s.Dup(pairs(t, "mpi_win_scope", "thread"))
				ok(t, err)
				dups = append(dups, d)
				wg.Go(func() {
					own := (c.Rank()*workers + worker) * size
					out, in := make([]int32, size), make([]int32, size)
					for i := range k {
						target, length := (worker+i)%n, size
						if worker > 0 {
							length = 1 + i*worker
						}
						for j := range out {
							out[j] = int32(worker*1000 + i + j)
						}
						at := s.at(target, own)
						err := d.Put(out[:length], target, at)
						if err == nil {
							err = flushes[i%2](d.Window, target)
						}
						if err == nil {
							err = d.Get(in[:length], target, at)
						}
						if err == nil {
							err = local[i%2](d.Window, target)
						}
						if err != nil {
							t.Error(err)
							return
						}
						if !slices.Equal(in[:length], out[:length]) {
							t.Errorf("worker %d: what was put did not come back", worker)
							return
						}
					}
				})
			}
			wg.Wait()
			// The end of the epoch completes operations that were not flushed.
			right := (c.Rank() + 1) % n
			for worker, d := range dups {
				ok(t, d.Put(slices.Repeat([]int32{int32(worker + 1)}, size), right, s.at(right, (c.Rank()*workers+worker)*size)))
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			left := (c.Rank() + n - 1) % n
			check := func(plus int32) {
				for worker := range workers {
					part := s.mem[(left*workers+worker)*size:][:size]
					if part[0] != int32(worker+1)+plus || part[size-1] != part[0] {
						t.Errorf("of worker %d there is %d and %d", worker, part[0], part[size-1])
					}
				}
			}
			check(0)
			ok(t, s.Fence(0))
			for worker, d := range dups {
				ok(t, d.Put(slices.Repeat([]int32{int32(worker + 101)}, size), right, s.at(right, (c.Rank()*workers+worker)*size)))
			}
			ok(t, s.Fence(0))
			check(100)
			ok(t, c.Barrier()) // before the end of the epoch
			for _, d := range dups {
				ok(t, d.Free())
			}
		})
	})
}

// QV-05, RS-02: the end of an access epoch comes after the puts on views of thread scope, also
// after a short one that was held back to be coalesced.
func TestQV05_CompleteComesAfterThreadScope(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		n := c.Size()
		right, left := (c.Rank()+1)%n, (c.Rank()+n-1)%n
		all, err := c.Group()
		ok(t, err)
		to, err := all.Incl([]int{right})
		ok(t, err)
		from, err := all.Incl([]int{left})
		ok(t, err)
		onSpaces(t, c, 4, func(t testing.TB, s *space[int32]) {
			d, err := s.Dup(pairs(t, "mpi_win_scope", "thread"))
			ok(t, err)
			for i := range int32(rounds(50)) {
				ok(t, s.Post(from, 0))
				ok(t, s.Start(to, 0))
				ok(t, d.Put([]int32{i + 1}, right, s.at(right, 1)))
				ok(t, s.Complete())
				ok(t, s.Wait())
				if s.mem[1] != i+1 {
					t.Fatalf("epoch %d is over and %d was put", i+1, s.mem[1])
				}
			}
			ok(t, d.Free())
		})
	})
}
