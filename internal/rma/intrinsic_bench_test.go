package rma_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// BenchmarkIntrinsic measures fetch-and-op and compare-and-swap on mapped memory, each
// followed by a flush, with and without the assertion that all accumulates are atomic
// operations of the processor.
func BenchmarkIntrinsic(b *testing.B) {
	for _, asserted := range []bool{false, true} {
		for _, call := range []string{"fetch", "cas"} {
			b.Run(fmt.Sprintf("%s/asserted=%v", call, asserted), func(b *testing.B) {
				err := world.RunGoroutines("shm", 2, func(w *world.World) error {
					v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 64, DispUnit: 8, Options: rma.Options{Intrinsic: asserted}})
					if err != nil {
						return err
					}
					if w.Comm.Rank == 0 {
						if err := v.LockAll(0); err != nil {
							return err
						}
						value, old := make([]byte, 8), make([]byte, 8)
						b.ReportAllocs()
						for b.Loop() {
							if call == "fetch" {
								err = v.FetchAndOp(value, old, 1, 1, op.Sum, op.Int64)
							} else {
								err = v.CompareAndSwap(value, value, old, 1, 1, op.Int64)
							}
							if err == nil {
								err = v.Flush(1)
							}
							if err != nil {
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
	}
}
