//go:build linux && !race

package rma_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

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
