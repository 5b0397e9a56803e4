package rma_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// longCall is an access that changes n bytes of rank 1 from a displacement on, in a layout.
type longCall struct {
	name string
	make func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error)
}

// longCounter is the one that calls notify which notify any.
const longCounter = 3

func longCalls() []longCall {
	data := func(n int) mem.Mem { return mem.Of(bytes.Repeat([]byte{1}, n)) }
	room := func(n int) mem.Mem { return mem.Of(make([]byte, n)) }
	return []longCall{
		{"put", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return nil, v.Put(data(n), 1, at, l)
		}},
		{"put with a notification", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return nil, v.PutPlaceNotify(data(n), 1, at, l, longCounter)
		}},
		{"put with a request", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return v.Rput(data(n), 1, at, l)
		}},
		{"put with a remote request", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return v.Rrput(data(n), 1, at, l)
		}},
		{"accumulate", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return nil, v.Accumulate(data(n), 1, at, l, op.Sum, op.Int64)
		}},
		{"accumulate with a request", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return v.Raccumulate(data(n), 1, at, l, op.Sum, op.Int64)
		}},
		{"get_accumulate", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return nil, v.GetAccumulate(data(n), room(n), 1, at, l, op.Replace, op.Int64)
		}},
		{"get_accumulate with a notification", func(v *rma.View, at int64, n int, l operation.Place) (*p2p.Request, error) {
			return nil, v.GetAccumulateNotify(data(n), room(n), 1, at, l, op.Sum, op.Int32, longCounter)
		}},
	}
}

// unchanged expects zeros.
func unchanged(mem []byte) error {
	if bytes.Count(mem, []byte{0}) == len(mem) {
		return nil // found without a check of each byte by the race detector
	}
	for i, b := range mem {
		if b != 0 {
			return fmt.Errorf("byte %d has become %d", i, b)
		}
	}
	return nil
}

// longLayouts are layouts of n bytes: contiguous; regular; and irregular, with more blocks than one
// frame describes.
func longLayouts(n int64) []operation.Place {
	gaps := must(dtype.Resized(must(byteContiguous(48)), 0, 56))
	var at []int64
	for i := int64(0); 8*i < n; i++ {
		at = append(at, 9*i+i%2)
	}
	return []operation.Place{{}, {Type: gaps, Count: n / 48}, {Type: must(dtype.HindexedBlock(8, at, predefined().Type(dtype.Byte))), Count: 1}}
}

// RW-05, RC-18: an access to memory of which only a part is attached changes nothing, however long
// it is: neither puts nor accumulates, with results, requests or notifications, contiguous or by
// layouts. Later accesses are carried out.
func TestRW05RC18_LongAccessesToHalfAttachedMemory(t *testing.T) {
	const piece, long = 180_000, 480_000
	inPieces(t, 2, 4*piece, []int{piece, 2 * piece, 3 * piece}, func(w *world.World, p *pieces) error {
		v, me := p.v, w.Comm.Rank
		if err := errors.Join(barrier(w), v.Detach(addressOf(p.mem[2*piece:])), v.MakeCounters(longCounter+1), barrier(w)); err != nil {
			return err
		}
		calls := int64(0)
		for k, l := range longLayouts(long) {
			for _, c := range longCalls() {
				var err error
				if me == 0 {
					r, e := c.make(v, p.at(1, 0), long, l)
					if e == nil && r != nil {
						e = wait(w, r)
					}
					err = is(errors.Join(e, v.Flush(1)), class.RMARange)
					if err == nil {
						err = errors.Join(v.PutNotify(make([]byte, 8), 1, p.at(1, 0), longCounter), v.Flush(1))
					}
				}
				calls++
				err = agreed(w, err)
				if err == nil && me == 1 {
					err = unchanged(p.mem)
					if err == nil {
						if got, _ := v.CounterValue(longCounter); got != calls {
							err = fmt.Errorf("there are %d notifications, want %d", got, calls)
						}
					}
				}
				err = agreed(w, err)
				if err != nil {
					return fmt.Errorf("%s, layout %d: %w", c.name, k, err)
				}
			}
		}
		return nil
	})
}

// RW-05: a layout may have all its blocks attached but not all memory between them, however many
// frames it fills; if one block is not attached, none is accessed.
func TestRW05_LongLayoutsAroundAGap(t *testing.T) {
	const n, count, block, step = 900_000, 100, 4000, 9000
	const lo, hi = 50*step + block, 51 * step // between two blocks
	even := operation.Place{Type: must(dtype.Resized(must(byteContiguous(block)), 0, step)), Count: count}
	var at []int64
	for i := int64(0); i+9 < n; i += 9 {
		if i+9 <= lo || i >= hi {
			at = append(at, i+i%2)
		}
	}
	odd := func(at []int64) operation.Place {
		return operation.Place{Type: must(dtype.HindexedBlock(8, at, predefined().Type(dtype.Byte))), Count: 1}
	}
	inPieces(t, 2, n, []int{lo, hi}, func(w *world.World, p *pieces) error {
		v, me := p.v, w.Comm.Rank
		if err := errors.Join(barrier(w), v.Detach(addressOf(p.mem[lo:])), barrier(w)); err != nil {
			return err
		}
		for _, c := range longCalls() {
			do := func(off, n int, l operation.Place) error {
				r, err := c.make(v, p.at(1, off), n, l)
				if err == nil && r != nil {
					err = wait(w, r)
				}
				return errors.Join(err, v.Flush(1))
			}
			var err error
			if me == 0 {
				err = errors.Join(is(do(8, count*block, even), class.RMARange), is(do(0, 8*len(at)+8, odd(append(at, lo))), class.RMARange))
			}
			err = agreed(w, err)
			if err == nil {
				err = agreed(w, unchanged(p.mem))
			}
			if err == nil && me == 0 {
				err = errors.Join(do(0, count*block, even), do(0, 8*len(at), odd(at)))
			}
			err = agreed(w, err)
			if err == nil && me == 1 {
				for i := range count {
					if b := p.mem[step*i:][:block]; bytes.Count(b, []byte{0}) > block/9+1 {
						err = errors.Join(err, fmt.Errorf("block %d has not arrived", i))
					}
				}
				clear(p.mem)
			}
			err = agreed(w, err)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		return nil
	})
}
