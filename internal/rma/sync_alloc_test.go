//go:build linux && !race

package rma_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// An epoch of one operation by frames allocates nothing, at the origin and at the target.
func TestShortEpochsAllocateNothing(t *testing.T) {
	on(t, "tcp", 2, func(w *world.World) error {
		return inWindow(w, rma.Spec{Flavor: rma.Allocated, Size: 4096, DispUnit: 1}, func(v *rma.View) error {
			got, long := make([]byte, 8), make([]byte, 2048)
			epoch := func(call func() error) func() error {
				return func() error { return first2(v.Lock(true, 1, 0), call(), v.Unlock(1)) }
			}
			for name, f := range map[string]func() error{
				"nothing":  epoch(func() error { return nil }),
				"put":      epoch(func() error { return v.PutBytes(eight, 1, 0) }),
				"long put": epoch(func() error { return v.PutBytes(long, 1, 0) }),
				"get":      epoch(func() error { return v.GetBytes(got, 1, 0) }),
				"long get": epoch(func() error { return v.GetBytes(long, 1, 0) }),
				"fetch":    epoch(func() error { return v.FetchAndOp(eight, got, 1, 0, op.Sum, op.Int64) }),
				"swap":     epoch(func() error { return v.CompareAndSwap(eight, eight, got, 1, 0, op.Int64) }),
			} {
				if w.Comm.Rank == 1 {
					break
				}
				var err error
				if n := testing.AllocsPerRun(200, func() { err = first2(err, f()) }); n != 0 {
					t.Errorf("%s: %v allocations", name, n)
				}
				if err != nil {
					return err
				}
			}
			return barrier(w)
		})
	})
}

// Uncontended synchronisation of mapped memory allocates nothing.
func TestSynchronisationAllocatesNothing(t *testing.T) {
	on(t, "shm", 1, func(w *world.World) error {
		return inWindow(w, rma.Spec{Flavor: rma.Allocated, Size: 16, DispUnit: 1}, func(v *rma.View) error {
			all := everyone(1)
			for name, f := range map[string]func() error{
				"lock":     func() error { return first2(v.Lock(true, 0, 0), v.Flush(0), v.Unlock(0)) },
				"lock all": func() error { return first2(v.LockAll(0), v.PutBytes(eight, 0, 0), v.FlushAll(), v.UnlockAll()) },
				"fence":    func() error { return first2(v.Fence(0), v.PutBytes(eight, 0, 0), v.Fence(rma.ModeNoSucceed)) },
				"post":     func() error { return first2(v.Post(all, 0), v.Start(all, 0), v.Complete(), v.Wait()) },
			} {
				if err := f(); err != nil {
					return err
				}
				var err error
				if n := testing.AllocsPerRun(200, func() { err = first2(err, f()) }); n != 0 {
					t.Errorf("%s: %v allocations", name, n)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}
