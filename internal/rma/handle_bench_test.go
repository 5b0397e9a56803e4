package rma_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// BenchmarkHandle measures the window of a memory handle beside others, over shared memory: its
// accesses and flushes, those in a new window each time, and making one.
func BenchmarkHandle(b *testing.B) {
	err := world.RunGoroutines("shm", 2, func(w *world.World) error {
		allocated, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 4096, DispUnit: 1})
		if err != nil {
			return err
		}
		block, err := w.Memory.Alloc(4096, 64)
		if err != nil {
			return err
		}
		parent, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Dynamic})
		if err != nil {
			return err
		}
		if err := parent.Attach(block.Mem, nil); err != nil {
			return err
		}
		addresses, err := tell(w, addressOf(block.Mem))
		if err != nil {
			return err
		}
		mine, err := parent.AppendHandle(nil, block.Mem)
		if err != nil {
			return err
		}
		all := make([]byte, 2*len(mine))
		if err := w.Coll.Do(w.Comm, coll.Allgather, &coll.Args{Send: coll.Bytes(mine), Recv: coll.Bytes(all), Width: 1}); err != nil {
			return err
		}
		theirs := all[len(mine):]
		handle, err := parent.FromHandle(theirs, -1, 1, 1)
		if err != nil {
			return err
		}
		if err := allocated.LockAll(0); err != nil {
			return err
		}
		if err := parent.LockAll(0); err != nil {
			return err
		}
		if w.Comm.Rank == 0 {
			buf, old := make([]byte, 8), make([]byte, 8)
			run := func(name string, fn func() error) {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if err := fn(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			put := func(v *rma.View, disp int64) func() error {
				return func() error {
					if err := v.PutBytes(buf, 1, disp); err != nil {
						return err
					}
					return v.Flush(1)
				}
			}
			fetch := func(v *rma.View, disp int64) func() error {
				return func() error {
					if err := v.FetchAndOp(buf, old, 1, disp, op.Sum, op.Int64); err != nil {
						return err
					}
					return v.Flush(1)
				}
			}
			run("put/allocated", put(allocated, 8))
			run("put/dynamic", put(parent, int64(addresses[1])+8))
			run("put/handle", put(handle, 8))
			run("fetch/allocated", fetch(allocated, 8))
			run("fetch/dynamic", fetch(parent, int64(addresses[1])+8))
			run("fetch/handle", fetch(handle, 8))
			run("put/handle-each-time", func() error {
				v, err := parent.FromHandle(theirs, -1, 1, 1)
				if err != nil {
					return err
				}
				if err := put(v, 8)(); err != nil {
					return err
				}
				return v.Free()
			})
			run("create-release", func() error {
				h, err := parent.AppendHandle(old[:0], buf)
				if err != nil {
					return err
				}
				return parent.ReleaseHandle(h)
			})
		}
		if err := parent.UnlockAll(); err != nil {
			return err
		}
		if err := allocated.UnlockAll(); err != nil {
			return err
		}
		if err := barrier(w); err != nil {
			return err
		}
		return w.Close()
	})
	if err != nil {
		b.Fatal(err)
	}
}
