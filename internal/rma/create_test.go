package rma_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// RW-03: 10,000 windows exist at a time, of every flavor, and each works; they cost little memory,
// all of which is freed.
func TestManyWindows(t *testing.T) {
	count := 10000
	if testrun.Race {
		count = 500
	}
	for _, fabric := range fabrics(2) {
		t.Run(fabric, func(t *testing.T) {
			on(t, fabric, 2, func(w *world.World) error {
				mem := heapBytes(8)
				specs := []rma.Spec{
					{Flavor: rma.Allocated, Size: 8, DispUnit: 1}, {Flavor: rma.Created, Mem: mem, DispUnit: 1}, {Flavor: rma.Dynamic},
				}
				if together(w) {
					specs = append(specs, rma.Spec{Flavor: rma.Shared, Size: 8, DispUnit: 1})
				}
				live := func() uint64 {
					var m runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&m)
					return m.HeapAlloc
				}
				before := live()
				views := make([]*rma.View, count)
				for i := range views {
					v, err := w.RMA.Create(w.Comm, specs[i%len(specs)])
					if err != nil {
						return fmt.Errorf("window %d: %w", i, err)
					}
					views[i] = v
				}
				if err := barrier(w); err != nil {
					return err
				}
				// Of both ranks, control blocks on the heap included.
				if each := (int64(live()) - int64(before)) / int64(count); !testrun.Race && each > 24<<10 {
					return fmt.Errorf("a window costs %d bytes", each)
				}
				if w.Comm.Rank == 0 {
					for i := 0; i < count; i += 101 {
						if v := views[i]; v.Flavor() != rma.Dynamic {
							if err := errors.Join(v.Lock(true, 1, 0), v.PutBytes([]byte{byte(i)}, 1, 0), v.Unlock(1)); err != nil {
								return err
							}
						}
					}
				}
				if err := barrier(w); err != nil {
					return err
				}
				for i := 0; i < count; i += 101 {
					if v := views[i]; w.Comm.Rank == 1 && v.Flavor() != rma.Dynamic && v.Flavor() != rma.Created && v.Local()[0] != byte(i) {
						return fmt.Errorf("window %d holds %d", i, v.Local()[0])
					}
				}
				for _, v := range views {
					if err := v.Free(); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
