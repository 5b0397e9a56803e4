package rma_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// RS-01, RS-02, RS-03, RS-04: random phases of all kinds, the same at all ranks. Each rank waits at
// random before each call, so that it finds the others ahead or behind, awake or asleep. In each
// phase every rank puts to the ranks of a random graph.
func TestRS04_RandomPhases(t *testing.T) {
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "inproc@01012", "shm@00110") {
		on(t, fabric, 5, func(w *world.World) error {
			return inKinds(w, int64(8*w.Comm.Size()), func(v *rma.View) error {
				return randomPhases(w, v, scaled(40))
			})
		})
	}
}

func randomPhases(w *world.World, v *rma.View, phases int) error {
	n, me := w.Comm.Size(), w.Comm.Rank
	same := rand.New(rand.NewPCG(1, uint64(n)))
	own := rand.New(rand.NewPCG(2, uint64(me)))
	later := func(f func() error) func() error {
		return func() error {
			switch own.IntN(8) {
			case 0:
				time.Sleep(time.Duration(own.IntN(1000)) * time.Microsecond)
			case 1, 2:
				w.Proc.Yield()
			}
			return f()
		}
	}
	for k := range uint64(phases) {
		kind, graph := same.IntN(4), same.Uint64()
		var targets, origins []int32
		for r := range n {
			if graph>>(n*me+r)&1 != 0 {
				targets = append(targets, int32(r))
			}
			if graph>>(n*r+me)&1 != 0 {
				origins = append(origins, int32(r))
			}
		}
		put := func(r int32) error { return v.PutBytes(word(k+1), int(r), int64(8*me)) }
		puts := func() error {
			for _, r := range targets {
				if err := put(r); err != nil {
					return err
				}
			}
			return nil
		}
		meet := func() error { return barrier(w) }
		var err error
		switch kind {
		case 0:
			err = first(later(func() error { return v.Fence(0) }), later(puts), later(func() error { return v.Fence(0) }))
		case 1:
			post := later(func() error { return v.Post(origins, 0) })
			access := func() error {
				return first(later(func() error { return v.Start(targets, 0) }), later(puts), later(v.Complete))
			}
			wait := later(v.Wait)
			if own.IntN(3) == 0 {
				wait = later(func() error {
					for {
						if done, err := v.Test(); done || err != nil {
							return err
						}
					}
				})
			}
			err = first(post, access, wait, meet)
		case 2:
			for _, r := range targets {
				err = first(func() error { return err }, later(func() error { return v.Lock(own.IntN(2) == 0, int(r), 0) }),
					later(func() error { return put(r) }), later(func() error { return v.Unlock(int(r)) }))
			}
			err = first(func() error { return err }, meet)
		case 3:
			err = first(later(func() error { return v.LockAll(0) }), later(puts), later(v.FlushAll), later(v.UnlockAll), meet)
		}
		if err != nil {
			return fmt.Errorf("phase %d, kind %d: %w", k, kind, err)
		}
		for _, r := range origins {
			if got := number(slot(v.Local(), int(r))); got != k+1 {
				return fmt.Errorf("phase %d, kind %d: rank %d has put %d", k, kind, r, got)
			}
		}
		if err := first(later(meet)); err != nil {
			return err
		}
	}
	return nil
}
