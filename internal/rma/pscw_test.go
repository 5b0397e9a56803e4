package rma_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// RS-02, X-RMA-21: in each round every rank exposes its memory to a random set of ranks, which may
// be empty and contain itself, and puts to all that expose theirs to it; Post and Start come in any
// order. After Wait all puts have arrived.
func TestRS02_PostStartCompleteWait(t *testing.T) {
	each(t, 4, func(w *world.World) error {
		n, me := w.Comm.Size(), w.Comm.Rank
		return inKinds(w, int64(8*n), func(v *rma.View) error {
			for k := range uint64(scaled(300)) {
				// The same graph at all ranks: bit 4*target+origin.
				graph := k * 0x9e3779b97f4a7c15 >> 20
				edge := func(target, origin int) bool { return graph>>(4*target+origin)&1 != 0 }
				var origins, targets []int32
				for r := range n {
					if edge(me, r) {
						origins = append(origins, int32(r))
					}
					if edge(r, me) {
						targets = append(targets, int32(r))
					}
				}
				if graph>>30&1 != 0 {
					slices.Reverse(origins)
				}
				post := func() error { return v.Post(origins, 0) }
				start := func() error {
					if err := v.Start(targets, 0); err != nil {
						return err
					}
					for _, r := range targets {
						if err := v.PutBytes(word(k), int(r), int64(8*me)); err != nil {
							return err
						}
					}
					return nil
				}
				var err error
				if (graph>>32+uint64(me))%2 == 0 {
					err = first(post, start, v.Complete, v.Wait)
				} else {
					err = first(start, post, v.Complete, v.Wait)
				}
				if err != nil {
					return fmt.Errorf("round %d: %w", k, err)
				}
				for _, r := range origins {
					if got := number(slot(v.Local(), int(r))); got != k {
						return fmt.Errorf("round %d: rank %d has put %d", k, r, got)
					}
				}
			}
			return nil
		})
	})
}

// X-RMA-17: starting calls are local: Start and Put return before the target posts, and nothing
// arrives before the post. The target changes its memory meanwhile.
func TestXRMA17_NothingArrivesBeforeThePost(t *testing.T) {
	each(t, 3, func(w *world.World) error {
		me := w.Comm.Rank
		return inKinds(w, 64, func(v *rma.View) error {
			for k := range uint64(scaled(60)) {
				if me > 0 {
					if err := v.Start([]int32{0}, 0); err != nil {
						return err
					}
					if err := v.PutBytes(word(k+1), 0, int64(8*me)); err != nil {
						return err
					}
				}
				// All origins have started and put when the target is here.
				if err := barrier(w); err != nil {
					return err
				}
				if me == 0 {
					for range 50 {
						for i := range 8 {
							if got := number(slot(v.Local(), i)); got&(1<<63) == 0 && k > 0 {
								return fmt.Errorf("round %d: %d has arrived before the post", k, got)
							}
							copy(slot(v.Local(), i), word(1<<63|k))
						}
						w.Proc.Lock()
						w.Proc.Progress(-1)
						w.Proc.Unlock()
						runtime.Gosched()
						if k == 0 {
							break
						}
					}
					if err := first(func() error { return v.Post([]int32{1, 2}, 0) }, v.Wait); err != nil {
						return err
					}
					for r := 1; r < 3; r++ {
						if got := number(slot(v.Local(), r)); got != k+1 {
							return fmt.Errorf("round %d: rank %d has put %d", k, r, got)
						}
					}
					for i := range 8 {
						copy(slot(v.Local(), i), word(1<<63))
					}
				} else if err := v.Complete(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// X-RMA-18: Test becomes true without any other call. RS-09: Complete may return before
// the target waits.
func TestXRMA18_TestBecomesTrue(t *testing.T) {
	each(t, 3, func(w *world.World) error {
		n, me := w.Comm.Size(), w.Comm.Rank
		return inKinds(w, int64(8*n), func(v *rma.View) error {
			for k := range uint64(scaled(100)) {
				target := int(k) % n
				if me != target {
					if err := first(
						func() error { return v.Start([]int32{int32(target)}, 0) },
						func() error { return v.PutBytes(word(k), target, int64(8*me)) },
						v.Complete); err != nil {
						return err
					}
					continue
				}
				origins := slices.DeleteFunc(everyone(n), func(r int32) bool { return r == int32(me) })
				if err := v.Post(origins, 0); err != nil {
					return err
				}
				for {
					done, err := v.Test()
					if err != nil {
						return err
					}
					if done {
						break
					}
				}
				for _, r := range origins {
					if got := number(slot(v.Local(), int(r))); got != k {
						return fmt.Errorf("round %d: rank %d has put %d", k, r, got)
					}
				}
			}
			return nil
		})
	})
}

// RM-04, RM-05, RM-06: gets return what was stored before the post, also those of the target in an
// epoch of its own that has begun before; a put to the own memory is visible after Wait.
func TestRM04_StoreBeforePostIsGotten(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		me := w.Comm.Rank
		return inKinds(w, 16, func(v *rma.View) error {
			x, y := make([]byte, 8), make([]byte, 8)
			for k := range uint64(scaled(200)) {
				var err error
				if me == 1 {
					copy(slot(v.Local(), 1), word(k)) // Y
					err = first(
						func() error { return v.Post([]int32{0, 1}, 0) },
						func() error { return v.Start([]int32{1}, 0) },
						func() error { return v.PutBytes(word(k), 1, 0) }, // X, by a put to itself
						v.Complete, v.Wait)
					if got := number(v.Local()); err == nil && got != k {
						err = fmt.Errorf("after Wait X is %d", got)
					}
				} else {
					err = first(
						func() error { return v.Start([]int32{1}, 0) },
						func() error { return v.GetBytes(y, 1, 8) },
						v.Complete)
					if got := number(y); err == nil && got != k {
						err = fmt.Errorf("got Y = %d", got)
					}
				}
				if err == nil {
					err = barrier(w)
				}
				if err == nil && me == 0 {
					err = first(
						func() error { return v.Lock(false, 1, 0) },
						func() error { return v.GetBytes(x, 1, 0) },
						func() error { return v.Unlock(1) })
					if got := number(x); err == nil && got != k {
						err = fmt.Errorf("got X = %d", got)
					}
				}
				if err == nil {
					err = barrier(w)
				}
				if err != nil {
					return fmt.Errorf("round %d: %w", k, err)
				}
			}
			return nil
		})
	})
}
