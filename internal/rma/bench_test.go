package rma_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// What operations on mapped memory cost the caller, each completed by a flush: rank 1
// takes no part.
func BenchmarkMapped(b *testing.B) {
	run := func(name string, size int, fn func(v *rma.View, buf, old []byte) error) {
		b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
			err := world.RunGoroutines("shm", 2, func(w *world.World) error {
				v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 1 << 20, DispUnit: 8})
				if err != nil {
					return err
				}
				if w.Comm.Rank == 0 {
					if err := v.LockAll(0); err != nil {
						return err
					}
					buf, old := make([]byte, size), make([]byte, size)
					b.ReportAllocs()
					for b.Loop() {
						if err := fn(v, buf, old); err != nil {
							return err
						}
						if err := v.Flush(1); err != nil {
							return err
						}
					}
					if err := v.UnlockAll(); err != nil {
						return err
					}
				}
				if err := v.Free(); err != nil {
					return err
				}
				return w.Close()
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
	for _, size := range []int{8, 4096, 262144} {
		run("put", size, func(v *rma.View, buf, _ []byte) error { return v.PutBytes(buf, 1, 3) })
		run("get", size, func(v *rma.View, buf, _ []byte) error { return v.GetBytes(buf, 1, 3) })
		run("sum", size, func(v *rma.View, buf, _ []byte) error {
			return v.Accumulate(rma.Data{Bytes: buf}, 1, 3, rma.Layout{}, op.Sum, op.Float64)
		})
	}
	run("fetch", 8, func(v *rma.View, buf, old []byte) error { return v.FetchAndOp(buf, old, 1, 3, op.Sum, op.Int64) })
	run("cas", 8, func(v *rma.View, buf, old []byte) error { return v.CompareAndSwap(buf, buf, old, 1, 3, op.Int64) })
}
