package rma_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// pieces is memory that is attached in parts side by side; cuts are where the parts meet, some of
// them within elements.
type pieces struct {
	v    *rma.View
	mem  []byte
	cuts []int
	base []uint64 // of all ranks
}

// inPieces calls fn with memory of n bytes of each rank that is attached in pieces to a dynamic
// window: first memory that others of the node can map, then memory that they cannot.
func inPieces(t *testing.T, ranks, n int, cuts []int, fn func(w *world.World, p *pieces) error) {
	each(t, ranks, func(w *world.World) error {
		for _, kind := range []string{"mapped", "not mapped"} {
			mem := heapBytes(int64(n))
			if kind == "mapped" {
				b, err := w.Memory.Alloc(int64(n), 64)
				if err != nil {
					return err
				}
				mem = b.Mem
			}
			v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Dynamic})
			if err != nil {
				return err
			}
			p := &pieces{v: v, mem: mem, cuts: append(append([]int{0}, cuts...), n)}
			for i := len(p.cuts) - 2; i >= 0; i-- {
				err = errors.Join(err, v.Attach(p.part(i), mem))
			}
			p.base, err = tell(w, addressOf(mem))
			if err == nil {
				err = errors.Join(v.LockAll(0), fn(w, p), v.UnlockAll(), barrier(w), v.Free())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
		}
		return nil
	})
}

// part is the i-th piece.
func (p *pieces) part(i int) []byte { return p.mem[p.cuts[i]:p.cuts[i+1]:p.cuts[i+1]] }

// at is the displacement of a byte of a rank's memory.
func (p *pieces) at(rank int, off int) int64 { return int64(p.base[rank]) + int64(off) }

// RW-05, X-RMA-01: one access may be to memory that was attached in pieces side by side (MPI-5,
// 12.2.4): puts, gets and accumulates of any length, of elements and of blocks of layouts that are
// cut in two. Each has the same effect as on memory in one piece.
func TestRW05_AccessesAcrossPieces(t *testing.T) {
	const n = 200_000
	cuts := []int{13, 64, 68, 4096, 40_001, 131_072, 131_076, 199_992}
	inPieces(t, 2, n, cuts, func(w *world.World, p *pieces) error {
		target := 1 - w.Comm.Rank
		if w.Comm.Rank == 0 { // only one writes, and knows all there is
			if err := acrossPieces(p, target, n); err != nil {
				return err
			}
			if err := acrossPieces(p, 0, n); err != nil {
				return fmt.Errorf("the own memory: %w", err)
			}
		}
		return barrier(w)
	})
}

// acrossPieces makes random accesses to zeroed memory of a target, and keeps the expected contents.
func acrossPieces(p *pieces, target, n int) error {
	g := rand.New(rand.NewPCG(uint64(target), 5))
	want := make([]byte, n)
	random := func(b []byte) []byte {
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return b
	}
	v := p.v
	for round := range scaled(300) {
		cut := p.cuts[1+g.IntN(len(p.cuts)-2)]
		size := 8 * (1 + g.IntN(1<<g.IntN(14)))
		off := max(0, min(cut-g.IntN(size+1), n-size)) // around a cut, mostly
		typ, width := op.Int64, 8
		if g.IntN(4) == 0 {
			typ, width = op.Complex128, 16
		}
		if round%2 == 0 {
			off -= off % 8
		}
		data, old := random(make([]byte, size)), make([]byte, size)
		before := bytes.Clone(want[off : off+size])
		at := p.at(target, off)
		var err error
		what := g.IntN(7)
		switch what {
		case 0:
			err = v.PutBytes(data, target, at)
			copy(want[off:], data)
		case 1:
			err = v.GetBytes(old, target, at)
		case 2:
			err = v.Accumulate(mem.Of(data), target, at, operation.Place{}, op.Sum, op.Int64)
			sum(want[off:], data)
		case 3: // elements of 16 bytes, also across a cut
			size -= size % width
			if size == 0 {
				continue
			}
			data, old, before = data[:size], old[:size], before[:size]
			err = v.GetAccumulate(mem.Of(data), mem.Of(old), target, at, operation.Place{}, op.Replace, typ)
			copy(want[off:], data)
		case 4:
			data, old, before, size = data[:8], old[:8], before[:8], 8
			err = v.FetchAndOp(data, old, target, at, op.Sum, op.Int64)
			sum(want[off:], data)
		case 5:
			data, old, before, size = data[:8], old[:8], before[:8], 8
			err = v.CompareAndSwap(data, before, old, target, at, op.Int64)
			copy(want[off:], data)
		default: // every second block of 24 bytes, some of which are cut in two
			const block = 24
			count := 1 + g.IntN(200)
			if off+2*block*count > n {
				continue
			}
			l := operation.Place{Type: must(dtype.Resized(must(byteContiguous(block)), 0, 2*block)), Count: int64(count)}
			data, old = random(make([]byte, block*count)), make([]byte, block*count)
			before = before[:0]
			for i := range count {
				b := want[off+2*block*i:][:block]
				before = append(before, b...)
				sum(b, data[block*i:][:block])
			}
			err = v.GetAccumulate(mem.Of(data), mem.Of(old), target, at, l, op.Sum, op.Int64)
		}
		err = errors.Join(err, v.Flush(target))
		if err != nil {
			return fmt.Errorf("round %d, access %d of %d bytes at %d: %w", round, what, size, off, err)
		}
		if what != 0 && what != 2 && !bytes.Equal(old, before) {
			return fmt.Errorf("round %d, access %d of %d bytes at %d: got %v, want %v", round, what, size, off, old[:8], before[:8])
		}
	}
	got := make([]byte, n)
	if err := errors.Join(v.GetBytes(got, target, p.at(target, 0)), v.Flush(target)); err != nil {
		return err
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("byte %d is %d, want %d", i, got[i], want[i])
		}
	}
	return nil
}

// sum adds 64-bit words.
func sum(to, data []byte) {
	for ; len(data) > 0; to, data = to[8:], data[8:] {
		copy(to, int64s(toInt64(to)+toInt64(data)))
	}
}

// RC-03, RC-17: an element in two pieces is updated as a whole, by all processes, with single
// operations and long ones, wide ones too; and so are those around it.
func TestRC03_ElementsInTwoPieces(t *testing.T) {
	const elements, width = 64, 16
	inPieces(t, 3, elements*width, []int{20, 24, 500, 504, 512}, func(w *world.World, p *pieces) error {
		v, n := p.v, w.Comm.Size()
		ones := bytes.Repeat(int64s(1), 2*elements)
		k := scaled(300)
		for i := range k {
			off := 16 + 8*(i%3) // in pieces 0 to 2
			err := errors.Join(
				v.Accumulate(mem.Of(ones), 0, p.at(0, 0), operation.Place{}, op.Sum, op.Int64),
				v.Accumulate(mem.Of(ones[:8]), 0, p.at(0, off), operation.Place{}, op.Sum, op.Int64),
				v.Accumulate(mem.Of(ones[:8]), 0, p.at(0, 496), operation.Place{}, op.Sum, op.Int64))
			if err != nil {
				return err
			}
		}
		if err := errors.Join(v.FlushAll(), barrier(w)); err != nil || w.Comm.Rank != 0 {
			return err
		}
		for i := range 2 * elements {
			want := int64(n * k)
			for j := range k {
				if 8*i == 16+8*(j%3) {
					want += int64(n)
				}
			}
			if 8*i == 496 {
				want += int64(n * k)
			}
			if got := toInt64(p.mem[8*i:]); got != want {
				return fmt.Errorf("element %d is %d, want %d", i, got, want)
			}
		}
		return nil
	})
}

// RW-05: if one of the pieces is detached, accesses that reach it are errors that say where memory
// is not attached, and change nothing; others work.
func TestRW05_OnePieceIsDetached(t *testing.T) {
	inPieces(t, 2, 3000, []int{1000, 2000}, func(w *world.World, p *pieces) error {
		v, me, other := p.v, w.Comm.Rank, 1-w.Comm.Rank
		data := bytes.Repeat([]byte{byte(1 + me)}, 3000)
		put := func(off, n int) error {
			return errors.Join(v.PutBytes(data[:n], other, p.at(other, off)), v.Flush(other))
		}
		if err := errors.Join(put(0, 3000), barrier(w)); err != nil {
			return err
		}
		if !bytes.Equal(p.mem, bytes.Repeat([]byte{byte(1 + other)}, 3000)) {
			return errors.New("what was put is not there")
		}
		if err := errors.Join(barrier(w), v.Detach(addressOf(p.mem[1000:])), barrier(w)); err != nil {
			return err
		}
		clear(data)
		err := put(500, 3000-500)
		if gap := fmt.Sprintf("%#x", p.base[other]+1000); err == nil || !strings.Contains(err.Error(), gap) {
			return fmt.Errorf("the error of a put does not name %s: %w", gap, err)
		}
		for _, r := range [][2]int{{0, 3000}, {999, 1002}, {0, 1001}, {1500, 1000}, {1999, 2}, {1000, 1000}, {2999, 2}} {
			if err := is(put(r[0], r[1]), class.RMARange); err != nil {
				return fmt.Errorf("put of %d bytes at %d: %w", r[1], r[0], err)
			}
			err := v.Accumulate(mem.Of(data[:r[1]]), other, p.at(other, r[0]), operation.Place{}, op.Replace, op.Uint8)
			if err := is(errors.Join(err, v.Flush(other)), class.RMARange); err != nil {
				return fmt.Errorf("accumulate of %d bytes at %d: %w", r[1], r[0], err)
			}
			if err := is(errors.Join(v.GetBytes(data[:r[1]], me, p.at(me, r[0]))), class.RMARange); err != nil {
				return fmt.Errorf("get of %d own bytes at %d: %w", r[1], r[0], err)
			}
		}
		if err := barrier(w); err != nil {
			return err
		}
		if !bytes.Equal(p.mem, bytes.Repeat([]byte{byte(1 + other)}, 3000)) {
			return errors.New("a refused access has changed memory")
		}
		if err := errors.Join(barrier(w), put(0, 1000), put(2000, 1000), barrier(w)); err != nil {
			return err
		}
		if p.mem[0] != 0 || p.mem[999] != 0 || p.mem[1000] == 0 || p.mem[1999] == 0 || p.mem[2000] != 0 || p.mem[2999] != 0 {
			return errors.New("puts to what is left went elsewhere")
		}
		// Attached again, in two other pieces.
		if err := errors.Join(v.Attach(p.mem[1500:2000], p.mem), barrier(w), is(put(900, 1200), class.RMARange), barrier(w),
			v.Attach(p.mem[1000:1500], p.mem), barrier(w), put(900, 1200), barrier(w)); err != nil {
			return err
		}
		if !bytes.Equal(p.mem, make([]byte, 3000)) {
			return errors.New("what was put into new pieces is not there")
		}
		return nil
	})
}

// QV-30, RC-03: accumulates on the same bytes are atomic with each other, whether they come
// through attached memory or handles, of the same memory or of parts that begin elsewhere.
func TestQV30_HandlesThatOverlap(t *testing.T) {
	const n, elements = 1 << 17, 5000
	inPieces(t, 2, n, []int{40_000}, func(w *world.World, p *pieces) error {
		const last = n/8 - elements // the last elements are common to all
		mine := [3]int64{0, 80_000 / 8, last - 1}
		all := make([]byte, 3*memhandle.Size)
		if w.Comm.Rank == 0 {
			all = all[:0]
			for _, from := range mine {
				var err error
				all, err = p.v.AppendHandle(all, p.mem[8*from:])
				if err != nil {
					return err
				}
			}
		}
		for i := 0; i < len(all); i += 8 { // to the others
			words, err := tell(w, get64(all[i:]))
			if err != nil {
				return err
			}
			put64(all[i:], words[0])
		}
		ones, k := bytes.Repeat(int64s(1), elements), scaled(3000)
		views := make([]*rma.View, len(mine))
		errs := make(chan error, len(mine)+1)
		go func() {
			var err error
			for range k {
				err = errors.Join(err, p.v.Accumulate(mem.Of(ones), 0, p.at(0, 8*last), operation.Place{}, op.Sum, op.Int64))
			}
			errs <- err
		}()
		for i, from := range mine {
			var err error
			views[i], err = p.v.FromHandle(all[i*memhandle.Size:][:memhandle.Size], -1, 8, 0)
			if err != nil {
				return err
			}
			go func() {
				var err error
				for j := range k {
					at, data := last-from, ones
					if j%2 == 1 { // one by one
						at, data = at+int64(j%elements), ones[:8]
					}
					err = errors.Join(err, views[i].Accumulate(mem.Of(data), 0, at, operation.Place{}, op.Sum, op.Int64))
				}
				errs <- err
			}()
		}
		var err error
		for range len(mine) + 1 {
			err = errors.Join(err, <-errs)
		}
		for _, v := range views {
			err = errors.Join(err, v.Free())
		}
		err = errors.Join(err, p.v.FlushAll(), barrier(w))
		if err != nil || w.Comm.Rank != 0 {
			return err
		}
		for i := range elements {
			want := int64(2*k + 2*len(mine)*(k-k/2))
			if i < k && i%2 == 1 {
				want += int64(2 * len(mine))
			}
			if got := toInt64(p.mem[8*(last+i):]); got != want {
				return fmt.Errorf("element %d is %d, want %d", i, got, want)
			}
		}
		return nil
	})
}
