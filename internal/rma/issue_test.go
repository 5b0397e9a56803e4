package rma_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// int64s is one element of a type.
func int64s(x int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(x)) }

func toInt64(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

// RC-07: any number of requests to one peer may be outstanding, of all four kinds, and each
// completes when its memory may be used again.
func TestRC07_ManyRequests(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		for i, m := range makers()[:3] {
			count := 100000
			if i > 0 || testrun.Race {
				count /= 20
			}
			x, err := m.make(w, 4096, 8)
			if err != nil {
				return err
			}
			if w.Comm.Rank == 0 {
				if err := manyRequests(x, count); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			if err := barrier(w); err != nil {
				return err
			}
			if got := toInt64(x.mem[8:]); w.Comm.Rank == 1 && got != int64(count/2) {
				return fmt.Errorf("%s: the sum is %d, want %d", m.name, got, count/2)
			}
			if err := x.free(); err != nil {
				return err
			}
		}
		return nil
	})
}

func manyRequests(x *window, count int) error {
	if err := x.Lock(false, 1, 0); err != nil {
		return err
	}
	requests := make([]*p2p.Request, count)
	results := make([]byte, 8*count)
	one := int64s(1)
	for i := range requests {
		var err error
		old := mem.Of(results[8*i:][:8])
		data := mem.Of(one)
		switch i % 4 {
		case 0:
			requests[i], err = x.Raccumulate(data, 1, x.disp(1, 8), operation.Place{}, op.Sum, op.Int64)
		case 1:
			requests[i], err = x.RgetAccumulate(data, old, 1, x.disp(1, 8), operation.Place{}, op.Sum, op.Int64)
		case 2:
			requests[i], err = x.Rput(mem.Of(int64s(int64(i))), 1, x.disp(1, 16+int64(i%64)*8), operation.Place{})
		default:
			requests[i], err = x.Rget(old, 1, x.disp(1, 8), operation.Place{})
		}
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	for i, r := range requests {
		if err := wait(x.w, r); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		switch got := toInt64(results[8*i:]); i % 4 {
		case 1: // accumulates keep their order
			if want := int64(i/4*2 + 1); got != want {
				return fmt.Errorf("request %d has returned %d, want %d", i, got, want)
			}
		case 3: // a get need not
			if got < 0 || got > int64(count) {
				return fmt.Errorf("request %d has returned %d", i, got)
			}
		}
	}
	return x.Unlock(1)
}

// RC-15: every call takes ProcNull and does nothing, in an epoch; its request completes.
func TestRC15_ProcNull(t *testing.T) {
	eachWindow(t, 2, 64, 8, func(x *window) error {
		buf, old := bytes.Repeat([]byte{7}, 8), bytes.Repeat([]byte{8}, 8)
		d, r, l := mem.Of(buf), mem.Of(old), operation.Place{}
		request := func(q *p2p.Request, err error) error {
			if err != nil {
				return err
			}
			return wait(x.w, q)
		}
		calls := []func() error{
			func() error { return x.Put(d, rma.ProcNull, 0, l) },
			func() error { return x.Get(r, rma.ProcNull, 0, l) },
			func() error { return x.PutBytes(buf, rma.ProcNull, 99) },
			func() error { return x.GetBytes(old, rma.ProcNull, -1) },
			func() error { return x.Accumulate(d, rma.ProcNull, 0, l, op.Sum, op.Int64) },
			func() error { return x.GetAccumulate(d, r, rma.ProcNull, 0, l, op.Sum, op.Int64) },
			func() error { return x.FetchAndOp(buf, old, rma.ProcNull, 0, op.Sum, op.Int64) },
			func() error { return x.CompareAndSwap(buf, buf, old, rma.ProcNull, 0, op.Int64) },
			func() error { return request(x.Rput(d, rma.ProcNull, 0, l)) },
			func() error { return request(x.Rget(r, rma.ProcNull, 0, l)) },
			func() error { return request(x.Raccumulate(d, rma.ProcNull, 0, l, op.Sum, op.Int64)) },
			func() error { return request(x.RgetAccumulate(d, r, rma.ProcNull, 0, l, op.Sum, op.Int64)) },
		}
		for i, call := range calls {
			if err := is(call(), class.RMASync); err != nil {
				return fmt.Errorf("call %d without an epoch: %w", i, err)
			}
		}
		for _, s := range synchronisers() {
			if err := s.begin(x); err != nil {
				return err
			}
			for i, call := range calls {
				err := call()
				if i >= 8 && !s.requests { // MPI-5, 12.3.5: in passive epochs only
					err = is(err, class.RMASync)
				}
				if err != nil {
					return fmt.Errorf("%s: call %d: %w", s.name, i, err)
				}
			}
			if err := s.end(x); err != nil {
				return err
			}
		}
		if !bytes.Equal(buf, bytes.Repeat([]byte{7}, 8)) || !bytes.Equal(old, bytes.Repeat([]byte{8}, 8)) || !bytes.Equal(x.mem, make([]byte, 64)) {
			return fmt.Errorf("%v, %v and %v have changed", buf, old, x.mem)
		}
		return nil
	})
}

// RC-08: operations without an epoch are errors of class RMASync and change nothing;
// those of zero elements do nothing.
func TestRC08_EpochsAndEmptyOperations(t *testing.T) {
	eachWindow(t, 2, 64, 8, func(x *window) error {
		other := 1 - x.w.Comm.Rank
		buf, old := bytes.Repeat([]byte{7}, 8), make([]byte, 8)
		d, r := mem.Of(buf), mem.Of(old)
		at := x.disp(other, 0)
		for i, err := range []error{
			x.Put(d, other, at, operation.Place{}), x.Get(r, other, at, operation.Place{}), x.PutBytes(buf, other, at), x.GetBytes(old, other, at),
			x.Accumulate(d, other, at, operation.Place{}, op.Sum, op.Int64), x.FetchAndOp(buf, old, other, at, op.Sum, op.Int64),
			x.CompareAndSwap(buf, buf, old, other, at, op.Int64),
		} {
			if err := is(err, class.RMASync); err != nil {
				return fmt.Errorf("call %d: %w", i, err)
			}
		}
		empty := operation.Place{Type: must(byteContiguous(8)), Count: 0}
		if err := errors.Join(barrier(x.w), x.LockAll(0)); err != nil {
			return err
		}
		err := errors.Join(
			x.PutBytes(nil, other, at), x.GetBytes(nil, other, at), x.Put(mem.Mem{}, other, at, empty), x.Get(mem.Mem{}, other, at, empty),
			x.Accumulate(mem.Mem{}, other, at, empty, op.Sum, op.Int64), x.GetAccumulate(mem.Mem{}, mem.Mem{}, other, at, empty, op.NoOp, op.Int64),
			x.UnlockAll(), barrier(x.w))
		if err != nil {
			return err
		}
		if !bytes.Equal(x.mem, make([]byte, 64)) || toInt64(old) != 0 {
			return fmt.Errorf("memory is %v, results %v", x.mem, old)
		}
		return nil
	})
}

// X-RMA-17: Start and operations return before the target posts, nothing arrives before the post,
// and then all operations arrive in order.
func TestXRMA17_OperationsWaitForThePost(t *testing.T) {
	const size = 1 << 12
	eachWindow(t, 2, size, 8, func(x *window) error {
		if x.w.Comm.Rank == 0 {
			big := bytes.Repeat([]byte{5}, size/2)
			got, old, swapped := make([]byte, size/2), make([]byte, 8), make([]byte, 8)
			err := errors.Join(
				x.Start([]int32{1}, 0),
				x.FetchAndOp(int64s(1), old, 1, x.disp(1, 0), op.Sum, op.Int64),
				x.Accumulate(mem.Of(int64s(2)), 1, x.disp(1, 0), operation.Place{}, op.Sum, op.Int64),
				x.CompareAndSwap(int64s(1000), int64s(103), swapped, 1, x.disp(1, 0), op.Int64),
				x.GetBytes(got, 1, x.disp(1, size/2)),
				x.PutBytes(big[8:], 1, x.disp(1, 8)))
			if err != nil {
				return err
			}
			if err := barrier(x.w); err != nil { // all have been issued
				return err
			}
			if err := x.Complete(); err != nil {
				return err
			}
			if toInt64(old) != 100 || toInt64(swapped) != 103 || !bytes.Equal(got, bytes.Repeat([]byte{6}, size/2)) {
				return fmt.Errorf("returned %d and %d, got %v", toInt64(old), toInt64(swapped), got[:8])
			}
			return nil
		}
		if err := barrier(x.w); err != nil {
			return err
		}
		for range 1000 { // the origin has issued all
			runtime.Gosched()
		}
		if !bytes.Equal(x.mem, make([]byte, size)) {
			return fmt.Errorf("something has arrived before the post: %v", x.mem[:16])
		}
		copy(x.mem, int64s(100))
		copy(x.mem[size/2:], bytes.Repeat([]byte{6}, size/2))
		if err := errors.Join(x.Post([]int32{0}, 0), x.Wait()); err != nil {
			return err
		}
		if toInt64(x.mem) != 1000 || !bytes.Equal(x.mem[8:size/2], bytes.Repeat([]byte{5}, size/2-8)) {
			return fmt.Errorf("memory is %v", x.mem[:16])
		}
		return nil
	})
}

// RC-03, RC-04, RC-11, RC-14, RC-17: accumulates of all kinds by many goroutines of all ranks, also
// to the own memory, on elements at any address: each is atomic, and the fetched values are a
// permutation.
func TestRC03RC04_Atomicity(t *testing.T) {
	const threads, elements = 3, 100
	rounds := 40
	if testrun.Race {
		rounds = 4
	}
	eachWindow(t, 4, 8*(elements+1), 8, func(x *window) error {
		n := x.w.Comm.Size()
		if err := errors.Join(barrier(x.w), x.LockAll(0)); err != nil {
			return err
		}
		ones := bytes.Repeat(int64s(1), elements)
		olds := make([][]int64, threads)
		errs := make([]error, threads)
		var all sync.WaitGroup
		for k := range threads {
			all.Go(func() {
				g := rand.New(rand.NewPCG(uint64(x.w.Comm.Rank), uint64(k)))
				old, many := make([]byte, 8), make([]byte, len(ones))
				l := operation.Place{Type: must(dtype.Resized(must(byteContiguous(8)), 0, 8)), Count: elements}
				for range rounds {
					for r := range n {
						e := int64(g.IntN(elements))
						err := errors.Join(
							x.FetchAndOp(int64s(1), old, r, x.disp(r, 8*elements), op.Sum, op.Int64),
							x.Accumulate(mem.Of(ones), r, x.disp(r, 0), operation.Place{}, op.Sum, op.Int64),
							x.GetAccumulate(mem.Of(ones), mem.Of(many), r, x.disp(r, 0), l, op.Sum, op.Int64),
							x.Accumulate(mem.Of(ones[:8]), r, x.disp(r, 8*e), operation.Place{}, op.Sum, op.Int64),
							x.Accumulate(mem.Of(int64s(-1)), r, x.disp(r, 8*e), operation.Place{}, op.Sum, op.Int64),
							x.Flush(r))
						if err != nil {
							errs[k] = err
							return
						}
						if r == 0 {
							olds[k] = append(olds[k], toInt64(old))
						}
						// An increment by compare and swap, at the own pace.
						for was := int64(0); ; was = toInt64(old) {
							if err := errors.Join(x.CompareAndSwap(int64s(was+1), int64s(was), old, r, x.disp(r, 8*e), op.Int64), x.Flush(r)); err != nil {
								errs[k] = err
								return
							}
							if toInt64(old) == was {
								break
							}
						}
						errs[k] = errors.Join(x.Accumulate(mem.Of(int64s(-1)), r, x.disp(r, 8*e), operation.Place{}, op.Sum, op.Int64))
					}
				}
			})
		}
		all.Wait()
		if err := errors.Join(errors.Join(errs...), x.UnlockAll(), barrier(x.w)); err != nil {
			return err
		}
		for i := range elements {
			if got, want := toInt64(x.mem[8*i:]), int64(2*n*threads*rounds); got != want {
				return fmt.Errorf("element %d is %d, want %d", i, got, want)
			}
		}
		if got, want := toInt64(x.mem[8*elements:]), int64(n*threads*rounds); got != want {
			return fmt.Errorf("the counter is %d, want %d", got, want)
		}
		// The tickets of rank 0's counter: all are different.
		flat := slices.Concat(olds...)
		slices.Sort(flat)
		if len(slices.Compact(flat)) != threads*rounds || flat[0] < 0 || flat[len(flat)-1] >= int64(n*threads*rounds) {
			return fmt.Errorf("tickets %v", flat)
		}
		return barrier(x.w)
	})
}
