package rma_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// X-RMA-15: sizes, displacements, units and extents beyond 4 GiB. The memory is sparse, so that
// only accessed pages exist.
func TestXRMA15_BeyondFourGiB(t *testing.T) {
	const size, giB = 9 << 30, 1 << 30
	each(t, 2, func(w *world.World) error {
		f, err := sys.Memfd("halo-test-large", size)
		if err != nil {
			return err
		}
		defer f.Close()
		buf, err := sys.Map(f, size)
		if err != nil {
			return err
		}
		other := 1 - w.Comm.Rank
		for _, unit := range []int64{1, 3 << 30} {
			v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Created, Mem: buf, DispUnit: unit})
			if err != nil {
				return err
			}
			far := must(dtype.Hvector(7, 16, giB+8, predefined().Type(dtype.Byte))) // to 6 GiB and more
			data := bytes.Repeat([]byte{byte(w.Comm.Rank + 1)}, 7*16)
			got, last := make([]byte, len(data)), make([]byte, 24)
			l := operation.Place{Type: far, Count: 1}
			at := (3 << 30) / unit // in bytes, 3 GiB: so the last block is beyond 9 GiB
			err = errors.Join(v.LockAll(0),
				v.Put(mem.Of(data), other, 0, l),
				v.PutBytes(data[:24], other, (6<<30)/unit),
				v.Flush(other),
				v.Accumulate(mem.Of(data), other, 0, l, op.Sum, op.Uint8),
				v.Flush(other),
				v.Get(mem.Of(got), other, 0, l),
				v.GetBytes(last, other, (6<<30)/unit),
				v.Flush(other),
				is(v.Put(mem.Of(data), other, at, l), class.RMARange),
				v.UnlockAll(), barrier(w))
			if err != nil {
				return err
			}
			want := bytes.Repeat([]byte{2 * byte(w.Comm.Rank+1)}, 7*16)
			if !bytes.Equal(got, want) || !bytes.Equal(last, data[:24]) {
				return fmt.Errorf("unit %d: got %v and %v", unit, got, last)
			}
			for i := range int64(7) {
				if p := i * (giB + 8); buf[p] != 2*byte(other+1) || buf[p+15] != 2*byte(other+1) || buf[p+16] != 0 {
					return fmt.Errorf("unit %d: block %d is %v", unit, i, buf[p:p+17])
				}
			}
			if err := v.Free(); err != nil {
				return err
			}
			for i := range int64(7) {
				clear(buf[i*(giB+8):][:16])
			}
		}
		return sys.Unmap(buf)
	})
}

// RC-13: long transfers, in pieces by each path, between layouts of long and of short blocks, to
// all kinds of windows.
func TestRC13_TransfersInPieces(t *testing.T) {
	const size = 600<<10 + 64
	eachWindow(t, 2, size, 8, func(x *window) error {
		other := 1 - x.w.Comm.Rank
		g := rand.New(rand.NewPCG(5, uint64(x.w.Comm.Rank)))
		if err := x.LockAll(0); err != nil {
			return err
		}
		sizes := []int64{4096, 64<<10 + 8, 256<<10 + 8, 600 << 10}
		if testrun.Race {
			sizes = sizes[1:2]
		}
		for _, n := range sizes {
			for _, block := range []int64{0, 8, 4096, 40000} { // of the target's layout; 0 is contiguous
				for _, near := range []int64{0, 8, 40000} {
					if err := transfer(x, g, other, n, block, near); err != nil {
						return fmt.Errorf("%d bytes, blocks of %d at the target and %d here: %w", n, block, near, err)
					}
				}
			}
		}
		return errors.Join(barrier(x.w), x.UnlockAll())
	})
}

// transfer puts n bytes, in blocks, gets them back, and sums them up.
func transfer(x *window, g *rand.Rand, other int, n, block, near int64) error {
	blocks := func(size, block int64) (operation.Place, error) {
		if block == 0 {
			return operation.Place{}, nil
		}
		if size < 2*block {
			return operation.Place{}, errShort
		}
		count := size / (2 * block)
		t := must(dtype.Vector(count, block, 2*block, predefined().Type(dtype.Byte)))
		return operation.Place{Type: t, Count: 1}, nil
	}
	l, err := blocks(n, block)
	if err != nil {
		return nil
	}
	if block > 0 {
		n = n / (2 * block) * block
	}
	data, back := make([]byte, n), make([]byte, n)
	for i := 0; i < len(data); i += 8 {
		put64(data[i:], g.Uint64())
	}
	d, r := mem.Of(data), mem.Of(back)
	var to dtype.Buffer
	if near > 0 {
		if n%near != 0 {
			return nil
		}
		t := must(dtype.Resized(must(byteContiguous(near)), 0, near+16))
		from, err := dtype.Bind(make([]byte, n/near*(near+16)), 0, t, n/near)
		if err != nil {
			return err
		}
		from.Unpack(data, 0)
		to, err = dtype.Bind(make([]byte, n/near*(near+16)), 0, t, n/near)
		if err != nil {
			return err
		}
		d, r = mem.In(&from), mem.In(&to)
	}
	at := x.disp(other, 16)
	if err := errors.Join(x.Put(d, other, at, l), x.Flush(other), x.Get(r, other, at, l), x.Flush(other)); err != nil {
		return err
	}
	if near > 0 {
		to.Pack(back, 0)
	}
	if !bytes.Equal(back, data) {
		return errors.New("got something else than was put")
	}
	old := make([]byte, n)
	if err := errors.Join(x.GetAccumulate(d, mem.Of(old), other, at, l, op.Bxor, op.Uint64), x.Flush(other),
		x.GetAccumulate(mem.Mem{}, r, other, at, l, op.NoOp, op.Uint64), x.Flush(other)); err != nil {
		return err
	}
	if near > 0 {
		to.Pack(back, 0)
	}
	if !bytes.Equal(old, data) || !bytes.Equal(back, make([]byte, n)) {
		return errors.New("accumulated something else")
	}
	return nil
}

var errShort = errors.New("shorter than two blocks")
