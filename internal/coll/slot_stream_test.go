package coll_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// given returns what the root gives in the k-th broadcast of a test.
func given(size int, k uint64) []byte {
	b := make([]byte, size)
	fill(b, rand.New(rand.NewPCG(k, 5)))
	return b
}

// bcast does the k-th broadcast of a test and checks it.
func bcast(w *world.World, c *comm.Comm, size, root int, k uint64) error {
	want := given(size, k)
	got := make([]byte, size)
	if c.Rank == root {
		copy(got, want)
	}
	if err := w.Coll.Bcast(c, got, dtype.Mixed, root); err != nil {
		return fmt.Errorf("bcast %d of %d bytes from %d: %w", k, size, root, err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("bcast %d of %d bytes from %d: rank %d got something else", k, size, root, c.Rank)
	}
	return nil
}

// both are the fabrics through memory.
var both = []string{"inproc", "shm"}

// A root does not wait for the others until the stream is full: it runs ahead by as many short
// broadcasts as there are turns, or by as many long ones as fit into the memory.
func TestRootRunsAhead(t *testing.T) {
	for _, fabric := range both {
		for _, f := range []slot.Form{slot.Cells, slot.Counter} {
			for _, x := range []struct{ size, ahead int }{
				{1, shmfmt.StreamTurns}, {shmfmt.StreamShort, shmfmt.StreamTurns}, {4 << 10, shmfmt.StreamTurns},
				{16 << 10, shmfmt.StreamBytes / (16 << 10)},
			} {
				gone := make(chan struct{})
				run(t, fabric, 3, slots(f), func(w *world.World) error {
					if w.Comm.Rank != 0 {
						<-gone
					}
					for k := range 3 * x.ahead {
						if w.Comm.Rank == 0 && k == x.ahead {
							close(gone) // no other member has read the stream yet
						}
						if err := bcast(w, w.Comm, x.size, 0, uint64(k)); err != nil {
							return err
						}
					}
					return nil
				})
			}
		}
	}
}

// Data that some member has not read is not overwritten. A root with a slow member stops when
// all turns or all cache lines of the stream are in use, and goes on when they are free again.
func TestRootWaitsForTheLast(t *testing.T) {
	const piece = 32 << 10
	fills := []int{64}
	for range shmfmt.StreamBytes / piece {
		fills = append([]int{piece}, fills...)
	}
	for _, fabric := range both {
		for _, x := range []struct {
			sizes []int // used in turn
			ahead int64
		}{
			{[]int{8}, shmfmt.StreamTurns},
			{fills, shmfmt.StreamBytes / piece},
			{[]int{piece - 1000}, shmfmt.StreamBytes / piece},
		} {
			var sent atomic.Int64
			run(t, fabric, 3, auto(), func(w *world.World) error {
				for k := range 4 * x.ahead {
					if w.Comm.Rank == 2 && k%x.ahead == 0 {
						for seen := int64(-1); seen != sent.Load(); { // until the root stops
							seen = sent.Load()
							time.Sleep(2 * time.Millisecond)
						}
						if ahead := sent.Load() - k; ahead > x.ahead+1 {
							return fmt.Errorf("the root is ahead by %d broadcasts of %v bytes", ahead, x.sizes)
						}
					}
					if err := bcast(w, w.Comm, x.sizes[k%int64(len(x.sizes))], 0, uint64(k)); err != nil {
						return err
					}
					if w.Comm.Rank == 0 {
						sent.Store(k + 1)
					}
				}
				return nil
			})
		}
	}
}

// A member that sleeps in a broadcast is woken, even if the member that wakes it does nothing
// after this: the root wakes a member, and the last member wakes a root that waits for room.
func TestStreamWakesSleepers(t *testing.T) {
	for _, fabric := range both {
		for range 10 {
			all, room := make(chan struct{}), make(chan struct{})
			wait := func(c chan struct{}, what string) error {
				hung, stop := testrun.Context(t.Context())
				defer stop()
				select {
				case <-c:
					return nil
				case <-hung.Done():
					return errors.New(what + " sleeps for ever")
				}
			}
			var got atomic.Int64
			run(t, fabric, 3, auto(), func(w *world.World) error {
				root := w.Comm.Rank == 0
				if root {
					time.Sleep(5 * time.Millisecond)
				}
				if err := bcast(w, w.Comm, 8, 0, 0); err != nil {
					return err
				}
				if got.Add(1) == 3 {
					close(all)
				}
				if err := wait(all, "a member"); err != nil {
					return err
				}
				if !root {
					time.Sleep(5 * time.Millisecond)
				}
				for k := uint64(1); k <= shmfmt.StreamTurns+1; k++ {
					if !root && k == shmfmt.StreamTurns {
						if err := wait(room, "the root"); err != nil {
							return err
						}
					}
					if err := bcast(w, w.Comm, 8, 0, k); err != nil {
						return err
					}
				}
				if root {
					close(room)
				}
				return nil
			})
		}
	}
}

// K: broadcasts of all lengths from any root, mixed with other collectives, with members that
// are late, so that pieces wrap round the end of the stream at every offset.
func TestStreamEqualsSerial(t *testing.T) {
	steps, ranks, fabrics := 500, []int{2, 3, 8}, both
	if testrun.Race {
		steps, ranks, fabrics = 150, []int{3, 8}, both[:1]
	}
	for _, fabric := range fabrics {
		for _, f := range []slot.Form{slot.Cells, slot.Counter} {
			for _, n := range ranks {
				run(t, fabric, n, slots(f), func(w *world.World) error {
					own := rand.New(rand.NewPCG(uint64(w.Comm.Rank), 11))
					g := rand.New(rand.NewPCG(uint64(n), 12))
					root := 0
					for k := range uint64(steps) {
						size := []int{8, shmfmt.StreamShort, shmfmt.StreamShort + 1, 1 + g.IntN(100), 1 + g.IntN(5000), 1 + g.IntN(40_000), 1 + g.IntN(700_000)}[min(g.IntN(8), g.IntN(8), 6)]
						if g.IntN(10) == 0 {
							root = g.IntN(n)
						}
						switch own.IntN(50) {
						case 0:
							time.Sleep(time.Duration(own.IntN(300)) * time.Microsecond)
						case 1, 2, 3, 4:
							runtime.Gosched()
						}
						if err := bcast(w, w.Comm, size, root, k); err != nil {
							return err
						}
						if g.IntN(20) == 0 {
							if err := everything(w, w.Comm, k, 1, coll.Barrier, coll.Allreduce, coll.Reduce, coll.Allgather, coll.Alltoall); err != nil {
								return err
							}
						}
					}
					return nil
				})
			}
		}
	}
}

// 6.1: members that disagree on the length of a broadcast get an error, and the next broadcasts
// through the stream are right.
func TestStreamOfLengthsThatDisagree(t *testing.T) {
	for _, fabric := range both {
		run(t, fabric, 4, auto(), func(w *world.World) error {
			for k, x := range []struct {
				root, size, other int
				class             class.Class
			}{
				{0, 8, 4, class.Truncate}, {1, 8, 100, class.Count}, {2, 300_000, 10, class.Truncate},
				{0, 10, 300_000, class.Count}, {3, 100_000, 99_999, class.Truncate}, {3, 100_000, 200_000, class.Count},
			} {
				id, mine := uint64(k), x.size
				if w.Comm.Rank == (x.root+1)%4 {
					mine = x.other
				}
				buf := make([]byte, mine)
				if w.Comm.Rank == x.root {
					copy(buf, given(x.size, id))
				}
				err := w.Coll.Bcast(w.Comm, buf, dtype.Mixed, x.root)
				if mine == x.size {
					if err != nil {
						return err
					}
				} else if err := want(err, x.class); err != nil {
					return err
				}
				if n := min(mine, x.size); !bytes.Equal(buf[:n], given(x.size, id)[:n]) {
					return fmt.Errorf("case %d: the part that fits is wrong", k)
				}
				for i := range uint64(3) {
					if err := bcast(w, w.Comm, 50_000, int(i), 100+id*3+i); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
}

// F1: a member dies while the root is ahead of it: the root gets an error when the stream is
// full, the others when there is no more data to read.
func TestF1_DeathBehindTheRoot(t *testing.T) {
	for _, fabric := range testrun.Fabrics(both...) {
		for _, dead := range []int{0, 2} {
			for _, size := range []int{8, 100_000} {
				err := world.RunGoroutines(fabric, 4, func(w *world.World) error {
					for k := uint64(0); ; k++ {
						if w.Comm.Rank == dead && k == 5 {
							return errLeaves
						}
						if err := bcast(w, w.Comm, size, 0, k); err != nil {
							return want(err, class.ProcFailed)
						}
					}
				})
				if !errors.Is(err, errLeaves) {
					t.Errorf("%s, rank %d dies, %d bytes: %v", fabric, dead, size, err)
				}
			}
		}
	}
}

// S6: a length that no broadcast can have is an error.
func TestS6_ForgedLengthOfBroadcast(t *testing.T) {
	for _, size := range []uint64{1 << (shmfmt.TurnBits - 1), 1<<shmfmt.TurnBits - 1} {
		run(t, "inproc", 3, auto(), func(w *world.World) error {
			if w.Comm.Rank == 0 {
				node := w.Proc.Node()
				turn := &node.Control().Slot(coll.WorldSlot).Head().Turns[1]
				turn.Size = size
				turn.Number.Store(1)
				for i := 1; i < 3; i++ { // the other members may sleep already
					node.Ring(i)
				}
				return nil
			}
			return want(w.Coll.Bcast(w.Comm, make([]byte, 1000), dtype.Mixed, 0), class.Intern)
		})
	}
}
