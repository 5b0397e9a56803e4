package rma_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	numbers "github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// RS-06, RS-10: when Flush returns everything is at the target that was begun before, also while
// other goroutines flush, and whichever goroutine began it: through the same view, or through
// another one of its scope. The test loads the target's memory directly, since a call would itself
// be ordered behind the operations; the race detector reports only that as a race.
func TestRS06_FlushedIsThere(t *testing.T) {
	const threads = 4
	var memory atomic.Pointer[[threads]uint64]
	each(t, 2, func(w *world.World) error {
		return inKinds(w, 8*threads, func(v *rma.View) error {
			if w.Comm.Rank == 1 {
				memory.Store((*[threads]uint64)(unsafe.Pointer(unsafe.SliceData(v.Local()))))
			}
			if err := errors.Join(barrier(w), v.LockAll(0)); err != nil {
				return err
			}
			errs := make([]error, threads)
			if w.Comm.Rank == 0 {
				var all sync.WaitGroup
				for k := range threads {
					all.Go(func() { errs[k] = flushed(v, k, scaled(400), &memory.Load()[k]) })
				}
				all.Wait()
			}
			return errors.Join(errors.Join(errs...), v.UnlockAll(), barrier(w))
		})
	})
}

// flushed replaces a word of rank 1 again and again, each time with a flush and a load of it.
func flushed(v *rma.View, slot, rounds int, word *uint64) error {
	by, err := v.Dup()
	if err != nil {
		return err
	}
	options := by.Options()
	options.Thread = true
	by.SetOptions(options)
	for i := range rounds {
		through := v
		if i%3 == 2 {
			through = by
		}
		err := through.Accumulate(mem.Of(int64s(int64(i))), 1, int64(8*slot), operation.Place{}, op.Replace, op.Int64)
		err = errors.Join(err, v.Flush(1))
		if err != nil {
			return err
		}
		got := int64s(0)
		if testrun.Race {
			err = errors.Join(v.FetchAndOp(nil, got, 1, int64(8*slot), op.NoOp, op.Int64), v.Flush(1))
		} else {
			put64(got, atomic.LoadUint64(word))
		}
		if err != nil || toInt64(got) != int64(i) {
			return fmt.Errorf("round %d: %d is there after the flush: %v", i, toInt64(got), err)
		}
	}
	return by.Free()
}

// A process that is notified sees everything that was begun before the signal, long accumulates by
// frames among it.
func TestSignalsFollowWhatWasSent(t *testing.T) {
	const count = 64 << 10
	ones := make([]byte, 0, 8*count)
	for range count {
		ones = append(ones, int64s(1)...)
	}
	each(t, 2, func(w *world.World) error {
		return inKinds(w, 8*count, func(v *rma.View) error {
			if err := errors.Join(v.MakeCounters(1), barrier(w), v.LockAll(rma.ModeNoCheck)); err != nil {
				return err
			}
			for turn := range int64(3) {
				if w.Comm.Rank == 0 {
					if err := errors.Join(v.Accumulate(mem.Of(ones), 1, 0, operation.Place{}, op.Sum, op.Int64), v.Signal(1, 0)); err != nil {
						return err
					}
				} else {
					r, err := v.Await(rma.Threshold{Call: numbers.Access, Counter: 0, Reach: 1, Take: 1})
					if err == nil {
						err = wait(w, r)
					}
					if err != nil {
						return err
					}
					for i := range count {
						if got := toInt64(v.Local()[8*i:]); got != turn+1 {
							return fmt.Errorf("turn %d: element %d is %d", turn, i, got)
						}
					}
				}
				if err := barrier(w); err != nil {
					return err
				}
			}
			return v.UnlockAll()
		})
	})
}

// RS-02: a get with a notification is read before the target is notified, however long it is.
func TestNotificationsFollowLongGets(t *testing.T) {
	const size = 4 << 20
	each(t, 2, func(w *world.World) error {
		return inKinds(w, size, func(v *rma.View) error {
			for turn := range byte(4) {
				if w.Comm.Rank == 1 {
					fill(v.Local(), turn+1)
				}
				if err := barrier(w); err != nil {
					return err
				}
				if w.Comm.Rank == 1 {
					r, err := v.Await(rma.Threshold{Call: numbers.Access, Counter: 0, Reach: 1, Take: 1})
					if err == nil {
						err = wait(w, r)
					}
					if err != nil {
						return err
					}
					fill(v.Local(), 99) // it may: the get is over
				} else if err := longGet(v, size, turn+1); err != nil {
					return fmt.Errorf("turn %d: %w", turn, err)
				}
				if err := barrier(w); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func longGet(v *rma.View, size int, want byte) error {
	got := make([]byte, size)
	if err := v.Lock(false, 1, rma.ModeNoCheck); err != nil {
		return err
	}
	var err error
	if want%2 == 0 {
		err = v.GetNotify(mem.Of(got), 1, 0, operation.Place{}, 0)
	} else {
		err = errors.Join(v.GetBytes(got, 1, 0), v.Signal(1, 0))
	}
	err = errors.Join(err, v.Unlock(1))
	if err != nil {
		return err
	}
	for i, x := range got {
		if x != want {
			return fmt.Errorf("byte %d is %d, want %d", i, x, want)
		}
	}
	return nil
}

func fill(b []byte, x byte) {
	for i := range b {
		b[i] = x
	}
}
