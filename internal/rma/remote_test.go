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
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// RS-08, EXP-2: all operations are applied to the memory of a target that computes and never calls,
// on as many goroutines as there are processors.
func TestRS08_TheTargetNeedNotCall(t *testing.T) {
	eachWindow(t, 2, 1<<20, 8, func(x *window) error {
		n := 40
		if testrun.Race {
			n = 21 // while all cores are busy
		}
		var stop atomic.Bool
		spinning := make(chan struct{})
		if x.w.Comm.Rank == 1 {
			for range runtime.GOMAXPROCS(0) {
				go func() {
					for !stop.Load() {
					}
					spinning <- struct{}{}
				}()
			}
		}
		if err := barrier(x.w); err != nil {
			return err
		}
		var err error
		if x.w.Comm.Rank == 0 {
			err = x.passive(1, n)
			done.Store(true)
		} else {
			for !done.Load() { // this rank, too, makes no call until all is over
				runtime.Gosched()
			}
			stop.Store(true)
			for range runtime.GOMAXPROCS(0) {
				<-spinning
			}
			done.Store(false)
		}
		return agreed(x.w, err)
	})
}

// done tells rank 1, which calls nothing, that rank 0 has done all.
var done atomic.Bool

// passive does n operations of each kind in a passive epoch, and checks them.
func (x *window) passive(target, n int) error {
	if err := x.Lock(false, target, 0); err != nil {
		return err
	}
	word, old, back := make([]byte, 8), make([]byte, 8), make([]byte, 8)
	long, got := bytes.Repeat([]byte{7}, 200_000), make([]byte, 200_000)
	for i := range n {
		put64(word, uint64(i))
		for _, err := range []error{
			x.Put(mem.Of(word), target, x.disp(target, 64), operation.Place{}),
			x.Flush(target),
			x.Get(mem.Of(back), target, x.disp(target, 64), operation.Place{}),
			x.Accumulate(mem.Of(word), target, x.disp(target, 0), operation.Place{}, op.Sum, op.Uint64),
			x.FetchAndOp(word, old, target, x.disp(target, 8), op.Sum, op.Uint64),
			x.Flush(target),
		} {
			if err != nil {
				return err
			}
		}
		if get64(back) != uint64(i) || get64(old) != uint64(i*(i-1)/2) {
			return fmt.Errorf("step %d: a get has got %d, a fetch-and-op %d", i, get64(back), get64(old))
		}
		if i%20 == 0 {
			long[0], long[len(long)-1] = byte(i), byte(i+1)
			if err := x.Put(mem.Of(long), target, x.disp(target, 4096), operation.Place{}); err != nil {
				return err
			}
			if err := x.Flush(target); err != nil {
				return err
			}
			if err := x.Get(mem.Of(got), target, x.disp(target, 4096), operation.Place{}); err != nil {
				return err
			}
			if err := x.Flush(target); err != nil {
				return err
			}
			if !bytes.Equal(got, long) {
				return fmt.Errorf("step %d: %d bytes came back as others", i, len(long))
			}
		}
	}
	put64(word, 5)
	put64(old, uint64(n*(n-1)/2))
	if err := x.CompareAndSwap(word, old, back, target, x.disp(target, 0), op.Uint64); err != nil {
		return err
	}
	if err := x.Unlock(target); err != nil {
		return err
	}
	if get64(back) != get64(old) {
		return fmt.Errorf("%d accumulates have made %d", n, get64(back))
	}
	return nil
}

// RC-01, RC-02, RC-04, RC-13: long operations between different layouts at both ends are cut into
// frames and reassembled, several at a time.
func TestRC01RC02RC04RC13_LongOperations(t *testing.T) {
	double := dtype.Predefined().Type(dtype.Double)
	vector, err := dtype.Resized(double, 0, 24)
	if err != nil {
		t.Fatal(err)
	}
	offs := make([]int64, 1000)
	for i := range offs {
		offs[i] = int64(3*i + i*i%3) // no stride
	}
	scattered, err := dtype.IndexedBlock(1, offs, double)
	if err != nil {
		t.Fatal(err)
	}
	vector.Commit()
	scattered.Commit()
	elements := int64(200_000)
	if testrun.Race {
		elements = 20_000
	}
	layouts := func(n int64) []operation.Place {
		return []operation.Place{{}, {Type: vector, Count: n}, {Type: scattered, Count: n / 1000}}
	}
	each(t, 2, func(w *world.World) error {
		size := 8 * 4 * elements
		x, err := created(w, heapBytes(size), 8, func() error { return nil })
		if err != nil {
			return err
		}
		if err := x.LockAll(0); err != nil {
			return err
		}
		for i := range layouts(elements) {
			for j, there := range layouts(elements) {
				if w.Comm.Rank == 0 {
					if err := long(x, elements, layouts(elements)[i], there); err != nil {
						return agreed(w, fmt.Errorf("layouts %d and %d: %w", i, j, err))
					}
				}
			}
		}
		if err := agreed(w, nil); err != nil {
			return err
		}
		if err := x.UnlockAll(); err != nil {
			return err
		}
		return x.free()
	})
}

// data is n elements, given by f, in a layout of their own.
func data(here operation.Place, n int64, f func(i int64) uint64) (mem.Mem, error) {
	packed := make([]byte, 8*n)
	for i := range n {
		put64(packed[8*i:], f(i))
	}
	if here.Type == nil {
		return mem.Of(packed), nil
	}
	b, err := dtype.Bind(make([]byte, 8*4*n), 0, here.Type, here.Count)
	if err != nil {
		return mem.Mem{}, err
	}
	b.Unpack(packed, 0)
	return mem.In(&b), nil
}

// has expects that the elements of d are given by f.
func has(d mem.Mem, n int64, f func(i int64) uint64) error {
	packed := make([]byte, 8*n)
	d.Pack(packed, 0)
	for i := range n {
		if get64(packed[8*i:]) != f(i) {
			return fmt.Errorf("element %d is %d, want %d", i, get64(packed[8*i:]), f(i))
		}
	}
	return nil
}

func long(x *window, n int64, here, there operation.Place) error {
	first := func(i int64) uint64 { return uint64(i*i + 7) }
	second := func(i int64) uint64 { return uint64(3 * i) }
	both := func(i int64) uint64 { return first(i) + 2*second(i) }
	zero := func(int64) uint64 { return 0 }
	a, err := data(here, n, first)
	if err != nil {
		return err
	}
	b, err := data(here, n, second)
	if err != nil {
		return err
	}
	var results [3]mem.Mem
	for i := range results {
		results[i], err = data(here, n, zero)
		if err != nil {
			return err
		}
	}
	const at = 5
	for _, err := range []error{
		x.Put(a, 1, at, there),
		x.Flush(1),
		x.Accumulate(b, 1, at, there, op.Sum, op.Uint64),
		x.GetAccumulate(b, results[0], 1, at, there, op.Sum, op.Uint64),
		x.GetAccumulate(mem.Mem{}, results[1], 1, at, there, op.NoOp, op.Uint64),
		x.Flush(1),
		x.Get(results[2], 1, at, there),
		x.FlushLocal(1),
	} {
		if err != nil {
			return err
		}
	}
	between := func(i int64) uint64 { return first(i) + second(i) }
	for i, f := range []func(int64) uint64{between, both, both} {
		if err := has(results[i], n, f); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// S5, RW-05: the target refuses memory that is not attached, and tells the origin at the next flush
// or with the request; both continue.
func TestRW05_FaultsComeBack(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		mem := heapBytes(4096)
		x, err := dynamic(w, mem, func() error { return nil })
		if err != nil {
			return err
		}
		if err := x.LockAll(0); err != nil {
			return err
		}
		if w.Comm.Rank == 0 {
			err = faults(x)
		}
		if err := agreed(w, err); err != nil {
			return err
		}
		if want := bytes.Repeat([]byte{0}, 4096); w.Comm.Rank == 1 {
			put64(want[8:], 42)
			if !bytes.Equal(mem, want) {
				return errors.New("a fault has changed memory")
			}
		}
		if err := x.UnlockAll(); err != nil {
			return err
		}
		return x.free()
	})
}

func faults(x *window) error {
	word := make([]byte, 8)
	put64(word, 42)
	origin := mem.Of(word)
	old := make([]byte, 8)
	result := mem.Of(old)
	beyond := x.disp(1, 0) + 4096 - 7
	refused := func(what string, err error) error {
		var e *class.Error
		if !errors.As(err, &e) || e.Class != class.RMARange && e.Class != class.RMAAttach {
			return fmt.Errorf("%s to memory that is not attached: %v", what, err)
		}
		return nil
	}
	flushed := func(err error) error {
		if err != nil {
			return err
		}
		return x.Flush(1)
	}
	for what, err := range map[string]error{
		"put":              flushed(x.Put(origin, 1, beyond, operation.Place{})),
		"get":              flushed(x.Get(result, 1, beyond, operation.Place{})),
		"accumulate":       flushed(x.Accumulate(origin, 1, beyond, operation.Place{}, op.Sum, op.Int64)),
		"fetch-and-op":     flushed(x.FetchAndOp(word, old, 1, beyond, op.Sum, op.Int64)),
		"compare-and-swap": flushed(x.CompareAndSwap(word, word, old, 1, beyond, op.Int64)),
		"put to 0":         flushed(x.Put(origin, 1, 0, operation.Place{})),
	} {
		if err := refused(what, err); err != nil {
			return err
		}
	}
	if r, err := x.Rget(result, 1, beyond, operation.Place{}); err != nil {
		if err := refused("rget", err); err != nil {
			return err
		}
	} else {
		if err := refused("rget", wait(x.w, r)); err != nil {
			return err
		}
	}
	if err := flushed(nil); err != nil {
		return fmt.Errorf("a flush without anything wrong before it: %w", err)
	}
	return flushed(x.Put(origin, 1, x.disp(1, 8), operation.Place{}))
}
