package mpi_test

import (
	"slices"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// Periods between fences are alternately for puts, for local stores, and for gets: all are
// complete on both sides at the fence.
func TestRS01_FencePeriods(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		onSpaces(t, c, n, func(t testing.TB, s *space[int64]) {
			ok(t, s.Fence(mpi.ModeNoPrecede))
			for round := range rounds(30) {
				for r := range n {
					ok(t, s.Put([]int64{int64(round*n + me)}, r, s.at(r, me)))
				}
				ok(t, s.Fence(0))
				for r, v := range s.mem {
					if v != int64(round*n+r) {
						t.Fatalf("round %d: after the puts %v", round, s.mem)
					}
				}
				for i := range s.mem {
					s.mem[i] = -s.mem[i]
				}
				ok(t, s.Fence(mpi.ModeNoPrecede))
				got := make([]int64, n)
				for r := range n {
					ok(t, s.Get(got[r:r+1], r, s.at(r, r)))
				}
				ok(t, s.Fence(mpi.ModeNoStore))
				for r, v := range got {
					if v != -int64(round*n+r) {
						t.Fatalf("round %d: got %v", round, got)
					}
				}
			}
			ok(t, s.Fence(mpi.ModeNoSucceed))
		})
	})
}

// Groups of every kind: with one member, with several, empty, and with the caller (X-RMA-21).
// Data that was put between Start and Complete is there after Wait.
func TestRS02_XRMA21_PostStartGroups(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		all, err := c.Group()
		ok(t, err)
		group := func(ranks ...int) mpi.Group {
			slices.Sort(ranks)
			g, err := all.Incl(slices.Compact(ranks))
			ok(t, err)
			return g
		}
		next, before := (me+1)%n, (me+n-1)%n
		onSpaces(t, c, n, func(t testing.TB, s *space[int64]) {
			for round := range rounds(50) {
				targets, origins := []int{}, []int{}
				switch round % 5 {
				case 0: // a ring
					targets, origins = []int{next}, []int{before}
				case 1: // all ranks, including the rank itself
					for r := range n {
						targets, origins = append(targets, r), append(origins, r)
					}
				case 2: // all to rank 0
					targets = []int{0}
					if me == 0 {
						origins = []int{0, 1, 2, 3}
					}
				case 3: // only the rank itself
					targets, origins = []int{me}, []int{me}
				}
				ok(t, s.Post(group(origins...), 0))
				ok(t, s.Start(group(targets...), 0))
				for _, r := range targets {
					ok(t, s.Put([]int64{int64(100*round + me)}, r, s.at(r, me)))
				}
				ok(t, s.Complete())
				ok(t, s.Wait())
				for _, r := range origins {
					if s.mem[r] != int64(100*round+r) {
						t.Fatalf("round %d: memory %v, origins %v", round, s.mem, origins)
					}
				}
			}
		})
	})
}

// Two targets post in an order that differs from that of the origin's epochs (X-RMA-21).
func TestXRMA21_OrderOfExposures(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		all, err := c.Group()
		ok(t, err)
		one := func(r int) mpi.Group {
			g, err := all.Incl([]int{r})
			ok(t, err)
			return g
		}
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			switch c.Rank() {
			case 0: // accesses 1, then 2
				for _, r := range []int{1, 2} {
					ok(t, s.Start(one(r), 0))
					ok(t, s.Put([]int64{int64(r)}, r, s.at(r, 0)))
					ok(t, s.Complete())
				}
			case 1: // posts after rank 2 has
				_, err := mpi.Recv(c, []byte{0}, 2, 0)
				ok(t, err)
				fallthrough
			case 2:
				ok(t, s.Post(one(0), 0))
				if c.Rank() == 2 {
					ok(t, mpi.Send(c, []byte{0}, 1, 0))
				}
				ok(t, s.Wait())
				if s.mem[0] != int64(c.Rank()) {
					t.Errorf("memory %v", s.mem)
				}
			}
		})
	})
}

// Start, and the operations after it, return before the target posts. No data arrives before the
// post, although the target changes its memory until then. All of it arrives in the end.
func TestXRMA17_NothingBeforeThePost(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		all, err := c.Group()
		ok(t, err)
		origins, err := all.Incl([]int{1, 2, 3})
		ok(t, err)
		target, err := all.Incl([]int{0})
		ok(t, err)
		me := c.Rank()
		onSpaces(t, c, 16, func(t testing.TB, s *space[int64]) {
			if me != 0 {
				got, old, one := []int64{0}, []int64{0}, int64(1)
				ok(t, s.Start(target, 0))
				ok(t, s.Put([]int64{int64(me)}, 0, s.at(0, me)))
				ok(t, s.Accumulate([]int64{10}, 0, s.at(0, 4), mpi.Sum))
				ok(t, s.Get(got, 0, s.at(0, 5)))
				ok(t, s.GetAccumulate([]int64{1}, old, 0, s.at(0, 6+me), mpi.Sum))
				ok(t, s.FetchAndOp(&one, &one, 0, s.at(0, 10), mpi.Sum))
				// All these calls return before the post, which waits for this message.
				ok(t, mpi.Send(c, []byte{0}, 0, 0))
				ok(t, s.Complete())
				if got[0] != 77 || old[0] != 5 || one < 7 || one > 9 {
					t.Errorf("fetched %d, %d, %d: values of before the post", got[0], old[0], one)
				}
				return
			}
			for range 3 {
				ok(t, second(mpi.Recv(c, []byte{0}, mpi.AnySource, 0)))
			}
			deadline := time.Now().Add(20 * time.Millisecond)
			for round := int64(0); time.Now().Before(deadline); round++ {
				for i := range s.mem {
					if s.mem[i] != round && round > 0 {
						t.Fatalf("element %d is %d before the post", i, s.mem[i])
					}
					s.mem[i] = round + 1
				}
			}
			clear(s.mem)
			s.mem[5], s.mem[7], s.mem[8], s.mem[9], s.mem[10] = 77, 5, 5, 5, 7
			ok(t, s.Post(origins, 0))
			ok(t, s.Wait())
			if !slices.Equal(s.mem, []int64{0, 1, 2, 3, 30, 77, 0, 6, 6, 6, 10, 0, 0, 0, 0, 0}) {
				t.Errorf("memory %v", s.mem)
			}
		})
	})
}

// Test tests the epoch and makes progress: in the end it returns true (X-RMA-18), and the epoch
// has ended.
func TestXRMA18_TestOfAnExposure(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		all, err := c.Group()
		ok(t, err)
		origin, err := all.Incl([]int{1})
		ok(t, err)
		target, err := all.Incl([]int{0})
		ok(t, err)
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			switch c.Rank() {
			case 0:
				ok(t, s.Post(origin, 0))
				done, err := s.Test()
				ok(t, err)
				if done {
					t.Error("done, and nobody has begun")
				}
				ok(t, mpi.Send(c, []byte{0}, 1, 0))
				for !done {
					done, err = s.Test()
					ok(t, err)
				}
				if s.mem[0] != 5 {
					t.Errorf("memory %v", s.mem)
				}
				_, err = s.Test()
				wantClass(t, err, mpi.ErrRMASync)
			case 1:
				ok(t, second(mpi.Recv(c, []byte{0}, 0, 0)))
				ok(t, s.Start(target, 0))
				ok(t, s.Put([]int64{5}, 0, s.at(0, 0)))
				ok(t, s.Complete())
			}
		})
	})
}

// One window is used with all ways of synchronising, one after the other.
func TestRS04_SwitchingModes(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		es := epochs(t, c)
		onSpaces(t, c, n, func(t testing.TB, s *space[int64]) {
			for round := range rounds(30) {
				e := es[(round*7+round/4)%len(es)]
				ok(t, e.open(s.Window))
				for r := range n {
					ok(t, s.Put([]int64{int64(round*n + me)}, r, s.at(r, me)))
				}
				ok(t, e.close(s.Window))
				for r, v := range s.mem {
					if v != int64(round*n+r) {
						t.Fatalf("round %d, %s: %v", round, e.name, s.mem)
					}
				}
				ok(t, c.Barrier()) // the loads come before the next puts
			}
		})
	})
}

// Updates may be visible before the synchronisation, but only as a whole (RS-05, E1-04).
func TestRS05_EarlyVisibility(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			const v = 0x1122334455667788
			ok(t, s.LockAll(0))
			if c.Rank() == 1 {
				ok(t, s.Accumulate([]int64{v}, 0, s.at(0, 0), mpi.Replace))
			}
			if c.Rank() == 0 {
				for range 100 {
					seen := int64(-1)
					ok(t, s.FetchAndOp(nil, &seen, 0, s.at(0, 0), mpi.NoOp))
					ok(t, s.Flush(0))
					if seen != 0 && seen != v {
						t.Fatalf("saw %#x", seen)
					}
				}
			}
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			if c.Rank() == 0 && s.mem[0] != v {
				t.Errorf("memory %#x", s.mem[0])
			}
		})
	})
}

// Complete returns when the target has posted; it does not wait for the target's Wait (RS-09).
func TestRS09_CompleteDoesNotWaitForWait(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		all, err := c.Group()
		ok(t, err)
		origin, err := all.Incl([]int{1})
		ok(t, err)
		target, err := all.Incl([]int{0})
		ok(t, err)
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			switch c.Rank() {
			case 0:
				ok(t, s.Post(origin, 0))
				ok(t, second(mpi.Recv(c, []byte{0}, 1, 0))) // sent after Complete
				ok(t, s.Wait())
				if s.mem[0] != 3 {
					t.Errorf("memory %v", s.mem)
				}
			case 1:
				ok(t, s.Start(target, 0))
				ok(t, s.Put([]int64{3}, 0, s.at(0, 0)))
				ok(t, s.Complete())
				ok(t, mpi.Send(c, []byte{0}, 0, 0))
			}
		})
	})
}
