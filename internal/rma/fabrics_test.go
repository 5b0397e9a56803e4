package rma_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// fabrics are those over which n ranks reach each other: heap memory, sockets, shared memory, and
// with more than two ranks some of them together.
func fabrics(n int) []string {
	list := []string{"inproc", "tcp", "shm"}
	switch n {
	case 3:
		list = append(list, "inproc@010", "shm@010")
	case 4:
		list = append(list, "inproc@0110", "shm@0110")
	}
	return testrun.Fabrics(list...)
}

// each runs fn as n ranks over every fabric.
func each(t *testing.T, n int, fn func(w *world.World) error) {
	t.Helper()
	for _, fabric := range fabrics(n) {
		t.Run(fabric, func(t *testing.T) { on(t, fabric, n, fn) })
	}
}

// on runs fn as n ranks over a fabric.
func on(t *testing.T, fabric string, n int, fn func(w *world.World) error) {
	t.Helper()
	err := world.RunGoroutines(fabric, n, func(w *world.World) error {
		if err := fn(w); err != nil {
			return fmt.Errorf("rank %d: %w", w.Comm.Rank, err)
		}
		return w.Close()
	})
	if err != nil {
		t.Fatalf("%d ranks over %s: %v", n, fabric, err)
	}
}

// barrier is one of all ranks.
func barrier(w *world.World) error { return w.Coll.Barrier(w.Comm) }

// tell exchanges one word of each rank.
func tell(w *world.World, mine uint64) ([]uint64, error) {
	give, all := make([]byte, 8), make([]byte, 8*w.Comm.Size())
	put64(give, mine)
	err := w.Coll.Do(w.Comm, coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all), Width: 8})
	words := make([]uint64, w.Comm.Size())
	for r := range words {
		words[r] = get64(all[8*r:])
	}
	return words, err
}

// agreed returns an error at all ranks if one has any.
func agreed(w *world.World, mine error) error {
	var bad, sum [8]byte
	if mine != nil {
		bad[0] = 1
	}
	if err := w.Coll.Allreduce(w.Comm, bad[:], sum[:], op.Sum, op.Uint64, dtype.Mixed); err != nil {
		return err
	}
	if mine == nil && sum[0] != 0 {
		return fmt.Errorf("another rank has failed")
	}
	return mine
}

func put64(b []byte, x uint64) {
	for i := range 8 {
		b[i] = byte(x >> (8 * i))
	}
}

func get64(b []byte) (x uint64) {
	for i := range 8 {
		x |= uint64(b[i]) << (8 * i)
	}
	return x
}

// window is a window of some kind with the memory that this rank exposes in it.
type window struct {
	*rma.View
	w    *world.World
	mem  []byte
	base []uint64 // displacement of the memory of each rank in bytes: its address in dynamic windows
	unit int64    // of displacements
	done func() error
}

// disp is the displacement of byte off of a rank's memory, which is a multiple of the unit.
func (x *window) disp(rank int, off int64) int64 { return int64(x.base[rank])/x.unit + off/x.unit }

// free ends the window and frees its memory.
func (x *window) free() error {
	if err := x.View.Free(); err != nil {
		return err
	}
	return x.done()
}

// maker makes a window in which every rank exposes size bytes.
type maker struct {
	name string
	make func(w *world.World, size, unit int64) (*window, error)
	near bool // only where all share memory
}

// makers are all kinds of windows.
func makers() []maker {
	plain := func(s rma.Spec) func(w *world.World, size, unit int64) (*window, error) {
		return func(w *world.World, size, unit int64) (*window, error) {
			s.Size, s.DispUnit = size, unit
			v, err := w.RMA.Create(w.Comm, s)
			if err != nil {
				return nil, err
			}
			return &window{v, w, v.Local(), make([]uint64, w.Comm.Size()), unit, func() error { return nil }}, nil
		}
	}
	return []maker{
		{"created on the heap", func(w *world.World, size, unit int64) (*window, error) {
			return created(w, heapBytes(size), unit, func() error { return nil })
		}, false},
		{"created in shared memory", func(w *world.World, size, unit int64) (*window, error) {
			b, err := w.Memory.Alloc(size, 64)
			if err != nil {
				return nil, err
			}
			return created(w, b.Mem, unit, func() error { return w.Memory.Free(b.Mem) })
		}, false},
		{"allocated", plain(rma.Spec{Flavor: rma.Allocated}), false},
		{"fine", plain(rma.Spec{Flavor: rma.Allocated, Options: rma.Options{Granularity: 8}}), false},
		{"shared", plain(rma.Spec{Flavor: rma.Shared}), true},
		{"shared apart", plain(rma.Spec{Flavor: rma.Shared, Noncontig: true}), true},
		{"dynamic on the heap", func(w *world.World, size, unit int64) (*window, error) {
			return dynamic(w, heapBytes(size), func() error { return nil })
		}, false},
		{"dynamic in shared memory", func(w *world.World, size, unit int64) (*window, error) {
			b, err := w.Memory.Alloc(size, 64)
			if err != nil {
				return nil, err
			}
			return dynamic(w, b.Mem, func() error { return w.Memory.Free(b.Mem) })
		}, false},
	}
}

// heapBytes is memory of the Go heap that begins at a multiple of 8.
func heapBytes(n int64) []byte {
	return append(make([]byte, 0, max(n, 64)), make([]byte, n)...)
}

func created(w *world.World, mem []byte, unit int64, done func() error) (*window, error) {
	v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Created, Mem: mem, DispUnit: unit})
	if err != nil {
		return nil, err
	}
	return &window{v, w, mem, make([]uint64, w.Comm.Size()), unit, done}, nil
}

func dynamic(w *world.World, mem []byte, done func() error) (*window, error) {
	v, err := w.RMA.Create(w.Comm, rma.Spec{Flavor: rma.Dynamic})
	if err != nil {
		return nil, err
	}
	if err := v.Attach(mem, nil); err != nil {
		return nil, err
	}
	base, err := tell(w, addressOf(mem))
	if err != nil {
		return nil, err
	}
	return &window{v, w, mem, base, 1, done}, nil
}

// eachWindow runs fn with windows of every kind, over every fabric.
func eachWindow(t *testing.T, n int, size, unit int64, fn func(x *window) error) {
	t.Helper()
	each(t, n, func(w *world.World) error {
		for _, m := range makers() {
			if m.near && !together(w) {
				continue
			}
			blocks, live := w.Memory.Live()
			x, err := m.make(w, size, unit)
			if err == nil {
				err = fn(x)
				if err == nil {
					err = x.free()
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if b, n := w.Memory.Live(); b != blocks || n != live {
				return fmt.Errorf("%s: %d blocks and %d bytes are left, before there were %d and %d", m.name, b, n, blocks, live)
			}
		}
		return nil
	})
}

// together reports whether all ranks share memory.
func together(w *world.World) bool {
	return w.Proc.Node() != nil && len(w.Proc.Job().Local) == w.Comm.Size()
}
