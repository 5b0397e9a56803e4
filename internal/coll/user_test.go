package coll_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/world"
)

// compose returns the map x -> a(bx+c)+d of two maps of numbers of 32 bits, in the form
// factor<<32 | summand. The operation is associative and does not commute.
func compose(f, g uint64) uint64 {
	a, d := uint32(f>>32), uint32(f)
	b, c := uint32(g>>32), uint32(g)
	return uint64(a*b)<<32 | uint64(a*c+d)
}

// composition returns compose as an operation of the program.
func composition() *op.User {
	return &op.User{Fn: func(in, inout []byte) {
		le := binary.LittleEndian
		for i := 0; i < len(inout); i += 8 {
			le.PutUint64(inout[i:], compose(le.Uint64(in[i:]), le.Uint64(inout[i:])))
		}
	}}
}

// COL-01, COL-02: operands are combined in the order of the ranks in every reduction by every
// algorithm, to any root, with elements of any size.
func TestCOL01_OrderOfTheRanks(t *testing.T) {
	const width = 24 // not a divisor of a power of two
	triple := &op.User{Fn: func(in, inout []byte) {
		if len(in)%width != 0 || len(in) != len(inout) {
			panic(fmt.Sprintf("%d and %d bytes of elements of %d", len(in), len(inout), width))
		}
		composition().Fn(in, inout)
	}}
	long := map[int]int{2: 6000, 3: 6000} // more than a segment of a chain
	kinds := []coll.Kind{coll.Reduce, coll.Allreduce, coll.Scan, coll.Exscan, coll.ReduceScatterBlock}
	for _, f := range forms() {
		for _, k := range kinds {
			if len(f.kinds) == 1 && f.kinds[0] != k || len(f.kinds) > 1 && f.name != "auto" {
				continue // operations of the program do not go through slots
			}
			for _, n := range []int{2, 3, 5, 8} {
				run(t, "inproc", n, f.c, func(w *world.World) error {
					for root := range n {
						for _, count := range []int{n, 100 * n, long[n]} {
							if err := inOrder(w, k, root, count, width, triple); err != nil {
								return fmt.Errorf("%v as %s to %d, %d elements: %w", k, f.name, root, count, err)
							}
						}
						if k != coll.Reduce {
							break
						}
					}
					return nil
				})
			}
		}
	}
}

// inOrder does one reduction and compares it with the serial one.
func inOrder(w *world.World, k coll.Kind, root, count, width int, u *op.User) error {
	n, me := w.Comm.Size(), w.Comm.Rank
	gives := func(r int) []byte {
		b := make([]byte, count*width)
		fill(b, rand.New(rand.NewPCG(uint64(r), uint64(count))))
		return b
	}
	upTo := func(last int) []byte {
		sum := gives(last)
		for r := last - 1; r >= 0; r-- {
			u.Fn(gives(r), sum)
		}
		return sum
	}
	recv := make([]byte, count*width)
	want := bytes.Clone(recv)
	a := coll.Args{Send: coll.Bytes(gives(me)), Recv: coll.Bytes(recv), Width: width, User: u, Root: root}
	switch k {
	case coll.Reduce:
		if me == root {
			want = upTo(n - 1)
		}
	case coll.Allreduce:
		want = upTo(n - 1)
	case coll.Scan:
		want = upTo(me)
	case coll.Exscan:
		if me > 0 {
			want = upTo(me - 1)
		}
	case coll.ReduceScatterBlock:
		block := count / n * width
		copy(want, upTo(n - 1)[me*block:(me+1)*block])
	}
	if err := w.Coll.Do(w.Comm, k, &a); err != nil {
		return err
	}
	if !bytes.Equal(recv, want) {
		return errors.New("operands are not in the order of the ranks")
	}
	return nil
}

// Bad input: if an operation panics, or ends its goroutine, on one rank, the call on that rank
// returns an error, and the calls on all ranks end. The next collective is right.
func TestUserOperationThatPanics(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for _, f := range forms() {
			for _, k := range f.kinds {
				if k != coll.Reduce && k != coll.Allreduce && k != coll.Scan && k != coll.ReduceScatterBlock ||
					fabric != "inproc" && len(f.kinds) == 1 {
					continue
				}
				run(t, fabric, 3, f.c, func(w *world.World) error {
					for _, leave := range []bool{false, true} {
						var called atomic.Bool
						bad := &op.User{Commutes: leave, Fn: func(in, inout []byte) {
							if w.Comm.Rank == 1 {
								called.Store(true)
								if leave {
									runtime.Goexit()
								}
								panic("no such number")
							}
						}}
						send := make([]byte, 3*800)
						err := w.Coll.Do(w.Comm, k, &coll.Args{Send: coll.Bytes(send), Recv: coll.Bytes(make([]byte, len(send))), Width: 8, User: bad, Root: 1})
						var ce *class.Error
						if called.Load() != (errors.As(err, &ce) && ce.Class == class.Other) {
							return fmt.Errorf("%v as %s on rank %d: operation called %v, error %v", k, f.name, w.Comm.Rank, called.Load(), err)
						}
						if err := inOrder(w, k, 0, 300, 8, composition()); err != nil {
							return err
						}
					}
					return nil
				})
			}
		}
	}
}

// A collective with a slow operation does not block the engine: the operation may wait for a
// message of another communication of the same process.
func TestOperationDoesNotHoldTheEngine(t *testing.T) {
	run(t, "inproc", 2, auto(), func(w *world.World) error {
		c, err := w.Coll.Dup(w.Comm)
		if err != nil {
			return err
		}
		arrived := make(chan error, 1)
		slow := &op.User{Fn: func(in, inout []byte) {
			if err := <-arrived; err != nil {
				panic(err)
			}
		}}
		w.Proc.Lock()
		r, err := w.Coll.Start(w.Comm, coll.Allreduce, coll.Nonblocking, &coll.Args{Send: coll.Bytes(make([]byte, 8)), Recv: coll.Bytes(make([]byte, 8)), Width: 8, User: slow})
		w.Proc.Unlock()
		if err != nil {
			return err
		}
		arrived <- w.Coll.Barrier(c)
		w.Coll.Free(c)
		return finish(w, r)
	})
}
