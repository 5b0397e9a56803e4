//go:build !race

package rma_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// Operations on memory of the node allocate nothing, whatever the window and whichever path they
// take.
func TestOperationsAllocateNothing(t *testing.T) {
	on(t, fabrics(2)[len(fabrics(2))-1], 2, func(w *world.World) error {
		for _, m := range makers() {
			x, err := m.make(w, 4096, 8)
			if err != nil {
				return err
			}
			if err := x.LockAll(0); err != nil {
				return err
			}
			if w.Comm.Rank == 0 {
				if err := allocates(x); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			if err := errors.Join(barrier(w), x.UnlockAll(), x.free()); err != nil {
				return err
			}
		}
		return nil
	})
}

func allocates(x *window) error {
	buf, old, many := int64s(1), make([]byte, 8), make([]byte, 512)
	l := operation.Place{Type: must(dtype.Vector(8, 1, 2, must(byteContiguous(8)))), Count: 1}
	near, err := dtype.Bind(make([]byte, 200), 0, must(dtype.Resized(must(byteContiguous(8)), 0, 24)), 8)
	if err != nil {
		return err
	}
	at := x.disp(1, 0)
	d, r := mem.Of(buf), mem.Of(old)
	request := func(q *p2p.Request, err error) error {
		if err != nil {
			return err
		}
		return wait(x.w, q)
	}
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"PutBytes", func() error { return x.PutBytes(buf, 1, at) }},
		{"GetBytes", func() error { return x.GetBytes(old, 1, at) }},
		{"Put", func() error { return x.Put(mem.In(&near), 1, at, l) }},
		{"Get", func() error { return x.Get(mem.In(&near), 1, at, l) }},
		{"Accumulate", func() error { return x.Accumulate(d, 1, at, operation.Place{}, op.Sum, op.Int64) }},
		{"Accumulate many", func() error { return x.Accumulate(mem.Of(many), 1, at, operation.Place{}, op.Sum, op.Float64) }},
		{"Accumulate layouts", func() error { return x.Accumulate(mem.In(&near), 1, at, l, op.Sum, op.Int64) }},
		{"GetAccumulate", func() error { return x.GetAccumulate(d, r, 1, at, operation.Place{}, op.Sum, op.Int64) }},
		{"FetchAndOp", func() error { return x.FetchAndOp(buf, old, 1, at, op.Sum, op.Int64) }},
		{"CompareAndSwap", func() error { return x.CompareAndSwap(buf, buf, old, 1, at, op.Int64) }},
		{"Rput", func() error { return request(x.Rput(d, 1, at, operation.Place{})) }},
		{"Rget", func() error { return request(x.Rget(r, 1, at, operation.Place{})) }},
		{"Raccumulate", func() error { return request(x.Raccumulate(d, 1, at, operation.Place{}, op.Sum, op.Int64)) }},
		{"RgetAccumulate", func() error { return request(x.RgetAccumulate(d, r, 1, at, operation.Place{}, op.Sum, op.Int64)) }},
	} {
		var failed error
		if n := testing.AllocsPerRun(200, func() { failed = errors.Join(failed, c.call(), x.Flush(1)) }); n != 0 || failed != nil {
			return fmt.Errorf("%s: %v allocations, %w", c.name, n, failed)
		}
	}
	return nil
}
