package rma_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// BenchmarkFrames measures operations that go by frames, beside messages of the same
// length there and back, over tcp.
func BenchmarkFrames(b *testing.B) {
	rounds := func(name string, size int, one func(v *rma.View, bytes []byte) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			if size > 1000 {
				b.SetBytes(int64(size))
			}
			err := world.RunGoroutines("tcp", 2, func(w *world.World) error {
				v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Created, Mem: heapBytes(int64(max(size, 4096))), DispUnit: 1})
				if err != nil {
					return err
				}
				if w.Comm.Rank == 0 {
					if err := v.LockAll(0); err != nil {
						return err
					}
					bytes := heapBytes(int64(size))
					for b.Loop() {
						if err := one(v, bytes); err != nil {
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
	for _, size := range []int{8, 64 << 10, 4 << 20} {
		b.Run(fmt.Sprint("message/", size), func(b *testing.B) { pingPong(b, size) })
		rounds(fmt.Sprint("put+flush/", size), size, func(v *rma.View, bytes []byte) error {
			if err := v.PutBytes(bytes, 1, 0); err != nil {
				return err
			}
			return v.Flush(1)
		})
		rounds(fmt.Sprint("get+flush/", size), size, func(v *rma.View, bytes []byte) error {
			if err := v.GetBytes(bytes, 1, 0); err != nil {
				return err
			}
			return v.Flush(1)
		})
		rounds(fmt.Sprint("acc+flush/", size), size, func(v *rma.View, bytes []byte) error {
			if err := v.Accumulate(mem.Of(bytes), 1, 0, operation.Place{}, op.Sum, op.Float64); err != nil {
				return err
			}
			return v.Flush(1)
		})
	}
	n := 0
	rounds("put/8", 8, func(v *rma.View, bytes []byte) error {
		n++
		if n%1000 == 0 {
			if err := v.Flush(1); err != nil {
				return err
			}
		}
		return v.PutBytes(bytes, 1, 0)
	})
	rounds("fop+flush", 16, func(v *rma.View, bytes []byte) error {
		if err := v.FetchAndOp(bytes[:8], bytes[8:], 1, 0, op.Sum, op.Int64); err != nil {
			return err
		}
		return v.Flush(1)
	})
}

// pingPong sends a message there and back.
func pingPong(b *testing.B, size int) {
	b.ReportAllocs()
	if size > 1000 {
		b.SetBytes(2 * int64(size))
	}
	err := world.RunGoroutines("tcp", 2, func(w *world.World) error {
		bytes := heapBytes(int64(size))
		var st p2p.Status
		if w.Comm.Rank == 0 {
			for b.Loop() {
				if err := w.P2P.Send(w.Comm, p2p.Standard, dtype.Mixed, bytes, 1, 1); err != nil {
					return err
				}
				w.P2P.Recv(w.Comm, bytes, 1, 1, &st)
				if st.Err != nil {
					return st.Err
				}
			}
			if err := w.P2P.Send(w.Comm, p2p.Standard, dtype.Mixed, nil, 1, 2); err != nil {
				return err
			}
			return w.Close()
		}
		for {
			w.P2P.Recv(w.Comm, bytes, 0, p2p.AnyTag, &st)
			if st.Err != nil || st.Tag == 2 {
				break
			}
			if err := w.P2P.Send(w.Comm, p2p.Standard, dtype.Mixed, bytes, 0, 1); err != nil {
				return err
			}
		}
		if st.Err != nil {
			return st.Err
		}
		return w.Close()
	})
	if err != nil {
		b.Fatal(err)
	}
}
