package rma_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// RW-04, RW-05, X-RMA-01, X-RMA-12: memory is attached and detached in any order, overlaps are
// refused, and only memory that is attached at that time, within its current bounds, is accessed.
func TestRW05_AttachAndDetach(t *testing.T) {
	for _, mapped := range []bool{false, true} {
		each(t, 2, func(w *world.World) error {
			v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Dynamic})
			if err != nil {
				return err
			}
			buf := heapBytes(4096)
			if mapped {
				b, err := w.Memory.Alloc(4096, 64)
				if err != nil {
					return err
				}
				buf = b.Mem
			}
			me, other := w.Comm.Rank, 1-w.Comm.Rank
			base, err := tell(w, addressOf(buf))
			if err != nil {
				return err
			}
			at := func(off int64) int64 { return int64(base[other]) + off }
			put := func(off int64, n int) error {
				if err := v.PutBytes(bytes.Repeat([]byte{byte(me + 1)}, n), other, at(off)); err != nil {
					return err
				}
				return v.Flush(other)
			}
			if err := v.LockAll(0); err != nil {
				return err
			}
			// Nothing is attached.
			if err := errors.Join(is(put(0, 1), class.RMARange), barrier(w)); err != nil {
				return err
			}
			// Three regions with gaps, in any order.
			if err := errors.Join(v.Attach(buf[1024:2048], buf), v.Attach(buf[3000:3100], buf), v.Attach(buf[:512], buf)); err != nil {
				return err
			}
			for _, r := range [][2]int{{0, 1}, {0, 4096}, {511, 514}, {1023, 1025}, {1500, 1600}, {2047, 3000}, {2048, 3001}, {3099, 3101}, {1024, 2048}} {
				if err := is(v.Attach(buf[r[0]:r[1]], nil), class.RMAAttach); err != nil {
					return fmt.Errorf("attach of %v: %w", r, err)
				}
			}
			for _, off := range []uint64{1, 512, 1023, 2048, 5000} {
				if err := is(v.Detach(addressOf(buf)+off), class.RMAAttach); err != nil {
					return fmt.Errorf("detach of %d: %w", off, err)
				}
			}
			if err := barrier(w); err != nil {
				return err
			}
			for _, r := range []struct {
				off int64
				n   int
				ok  bool
			}{{0, 512, true}, {0, 513, false}, {511, 2, false}, {512, 1, false}, {1024, 1024, true}, {1023, 1, false}, {2047, 2, false}, {3000, 100, true}, {3099, 2, false}, {-1, 1, false}} {
				err := put(r.off, r.n)
				if r.ok && err != nil {
					return fmt.Errorf("put of %d at %d: %w", r.n, r.off, err)
				}
				if !r.ok {
					if err := is(err, class.RMARange); err != nil {
						return fmt.Errorf("put of %d at %d: %w", r.n, r.off, err)
					}
				}
			}
			// A layout whose extent is attached, but not all of its runs, and one in two regions.
			piece := must(byteContiguous(100))
			gaps := operation.Place{Type: must(dtype.Resized(piece, 0, 450)), Count: 2} // 0..100, 450..550
			if err := v.Put(mem.Of(make([]byte, 200)), other, at(0), gaps); err == nil {
				err = v.Flush(other)
				if err := is(err, class.RMARange); err != nil {
					return fmt.Errorf("a run that is not attached: %w", err)
				}
			} else if err := is(err, class.RMARange); err != nil {
				return err
			}
			own := int64(addressOf(buf))
			if err := is(v.Put(mem.Of(make([]byte, 200)), me, own, gaps), class.RMARange); err != nil {
				return fmt.Errorf("a run that is not attached here: %w", err)
			}
			two := operation.Place{Type: must(dtype.Resized(piece, 0, 1100)), Count: 2} // 0..100, 1100..1200
			if err := errors.Join(v.Put(mem.Of(bytes.Repeat([]byte{6}, 200)), other, at(0), two), v.Flush(other), barrier(w)); err != nil {
				return fmt.Errorf("runs in two regions: %w", err)
			}
			// The same of the own memory: 6 and 3 are 9.
			old, got := make([]byte, 200), make([]byte, 200)
			threes := mem.Of(bytes.Repeat([]byte{3}, 200))
			if err := errors.Join(v.GetAccumulate(threes, mem.Of(old), me, own, two, op.Sum, op.Uint8),
				v.Get(mem.Of(got), me, own, two), v.Flush(me), barrier(w)); err != nil {
				return fmt.Errorf("own runs in two regions: %w", err)
			}
			if !bytes.Equal(old, bytes.Repeat([]byte{6}, 200)) || !bytes.Equal(got, bytes.Repeat([]byte{9}, 200)) {
				return fmt.Errorf("runs in two regions were %v, then %v", old, got)
			}
			for i := range buf {
				want := byte(0)
				switch {
				case i < 100, i >= 1100 && i < 1200:
					want = 9
				case i < 512, i >= 1024 && i < 2048, i >= 3000 && i < 3100:
					want = byte(other + 1)
				}
				if buf[i] != want {
					return fmt.Errorf("byte %d is %d, want %d", i, buf[i], want)
				}
			}
			if err := barrier(w); err != nil {
				return err
			}
			// The same address with other bounds.
			if err := errors.Join(v.Detach(addressOf(buf)), v.Attach(buf[:16], buf), barrier(w)); err != nil {
				return err
			}
			if err := errors.Join(put(0, 16), is(put(0, 17), class.RMARange), is(put(16, 1), class.RMARange)); err != nil {
				return fmt.Errorf("attached again: %w", err)
			}
			if err := errors.Join(barrier(w), v.Detach(addressOf(buf)), barrier(w), is(put(0, 1), class.RMARange)); err != nil {
				return fmt.Errorf("detached: %w", err)
			}
			return errors.Join(v.UnlockAll(), v.Free())
		})
	}
}

// Attach and Detach are for dynamic windows.
func TestXRMA01_FlavorOfAttach(t *testing.T) {
	on(t, "inproc", 1, func(w *world.World) error {
		v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 1})
		if err != nil {
			return err
		}
		buf := heapBytes(8)
		return errors.Join(is(v.Attach(buf, nil), class.RMAFlavor), is(v.Detach(addressOf(buf)), class.RMAFlavor), v.Free())
	})
}

// RW-05: memory that stays attached is found with its bounds at any moment, while other memory is
// attached and detached, so that its entry in the table moves.
func TestRW05_OthersComeAndGo(t *testing.T) {
	const size, regions = 256, 6
	var over atomic.Bool
	each(t, 2, func(w *world.World) error {
		v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Dynamic})
		if err != nil {
			return err
		}
		b, err := w.Memory.Alloc(size*(2*regions+1), 64)
		if err != nil {
			return err
		}
		part := func(i int) []byte { return b.Mem[i*size:][:size] }
		stays := part(regions)
		fill(stays, 7)
		addresses, err := tell(w, addressOf(stays))
		if err != nil {
			return err
		}
		if w.Comm.Rank == 1 {
			over.Store(false)
			err = v.Attach(stays, nil)
		}
		err = errors.Join(err, barrier(w), v.LockAll(0))
		if err != nil {
			return err
		}
		if w.Comm.Rank == 1 {
			for round := 0; round < scaled(20000) && !over.Load(); round++ {
				i := round % (2*regions + 1)
				if i == regions {
					continue
				}
				if err := v.Attach(part(i), nil); err != nil {
					return err
				}
				if round%100 == 0 {
					runtime.Gosched()
				}
				if err := v.Detach(addressOf(part(i))); err != nil {
					return err
				}
			}
			over.Store(true)
		} else {
			got := make([]byte, size)
			for round := byte(0); err == nil && !over.Load(); round++ {
				fill(got, round)
				err = errors.Join(v.GetBytes(got, 1, int64(addresses[1])), v.Flush(1))
				if err == nil && bytes.Count(got, []byte{7}) != size {
					err = fmt.Errorf("round %d: got %v", round, got)
				}
				if e := is(v.PutBytes(got[:1], 1, int64(addresses[1])+size*(regions+1)), class.RMARange); e != nil && err == nil {
					e = is(v.Flush(1), class.RMARange)
					if e != nil { // a target elsewhere tells later
						err = fmt.Errorf("round %d, beyond all: %w", round, e)
					}
				}
			}
			over.Store(true)
		}
		return errors.Join(err, v.UnlockAll(), barrier(w), v.Free(), w.Memory.Free(b.Mem))
	})
}
