package coll_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// Collectives over several hosts, which world.RunGoroutines simulates: the members of a host are
// connected through memory, or loopback, and members of different hosts through sealed tcp.
// Tests over hosts that are network namespaces, with a launcher, are in package mpi.

// spreads are placements of 1 to 9 ranks: consecutive on each node, in turn, and irregular; a
// node with one member among larger ones, and nodes with one member each.
var spreads = []string{"0", "01", "001", "010", "012", "0011", "0101", "0110", "00102", "01201", "000111", "010101", "0001222", "00110011", "012012012", "000000001"}

// nears are the fabrics that can connect the members of a node.
var nears = []string{"inproc", "shm", "tcp"}

// K: every collective by every algorithm and form gives the same as a serial computation, for
// every placement of the ranks, on the world, a duplicate, and parts of the world with other
// placements.
func TestCollectivesOverHosts(t *testing.T) {
	for i, places := range spreads {
		for k, near := range nears {
			if len(places) > 4 && (i+k)%2 != 0 || testrun.Race && (i+k)%3 != 0 {
				continue // every placement is tested with at least one fabric
			}
			run(t, near+"@"+places, len(places), auto(), func(w *world.World) error {
				twin, err := w.Coll.Dup(w.Comm)
				if err != nil {
					return err
				}
				mixed, err := w.Coll.Split(w.Comm, w.Comm.Rank%2, -w.Comm.Rank)
				if err != nil {
					return err
				}
				for j, f := range forms() {
					w.Coll.Choose(f.c)
					c := []*comm.Comm{w.Comm, twin, mixed}[(i+j)%3]
					steps, many, some := 1, 16, 5
					if testrun.Race {
						many, some = 8, 2
					}
					switch {
					case len(f.kinds) > 1:
						steps = many
					case strings.HasSuffix(f.name, "leaders"):
						steps = some
					}
					if err := everything(w, c, uint64(i+j), steps, f.kinds...); err != nil {
						return fmt.Errorf("%s on %d members: %w", f.name, c.Size(), err)
					}
				}
				w.Coll.Free(mixed)
				w.Coll.Free(twin)
				return w.Coll.Barrier(w.Comm)
			})
		}
	}
}

// 6.1: a collective is right with any root: a leader, another member of a node, the only member
// of a node.
func TestAnyRootOverHosts(t *testing.T) {
	for _, near := range nears {
		run(t, near+"@001021", 6, auto(), func(w *world.World) error {
			for root := range w.Comm.Size() {
				for _, size := range []int{8, 400, 12_000} {
					for _, k := range []coll.Kind{coll.Bcast, coll.Reduce, coll.Gather, coll.Scatter} {
						g := rand.New(rand.NewPCG(uint64(root), uint64(size)))
						task := newTask(w.Comm, k, g, size)
						for task.root != root {
							task = newTask(w.Comm, k, g, size)
						}
						for form := range 3 {
							if err := task.do(w, uint64(root), form); err != nil {
								return err
							}
						}
					}
				}
			}
			return nil
		})
	}
}

// 6.3, 6.12.1: no member leaves a barrier before all have entered it, in any form.
func TestBarrierOverHosts(t *testing.T) {
	for _, places := range []string{"001", "0101", "001122"} {
		for _, near := range nears {
			for _, c := range []choice.Choice{auto(), slots(slot.Cells), slots(slot.Counter), slots(slot.None)} {
				n := len(places)
				var in atomic.Int64
				run(t, near+"@"+places, n, c, func(w *world.World) error {
					own := rand.New(rand.NewPCG(uint64(w.Comm.Rank), 5))
					task := plain(w.Comm, coll.Barrier, 0)
					for i := range 60 {
						if own.IntN(4) == 0 {
							time.Sleep(time.Duration(own.IntN(300)) * time.Microsecond)
						}
						in.Add(1)
						if err := task.do(w, 0, i%2); err != nil { // blocking, nonblocking
							return err
						}
						if got := in.Load(); got < int64(n*(i+1)) {
							return fmt.Errorf("barrier %d on %s: rank %d is out when %d of %d are in", i, places, w.Comm.Rank, got, n*(i+1))
						}
					}
					return nil
				})
			}
		}
	}
}

// F6: the report of a wait in the slot of a node names the collective that the program has
// called.
func TestF6_WaitingInTheSlotOfANode(t *testing.T) {
	run(t, "inproc@0011", 4, auto(), func(w *world.World) error {
		name := "world"
		w.Comm.Name.Store(&name)
		for _, k := range []coll.Kind{coll.Barrier, coll.Allreduce} { // all members in the same order
			if err := plain(w.Comm, k, 8).block(w); err != nil {
				return err
			}
			if got, want := coll.WaitsFor(w.Comm), k.String()+" on world"; got != want {
				return fmt.Errorf("a member is said to wait for %q, want %q", got, want)
			}
		}
		return nil
	})
}

// COL-09, 6.9.1: an allreduce over several hosts gives the same bits on all ranks, each time,
// through slots and by messages, for every placement.
func TestAllreduceIsBitwiseIdenticalOverHosts(t *testing.T) {
	counts := []int{1, 30, 3000, 30_000}
	if testrun.Race {
		counts = counts[:3]
	}
	for _, places := range []string{"0011", "0101", "0012212", "00000111"} {
		for _, near := range nears {
			n := len(places)
			var mu sync.Mutex
			got := make([][]byte, n)
			run(t, near+"@"+places, n, auto(), func(w *world.World) error {
				var all []byte
				for _, count := range counts {
					for k, typ := range []op.Type{op.Float32, op.Float64, op.Complex64, op.Complex128} {
						send := wild(typ, count, w.Comm.Rank, k)
						recv := make([]byte, len(send))
						var before []byte
						for range 2 {
							if err := w.Coll.Allreduce(w.Comm, send, recv, op.Sum, typ, dtype.Mixed); err != nil {
								return err
							}
							if before != nil && !bytes.Equal(before, recv) {
								return fmt.Errorf("rank %d: the second of two allreduces of %d %v differs", w.Comm.Rank, count, typ)
							}
							before = bytes.Clone(recv)
						}
						all = append(all, recv...)
					}
				}
				mu.Lock()
				got[w.Comm.Rank] = all
				mu.Unlock()
				return nil
			})
			for r := range got {
				if !bytes.Equal(got[0], got[r]) {
					t.Errorf("%s@%s: ranks 0 and %d differ", near, places, r)
				}
			}
		}
	}
}

// 6.12, 6.14: random programs of collectives and messages over several hosts.
func TestRandomHistoriesOverHosts(t *testing.T) {
	histories, steps := 12, 60
	if testrun.Race {
		histories, steps = 5, 40
	}
	for i := range histories {
		seed := uint64(100 + i)
		table := auto()
		g := rand.New(rand.NewPCG(seed, 3))
		for k := range coll.Kinds {
			if list := choice.Algorithms(coll.Kind(k)); g.IntN(3) == 0 {
				table.Force(list[g.IntN(len(list))])
			}
		}
		places := []string{"0011", "0101", "001", "00112", "010201"}[i%5]
		near := nears[i%3]
		run(t, near+"@"+places, len(places), table, func(w *world.World) error {
			h := &history{w: w, own: rand.New(rand.NewPCG(seed, 1000+uint64(w.Comm.Rank)))}
			if err := h.run(seed, steps); err != nil {
				return fmt.Errorf("seed %d over %s@%s: %w", seed, near, places, err)
			}
			return nil
		})
	}
}

// Short blocking collectives of a communicator on several nodes use a slot on each node, which
// is freed with the communicator.
func TestSlotsOfNodesComeBack(t *testing.T) {
	for _, near := range []string{"inproc", "shm"} {
		run(t, near+"@00101", 5, auto(), func(w *world.World) error {
			for i := range 200 {
				c, err := w.Coll.Dup(w.Comm)
				if err != nil {
					return err
				}
				if err := w.Coll.Barrier(c); err != nil {
					return err
				}
				if !coll.HasNodeSlot(c) {
					return fmt.Errorf("cycle %d: no slot", i)
				}
				if err := everything(w, c, uint64(i), 1); err != nil {
					return err
				}
				w.Coll.Free(c)
				// The members of a node must free the slot before its leader takes the next one.
				if err := w.Coll.Barrier(w.Comm); err != nil {
					return err
				}
			}
			return slotsFree(w)
		})
	}
}

// A node without a free slot uses messages while another node uses its slot.
func TestOneNodeWithoutSlots(t *testing.T) {
	run(t, "inproc@00110", 5, auto(), func(w *world.World) error {
		if places := "00110"; places[w.Comm.Rank] == '0' {
			for i := range shmfmt.SlotCount {
				w.Proc.Node().Control().Slot(i).Acquire(1 << 40)
			}
		}
		if err := w.Coll.Barrier(w.Self); err != nil {
			return err
		}
		if _, err := w.Proc.Boot().Exchange(nil); err != nil { // now all slots of node 0 are taken
			return err
		}
		c, err := w.Coll.Dup(w.Comm)
		if err != nil {
			return err
		}
		if err := everything(w, c, 7, 200); err != nil {
			return err
		}
		if got, want := coll.HasNodeSlot(c), "00110"[w.Comm.Rank] == '1'; got != want {
			return fmt.Errorf("rank %d: slot of the node is used: %t", w.Comm.Rank, got)
		}
		return nil
	})
}

// F1: a member dies in the middle of collectives over several hosts. The collectives end at all
// others with class.ProcFailed, also at members that wait in a slot for their leader.
func TestDeathEndsCollectivesOverHosts(t *testing.T) {
	kinds := []coll.Kind{coll.Barrier, coll.Bcast, coll.Reduce, coll.Allreduce, coll.Allgather, coll.Gather, coll.Scatter}
	for _, kind := range kinds {
		for i, size := range []int{8, 300 << 10} {
			for _, dead := range []int{0, 1, 4} { // leaders and others
				fabric := []string{"inproc", "shm"}[(i+dead)%2] + "@001122"
				if len(testrun.Fabrics(fabric)) == 0 {
					continue
				}
				t.Run(fmt.Sprintf("%v/%d/%d/%s", kind, size, dead, fabric), func(t *testing.T) {
					var failed atomic.Int32
					err := world.RunGoroutines(fabric, 6, func(w *world.World) error {
						call := func() error { return plain(w.Comm, kind, size).block(w) }
						err := call()
						if err == nil {
							err = call()
						}
						if w.Comm.Rank == dead {
							return errors.Join(errLeaves, err)
						}
						for err == nil {
							err = call()
						}
						var ce *class.Error
						if !errors.As(err, &ce) || ce.Class != class.ProcFailed {
							return fmt.Errorf("rank %d: %w", w.Comm.Rank, err)
						}
						failed.Add(1)
						return nil
					})
					if !errors.Is(err, errLeaves) {
						t.Fatal(err)
					}
					if n := failed.Load(); n != 5 {
						t.Errorf("%d ranks came to an end with an error, want 5", n)
					}
				})
			}
		}
	}
}

// 6.1: members that disagree on the length get an error, also across nodes, and no member hangs
// in a slot if its leader has an error.
func TestLengthsThatDisagreeOverHosts(t *testing.T) {
	for _, size := range []int{400, 40_000} {
		run(t, "inproc@0011", 4, auto(), func(w *world.World) error {
			n := size
			if w.Comm.Rank >= 2 {
				n /= 2
			}
			err := w.Coll.Bcast(w.Comm, make([]byte, n), dtype.Mixed, 0)
			if w.Comm.Rank == 2 {
				if err := want(err, class.Truncate); err != nil {
					return err
				}
			} else if w.Comm.Rank < 2 && err != nil {
				return err
			}
			// In a reduction the leaders get the error. The other members get it only if the
			// reduction uses messages: through the slot of a node the reduction only ends.
			b := make([]byte, n)
			err = w.Coll.Allreduce(w.Comm, b, b, op.Sum, op.Int64, dtype.Mixed)
			if learns := w.Comm.Rank%2 == 0 || size > 400; learns != (err != nil) {
				return fmt.Errorf("allreduce of %d bytes by rank %d: %v", n, w.Comm.Rank, err)
			}
			return everything(w, w.Comm, 1, 10)
		})
	}
}

// X-NBC-01: nonblocking collectives over several hosts make progress while a member, a leader or
// not, computes: it starts one and makes no call until all others have completed it.
func TestCollectivesOverHostsGoOnWhileAMemberComputes(t *testing.T) {
	const places, size = "001122", 200 << 10
	for busy := range 3 {
		for i, near := range nears {
			if testrun.Race && i != busy {
				continue
			}
			for _, f := range forms()[3:] {
				if f.name != "messages" && !strings.HasSuffix(f.name, "leaders") {
					continue
				}
				var finished [coll.Kinds]atomic.Int32
				run(t, near+"@"+places, len(places), f.c, func(w *world.World) error {
					for _, k := range f.kinds {
						task := plain(w.Comm, k, size)
						r, err := task.start(w, coll.Nonblocking)
						if err != nil {
							return err
						}
						if w.Comm.Rank == busy {
							for x := uint64(1); finished[k].Load() < int32(len(places)-1); {
								x = x*x + 1
							}
						}
						if err := finish(w, r); err != nil {
							return fmt.Errorf("%v: %w", k, err)
						}
						finished[k].Add(1)
					}
					return nil
				})
			}
		}
	}
}

// A repeated collective over several hosts allocates nothing, through the slots of the nodes and
// by messages.
func TestRepeatedCollectivesOverHostsDoNotAllocate(t *testing.T) {
	for _, f := range forms() {
		if strings.HasSuffix(f.name, "leaders") {
			wantNoAllocations(t, "inproc@0110", 4, f)
			wantNoAllocations(t, "inproc@0110", 4, form{"auto", auto(), f.kinds})
		}
	}
}
