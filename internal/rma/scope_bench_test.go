package rma_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// BenchmarkScope measures put and flush of one byte by several goroutines over tcp, with
// views of process and thread scope.
func BenchmarkScope(b *testing.B) {
	for _, thread := range []bool{false, true} {
		for _, workers := range []int{1, 8, 32} {
			b.Run(fmt.Sprintf("thread=%v/%d", thread, workers), func(b *testing.B) {
				err := world.RunGoroutines("tcp", 2, func(w *world.World) error {
					v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Created, Mem: heapBytes(4096), DispUnit: 1})
					if err != nil {
						return err
					}
					if w.Comm.Rank == 0 {
						if err := v.LockAll(0); err != nil {
							return err
						}
						var wg sync.WaitGroup
						for i := range workers {
							d, err := v.Dup()
							if err != nil {
								return err
							}
							o := d.Options()
							o.Thread = thread
							d.SetOptions(o)
							n := b.N / workers
							if i == 0 {
								n += b.N % workers
							}
							wg.Go(func() {
								for range n {
									d.PutBytes([]byte{1}, 1, int64(i*64))
									d.Flush(1)
								}
								d.Free()
							})
						}
						wg.Wait()
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

// BenchmarkOrder measures puts of eight bytes in order over tcp, beside put and flush.
func BenchmarkOrder(b *testing.B) {
	for _, inOrder := range []bool{false, true} {
		b.Run(fmt.Sprint(inOrder), func(b *testing.B) {
			err := world.RunGoroutines("tcp", 2, func(w *world.World) error {
				v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Created, Mem: heapBytes(4096), DispUnit: 1, Options: rma.Options{InOrder: inOrder}})
				if err != nil {
					return err
				}
				if w.Comm.Rank == 0 {
					if err := v.LockAll(0); err != nil {
						return err
					}
					mem := heapBytes(8)
					for b.Loop() {
						if err := v.PutBytes(mem, 1, 0); err != nil {
							return err
						}
						if !inOrder {
							if err := v.Flush(1); err != nil {
								return err
							}
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
