package rma_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// is returns an error unless err is of a class.
func is(err error, c class.Class) error {
	var e *class.Error
	if errors.As(err, &e) && e.Class == c {
		return nil
	}
	name, _ := class.Describe(c)
	return fmt.Errorf("%v, want %s", err, name)
}

// RW-01: sizes and displacement units differ from rank to rank; those of the target count.
func TestRW01_UnitsAndSizesAreTheTargets(t *testing.T) {
	each(t, 3, func(w *world.World) error {
		me := int64(w.Comm.Rank)
		unit := me*2 + 1 // 1, 3, 5
		mem := make([]byte, 40*(me+1)*unit)
		v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Created, Mem: mem, DispUnit: unit})
		if err != nil {
			return err
		}
		if v.Unit() != unit || len(v.Local()) != len(mem) || v.Flavor() != rma.Created {
			return fmt.Errorf("unit %d, %d bytes, flavor %v", v.Unit(), len(v.Local()), v.Flavor())
		}
		if err := v.Fence(0); err != nil {
			return err
		}
		for r := range 3 {
			if err := v.PutBytes([]byte{byte(me + 1)}, r, 10+me); err != nil {
				return err
			}
			if err := is(v.PutBytes([]byte{1}, r, 40*int64(r+1)), class.RMARange); err != nil {
				return err
			}
		}
		if err := v.Fence(0); err != nil {
			return err
		}
		want := make([]byte, len(mem))
		for o := range int64(3) {
			want[(10+o)*unit] = byte(o + 1)
		}
		if !bytes.Equal(mem, want) {
			return fmt.Errorf("memory is %v", mem)
		}
		return v.Free()
	})
}

// RW-02: memory of one window in another one: both access the same bytes, and their locks do not
// exclude each other.
func TestRW02_TwoWindowsOverOneMemory(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		a, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 64, DispUnit: 1})
		if err != nil {
			return err
		}
		b, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Created, Mem: a.Local(), DispUnit: 8})
		if err != nil {
			return err
		}
		if w.Comm.Rank == 0 {
			if err := errors.Join(a.Lock(true, 1, 0), b.Lock(true, 1, 0), a.PutBytes([]byte{7}, 1, 8), a.Flush(1)); err != nil {
				return err
			}
			var got [1]byte
			if err := errors.Join(b.GetBytes(got[:], 1, 1), b.Unlock(1), a.Unlock(1)); err != nil {
				return err
			}
			if got[0] != 7 {
				return fmt.Errorf("the other window shows %d", got[0])
			}
		}
		if err := b.Free(); err != nil {
			return err
		}
		return a.Free()
	})
}

// RW-03, RW-06: Free waits for all members, and the window cannot be used afterwards.
func TestRW03_FreeIsCollective(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 1})
		if err != nil {
			return err
		}
		if w.Comm.Rank == 0 {
			// The other one is in Free, or about to be: the window lives until this one is, too.
			if err := errors.Join(v.Lock(false, 1, 0), v.PutBytes([]byte{1}, 1, 0), v.Unlock(1)); err != nil {
				return err
			}
		}
		if err := v.Free(); err != nil {
			return err
		}
		_, _, query := v.Query(0)
		for _, err := range []error{
			v.Free(), v.PutBytes([]byte{1}, 0, 0), v.GetBytes([]byte{1}, rma.ProcNull, 0), v.Fence(0), v.Lock(true, 0, 0), v.LockAll(0),
			v.Flush(0), v.Sync(), v.Start(nil, 0), v.Post(nil, 0), v.Complete(), v.Wait(), v.Idle(), v.Attach(nil, nil), v.Detach(0), query,
		} {
			if err := is(err, class.Win); err != nil {
				return err
			}
		}
		return nil
	})
}

// Free with an open epoch is an error that changes nothing.
func TestFreeWithOpenEpoch(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 1})
		if err != nil {
			return err
		}
		if err := v.Lock(false, 1-w.Comm.Rank, 0); err != nil {
			return err
		}
		if err := errors.Join(is(v.Free(), class.RMASync), is(v.Idle(), class.RMASync)); err != nil {
			return err
		}
		return errors.Join(v.PutBytes([]byte{1}, 1-w.Comm.Rank, 0), v.Unlock(1-w.Comm.Rank), v.Free())
	})
}

// X-RMA-19 and bad input: one rank gives wrong arguments; all get an error of that class, nothing
// is left, and the communicator works.
func TestCreationFailsEverywhere(t *testing.T) {
	refused := class.Errorf(class.Info, "refused")
	bad := []struct {
		spec rma.Spec
		want class.Class
	}{
		{rma.Spec{Flavor: rma.Allocated, Size: -1, DispUnit: 1}, class.Size},
		{rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 0}, class.Disp},
		{rma.Spec{Flavor: rma.Created, Mem: make([]byte, 8), DispUnit: -4}, class.Disp},
		{rma.Spec{Flavor: rma.Allocated, Size: 1 << 60, DispUnit: 1}, class.NoMem},
		{rma.Spec{Flavor: rma.Allocated, Size: math.MaxInt64, DispUnit: 1}, class.NoMem},
		{rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 1, Align: 3}, class.Arg},
		{rma.Spec{Flavor: rma.Created, DispUnit: 1, Refused: refused}, class.Info},
		{rma.Spec{Flavor: 9, DispUnit: 1}, class.RMAFlavor},
	}
	each(t, 3, func(w *world.World) error {
		blocks, live := w.Memory.Live()
		for i, x := range bad {
			s := rma.Spec{Flavor: x.spec.Flavor, Size: 8, DispUnit: 1}
			if s.Flavor == 9 {
				s.Flavor = rma.Allocated
			}
			if w.Comm.Rank == i%3 {
				s = x.spec
			}
			if _, err := w.RMA.Create(w.Comm, s); is(err, x.want) != nil {
				return fmt.Errorf("case %d: %w", i, is(err, x.want))
			}
			if b, n := w.Memory.Live(); b != blocks || n != live {
				return fmt.Errorf("case %d: %d blocks and %d bytes are left, before there were %d and %d", i, b, n, blocks, live)
			}
		}
		v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 1})
		if err != nil {
			return err
		}
		return v.Free()
	})
}

// X-RMA-02, RW-07: memory of a shared window is contiguous in the order of the ranks
// unless that is waived; all can load and store it.
func TestXRMA02_SharedMemory(t *testing.T) {
	for _, noncontig := range []bool{false, true} {
		each(t, 3, func(w *world.World) error {
			me := w.Comm.Rank
			v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Shared, Size: int64(me) * 24, DispUnit: int64(me + 1), Noncontig: noncontig})
			if !together(w) {
				return is(err, class.RMAShared)
			}
			if err != nil {
				return err
			}
			for i := range v.Local() {
				v.Local()[i] = byte(me*100 + i)
			}
			if err := barrier(w); err != nil {
				return err
			}
			var before uint64
			for r := range 3 {
				mem, unit, err := v.Query(r)
				if err != nil || len(mem) != 24*r || unit != int64(r+1) {
					return fmt.Errorf("rank %d: %d bytes, unit %d: %w", r, len(mem), unit, err)
				}
				for i := range mem {
					if mem[i] != byte(r*100+i) {
						return fmt.Errorf("byte %d of rank %d is %d", i, r, mem[i])
					}
				}
				if r == 2 && !noncontig && addressOf(mem) != before+24 {
					return fmt.Errorf("rank 2 begins at %#x, rank 1 at %#x with 24 bytes", addressOf(mem), before)
				}
				before = addressOf(mem)
			}
			// X-RMA-03: the lowest rank that has any.
			mem, unit, err := v.Query(rma.ProcNull)
			if err != nil || len(mem) != 24 || unit != 2 {
				return fmt.Errorf("of ProcNull: %d bytes, unit %d: %w", len(mem), unit, err)
			}
			return v.Free()
		})
	}
}

// X-RMA-03: the memory that each flavor shows: none where memory is not mapped, an error for
// dynamic windows and ranks that do not exist.
func TestXRMA03_Query(t *testing.T) {
	eachWindow(t, 4, 64, 8, func(x *window) error {
		if x.Flavor() == rma.Dynamic {
			_, _, err := x.Query(0)
			return is(err, class.RMAFlavor)
		}
		x.mem[0] = byte(x.w.Comm.Rank + 1)
		if err := barrier(x.w); err != nil {
			return err
		}
		for r := range 4 {
			mem, unit, err := x.Query(r)
			if err != nil || unit != 8 {
				return fmt.Errorf("rank %d: unit %d: %w", r, unit, err)
			}
			host := x.w.Proc.Job().Host
			same := r == x.w.Comm.Rank || x.w.Proc.Node() != nil && (host == nil || host[r] == host[x.w.Comm.Rank])
			_, alloc := x.w.Memory.Find(x.mem)
			if r == x.w.Comm.Rank || same && (alloc || x.Flavor() == rma.Shared) {
				if len(mem) != 64 || mem[0] != byte(r+1) {
					return fmt.Errorf("rank %d shows %v", r, mem)
				}
			} else if len(mem) != 0 {
				return fmt.Errorf("rank %d, which is not mapped, shows %d bytes", r, len(mem))
			}
		}
		_, _, err := x.Query(4)
		return errors.Join(is(err, class.Rank), barrier(x.w))
	})
}

// RC-18, X-RMA-19: an access that is not within the target's memory is refused, also if it wraps
// around, and changes nothing; so is an invalid rank.
func TestRC18_Bounds(t *testing.T) {
	eachWindow(t, 2, 64, 8, func(x *window) error {
		other := 1 - x.w.Comm.Rank
		base := int64(0)
		var before []byte
		if x.Flavor() == rma.Dynamic {
			base = int64(x.base[other])
		}
		for i := range x.mem {
			x.mem[i] = byte(i)
		}
		before = bytes.Clone(x.mem)
		if err := errors.Join(barrier(x.w), x.LockAll(0)); err != nil {
			return err
		}
		byteType := must(byteContiguous(8))
		unit := x.unit
		far := operation.Place{Type: must(dtype.Resized(byteType, 0, 32)), Count: 3}     // to byte 72
		back := operation.Place{Type: must(dtype.Resized(byteType, 0, -32)), Count: 2}   // from byte -32
		huge := operation.Place{Type: must(dtype.Resized(byteType, 0, 1<<62)), Count: 3} // wraps around
		type try struct {
			disp int64
			n    int
			l    operation.Place
		}
		var tries []try
		for _, d := range []int64{64 / unit, 64/unit + 1, math.MaxInt64 / unit, math.MaxInt64, math.MaxInt64/unit - 1} {
			if base != 0 && d > 1<<40 {
				d = math.MaxInt64
			} else {
				d += base
			}
			tries = append(tries, try{d, 8, operation.Place{}})
		}
		tries = append(tries, try{base + 56/unit, 16, operation.Place{}}, try{base, 65, operation.Place{}},
			try{base, 24, far}, try{base + 8/unit, 16, back}, try{base, 24, huge})
		for i, y := range tries {
			data := bytes.Repeat([]byte{0xff}, y.n)
			old := bytes.Clone(data)
			d, r := mem.Of(data), mem.Of(old)
			var errs []error
			for k, call := range []func() error{
				func() error { return x.Put(d, other, y.disp, y.l) },
				func() error { return x.Get(r, other, y.disp, y.l) },
				func() error { return x.Accumulate(d, other, y.disp, y.l, op.Sum, op.Uint8) },
				func() error { return x.GetAccumulate(d, r, other, y.disp, y.l, op.Sum, op.Uint8) },
				func() error {
					if y.l.Type != nil || y.n != 8 {
						return &class.Error{Class: class.RMARange}
					}
					return x.FetchAndOp(data, old, other, y.disp, op.Sum, op.Int64)
				},
				func() error {
					if y.l.Type != nil || y.n != 8 {
						return &class.Error{Class: class.RMARange}
					}
					return x.CompareAndSwap(data, data, old, other, y.disp, op.Int64)
				},
				func() error {
					if y.l.Type != nil {
						return &class.Error{Class: class.RMARange}
					}
					return x.PutBytes(data, other, y.disp)
				},
			} {
				err := call()
				if err == nil { // the target finds out
					err = x.Flush(other)
				}
				err = is(err, class.RMARange)
				if err != nil {
					errs = append(errs, fmt.Errorf("case %d, call %d: %w", i, k, err))
				}
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
		}
		if x.Flavor() != rma.Dynamic {
			if err := errors.Join(is(x.PutBytes([]byte{1}, other, -1), class.Disp), is(x.PutBytes([]byte{1}, other, math.MinInt64), class.Disp)); err != nil {
				return err
			}
		}
		for _, r := range []int{-1, 2, math.MaxInt, math.MinInt} {
			if err := is(x.PutBytes([]byte{1}, r, 0), class.Rank); err != nil {
				return err
			}
		}
		if err := errors.Join(x.UnlockAll(), barrier(x.w)); err != nil {
			return err
		}
		if !bytes.Equal(x.mem, before) {
			return fmt.Errorf("memory has changed: %v", x.mem)
		}
		return barrier(x.w)
	})
}

func byteContiguous(n int64) (*dtype.Type, error) {
	return dtype.Contiguous(n, predefined().Type(dtype.Byte))
}
