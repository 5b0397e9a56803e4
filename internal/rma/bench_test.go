package rma_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// BenchmarkNode measures the cost of operations on memory of a process of the node for the caller,
// each completed by a flush: rank 1 takes no part. Memory of the heap is not mapped here; the
// kernel copies puts and gets there, and the target's service accumulates.
func BenchmarkNode(b *testing.B) {
	type call func(v *window, buf, old []byte, disp int64) error
	put := func(v *window, buf, _ []byte, disp int64) error { return v.PutBytes(buf, 1, disp) }
	get := func(v *window, buf, _ []byte, disp int64) error { return v.GetBytes(buf, 1, disp) }
	sum := func(v *window, buf, _ []byte, disp int64) error {
		return v.Accumulate(mem.Of(buf), 1, disp, operation.Place{}, op.Sum, op.Float64)
	}
	fetch := func(v *window, buf, old []byte, disp int64) error {
		return v.FetchAndOp(buf, old, 1, disp, op.Sum, op.Int64)
	}
	cas := func(v *window, buf, old []byte, disp int64) error {
		return v.CompareAndSwap(buf, buf, old, 1, disp, op.Int64)
	}
	run := func(m maker, name string, size int, fn call) {
		b.Run(fmt.Sprintf("%s/%s/%d", strings.ReplaceAll(m.name, " ", "-"), name, size), func(b *testing.B) {
			err := world.RunGoroutines("shm", 2, func(w *world.World) error {
				x, err := m.make(w, 2<<20, 8)
				if err != nil {
					return err
				}
				if err := x.LockAll(0); err != nil {
					return err
				}
				if w.Comm.Rank == 0 {
					buf, old := make([]byte, size), make([]byte, size)
					disp := x.disp(1, 24)
					b.ReportAllocs()
					for b.Loop() {
						if err := fn(x, buf, old, disp); err != nil {
							return err
						}
						if err := x.Flush(1); err != nil {
							return err
						}
					}
				}
				if err := x.UnlockAll(); err != nil {
					return err
				}
				if err := x.free(); err != nil {
					return err
				}
				return w.Close()
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
	for _, m := range makers() {
		for _, size := range []int{8, 4096, 65536, 262144, 1048576} {
			run(m, "put", size, put)
			run(m, "get", size, get)
			run(m, "sum", size, sum)
		}
		run(m, "fetch", 8, fetch)
		run(m, "cas", 8, cas)
	}
}
