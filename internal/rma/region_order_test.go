package rma_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// RW-08: accumulates of one origin on one location keep their order where the first is in two
// attached regions, of which one is mapped and one is not.
func TestRW08_OrderAcrossRegions(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Dynamic})
		if err != nil {
			return err
		}
		b, err := w.Memory.Alloc(64, 64)
		if err != nil {
			return err
		}
		bytes := heapBytes(64)
		if err := errors.Join(v.Attach(b.Mem, nil), v.Attach(bytes, nil)); err != nil {
			return err
		}
		first, err := tell(w, addressOf(b.Mem))
		if err != nil {
			return err
		}
		second, err := tell(w, addressOf(bytes))
		if err != nil {
			return err
		}
		if w.Comm.Rank == 0 {
			far := int64(second[1] - first[1])
			both := operation.Place{Type: must(dtype.Hindexed([]int64{8, 8}, []int64{0, far}, predefined().Type(dtype.Byte))), Count: 1}
			one, old := int64(first[1]), make([]byte, 8)
			if err := v.LockAll(0); err != nil {
				return err
			}
			for i := range int64(300) {
				err := errors.Join(
					v.Accumulate(mem.Of(int64s(2*i)), 1, one, operation.Place{}, op.Replace, op.Int64),
					v.Accumulate(mem.Of(append(int64s(1), int64s(i)...)), 1, one, both, op.Sum, op.Int64),
					v.FetchAndOp(int64s(-1), old, 1, one, op.Replace, op.Int64),
					v.Flush(1))
				if err != nil {
					return err
				}
				if got := toInt64(old); got != 2*i+1 {
					return fmt.Errorf("round %d: fetched %d, want %d", i, got, 2*i+1)
				}
			}
			if err := v.UnlockAll(); err != nil {
				return err
			}
		}
		if err := barrier(w); err != nil {
			return err
		}
		if w.Comm.Rank == 1 && (toInt64(b.Mem) != -1 || toInt64(bytes) != 299*300/2) {
			return fmt.Errorf("memory is %d and %d", toInt64(b.Mem), toInt64(bytes))
		}
		return errors.Join(v.Free(), w.Memory.Free(b.Mem))
	})
}
