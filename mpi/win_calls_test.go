package mpi_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Put and Get of elements of every type of Go, in epochs of every kind, on windows of every
// kind.
func TestRC01_RC02_PutAndGet(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		putsAndGets(t, c, func(i int) int64 { return int64(i)*0x0123456789 - 7 })
		putsAndGets(t, c, func(i int) bool { return i%3 == 0 })
		putsAndGets(t, c, func(i int) int8 { return int8(i) })
		putsAndGets(t, c, func(i int) uint16 { return uint16(i * 257) })
		putsAndGets(t, c, func(i int) float32 { return float32(i) / 7 })
		putsAndGets(t, c, func(i int) complex128 { return complex(float64(i), -1) })
		putsAndGets(t, c, func(i int) mpi.ValueIndex[float64, int] { return mpi.ValueIndex[float64, int]{Value: 1, Index: i} })
	})
}

// putsAndGets has all ranks put numbers to the next rank and get them back.
func putsAndGets[T interface {
	comparable
	mpi.Elem
}](t testing.TB, c *mpi.Comm, of func(i int) T) {
	t.Helper()
	const n = 70 // bytes: some are short, some longer than a line
	me, size := c.Rank(), c.Size()
	next, before := (me+1)%size, (me+size-1)%size
	for _, e := range epochs(t, c) {
		onSpaces(t, c, n, func(t testing.TB, s *space[T]) {
			t = labelled{t, e.name}
			out := make([]T, n-10)
			for i := range out {
				out[i] = of(me*n + i)
			}
			ok(t, e.open(s.Window))
			ok(t, s.Put(out[:1], next, s.at(next, 3)))
			ok(t, s.Put(out[1:], next, s.at(next, 9)))
			ok(t, e.close(s.Window))
			for i := range s.mem {
				var want T
				switch {
				case i == 3:
					want = of(before * n)
				case i >= 9 && i < 9+len(out)-1:
					want = of(before*n + i - 8)
				}
				if s.mem[i] != want {
					t.Fatalf("element %d is %v, want %v", i, s.mem[i], want)
				}
			}
			back := make([]T, len(out))
			ok(t, e.open(s.Window))
			ok(t, s.Get(back[:1], next, s.at(next, 3)))
			ok(t, s.Get(back[1:], next, s.at(next, 9)))
			ok(t, e.close(s.Window))
			if !slices.Equal(back, out) {
				t.Fatalf("got %v, want %v", back, out)
			}
		})
	}
}

// The layouts at origin and target differ, but their signatures are the same. Each size of
// blocks uses another path: packed, gathered, by runs.
func TestRC13_LayoutsOnBothSides(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, size := c.Rank(), c.Size()
		next := (me + 1) % size
		int32s := typeOf[int32]()
		for _, x := range []struct{ block, blocks int }{{1, 5}, {3, 40}, {1, 5000}, {700, 9}, {3000, 6}} {
			n := x.block * x.blocks
			from := typ(t)(mpi.TypeVector(x.blocks, x.block, 2*x.block, int32s))
			lengths, displs := make([]int, x.blocks), make([]int, x.blocks)
			for i := range lengths { // in descending order, with gaps
				lengths[i], displs[i] = x.block, 4*3*x.block*(x.blocks-1-i)
			}
			to := typ(t)(mpi.TypeHindexed(lengths, displs, int32s))
			room := 3*n + 8
			onSpaces(t, c, room, func(t testing.TB, s *space[int32]) {
				unit := s.DispUnit()
				disp := func(rank int) int64 { return int64(s.at(rank, 0)) + int64(8*4/unit) }
				out := make([]int32, 2*n)
				for i := range out {
					out[i] = int32(me*1_000_000 + i)
				}
				ok(t, s.LockAll(0))
				ok(t, s.Untyped().Put(mpi.BufOf(out, 1, from), next, disp(next), 1, to))
				ok(t, s.Flush(next))
				flat, spread := make([]int32, n), make([]int32, 2*n)
				ok(t, s.Untyped().Get(mpi.Buf(flat), next, disp(next), 1, to))
				ok(t, s.Untyped().Get(mpi.BufOf(spread, 1, from), next, disp(next), 1, to))
				ok(t, s.UnlockAll())
				for i := range spread {
					want := int32(0)
					if i/x.block%2 == 0 {
						want = out[i]
					}
					if spread[i] != want {
						t.Fatalf("%d blocks of %d: element %d is %d, want %d", x.blocks, x.block, i, spread[i], want)
					}
				}
				for i, v := range flat {
					if want := out[i/x.block*2*x.block+i%x.block]; v != want {
						t.Fatalf("%d blocks of %d: packed element %d is %d, want %d", x.blocks, x.block, i, v, want)
					}
				}
				ok(t, c.Barrier())
				before := (me + size - 1) % size
				touched := 0
				for i, v := range s.mem {
					if v == 0 && (before != 0 || i != 8+3*x.block*(x.blocks-1)) {
						continue
					}
					touched++
					b := x.blocks - 1 - (i-8)/(3*x.block)
					if want := int32(before*1_000_000 + b*2*x.block + (i-8)%(3*x.block)); v != want || (i-8)%(3*x.block) >= x.block {
						t.Fatalf("%d blocks of %d: element %d at the target is %d, want %d", x.blocks, x.block, i, v, want)
					}
				}
				if touched != n {
					t.Errorf("%d blocks of %d: %d elements at the target are set, want %d", x.blocks, x.block, touched, n)
				}
			})
		}
	})
}

// Every call with the caller's own rank as target, in every kind of epoch, while other ranks
// make the same calls to it: no update is lost.
func TestRC14_Self(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me := c.Rank()
		for _, e := range epochs(t, c) {
			onSpaces(t, c, 8, func(t testing.TB, s *space[int64]) {
				t = labelled{t, e.name}
				at := func(i int) int { return s.at(me, i) }
				ok(t, e.open(s.Window))
				ok(t, s.Put([]int64{5}, me, at(0)))
				ok(t, s.Accumulate([]int64{2, 3}, me, at(1), mpi.Sum))
				ok(t, e.close(s.Window))
				got, old, was, swapped := []int64{0}, []int64{0, 0}, int64(0), int64(0)
				one, six, five := int64(1), int64(6), int64(5)
				ok(t, e.open(s.Window))
				ok(t, s.Get(got, me, at(0)))
				ok(t, s.GetAccumulate([]int64{10, 10}, old, me, at(1), mpi.Prod))
				ok(t, s.FetchAndOp(&one, &was, me, at(3), mpi.Sum))
				ok(t, s.CompareAndSwap(&six, &five, &swapped, me, at(4)))
				for r := range c.Size() { // and to all ranks
					ok(t, s.Accumulate([]int64{1}, r, s.at(r, 5), mpi.Sum))
				}
				if e.passive {
					for _, r := range []mpi.Request{
						s.Rput([]int64{9}, me, at(6)), s.Raccumulate([]int64{4}, me, at(7), mpi.Max),
						s.Rget(make([]int64, 1), me, at(0)), s.RgetAccumulate(nil, make([]int64, 1), me, at(0), mpi.NoOp),
					} {
						ok(t, second(r.Wait()))
					}
				}
				ok(t, e.close(s.Window))
				want := []int64{5, 20, 30, 1, 0, int64(c.Size()), 0, 0}
				if e.passive {
					want[6], want[7] = 9, 4
				}
				if !slices.Equal(s.mem, want) || got[0] != 5 || !slices.Equal(old, []int64{2, 3}) || was != 0 || swapped != 0 {
					t.Errorf("memory %v, want %v; fetched %v %v %d %d", s.mem, want, got, old, was, swapped)
				}
			})
		}
	})
}

// Every call with ProcNull as target does nothing, but needs an epoch nevertheless.
func TestRC15_ProcNull(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		for _, e := range epochs(t, c) {
			onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
				t = labelled{t, e.name}
				b, v := []int64{7}, int64(7)
				all := func() (errs []error) {
					const to = mpi.ProcNull
					errs = []error{s.Put(b, to, 0), s.Get(b, to, 0), s.Accumulate(b, to, 0, mpi.Sum),
						s.GetAccumulate(b, b, to, 0, mpi.Sum), s.FetchAndOp(&v, &v, to, 0, mpi.Sum), s.CompareAndSwap(&v, &v, &v, to, 0),
						s.Untyped().Put(mpi.Buf(b), to, -5, 1, typeOf[int64]())}
					if e.passive {
						for _, r := range []mpi.Request{s.Rput(b, to, 0), s.Rget(b, to, 0), s.Raccumulate(b, to, 0, mpi.Sum), s.RgetAccumulate(b, b, to, 0, mpi.Sum)} {
							errs = append(errs, second(r.Wait()))
						}
					}
					return errs
				}
				if e.name != "fence" { // Fence opens an epoch if operations follow
					for i, err := range all() {
						if err == nil {
							t.Errorf("call %d succeeds outside an epoch", i)
						}
					}
				}
				ok(t, e.open(s.Window))
				for _, err := range all() {
					ok(t, err)
				}
				ok(t, e.close(s.Window))
				if b[0] != 7 || v != 7 || s.mem[0] != 0 {
					t.Errorf("buffers %v %d, memory %v", b, v, s.mem)
				}
			})
		}
	})
}

// Shorter data is stored by whole elements, and the rest of the memory does not change; data
// that is too long is not stored at all.
func TestRC13_DataAndRoomOfDifferentLengths(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		int64s := typeOf[int64]()
		every2nd := typ(t)(mpi.TypeResized(int64s, 0, 16))
		peer := 1 - c.Rank()
		onSpaces(t, c, 10, func(t testing.TB, s *space[int64]) {
			put := func(b mpi.Buffer, count int, d mpi.Datatype) error {
				return s.Untyped().Put(b, peer, int64(s.at(peer, 0)), count, d)
			}
			get := func(b mpi.Buffer, count int, d mpi.Datatype) error {
				return s.Untyped().Get(b, peer, int64(s.at(peer, 0)), count, d)
			}
			room := []int64{-1, -1, -1}
			ok(t, s.Fence(0))
			ok(t, put(mpi.Buf([]int64{1, 2}), 4, every2nd))
			ok(t, s.Fence(0))
			ok(t, get(mpi.Buf(room), 2, every2nd))
			ok(t, s.Fence(0))
			wantText(t, put(mpi.Buf([]int64{9, 9, 9}), 2, every2nd), mpi.ErrTruncate, "24 bytes do not fit into 16 bytes")
			wantText(t, get(mpi.Buf(room[:1]), 2, every2nd), mpi.ErrTruncate, "16 bytes do not fit into 8 bytes")
			wantText(t, put(mpi.Buf([]int32{9, 9, 9}), 2, every2nd), mpi.ErrType, "12 bytes are not a whole number")
			wantText(t, get(mpi.Buf([]complex128{0, 0}), 3, int64s), mpi.ErrType, "24 bytes are not a whole number")
			ok(t, s.Fence(0))
			if !slices.Equal(s.mem, []int64{1, 0, 2, 0, 0, 0, 0, 0, 0, 0}) || !slices.Equal(room, []int64{1, 2, -1}) {
				t.Errorf("memory %v, got %v", s.mem, room)
			}
		})
	})
}
