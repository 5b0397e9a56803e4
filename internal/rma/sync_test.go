package rma_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// inWindow runs fn with a window that s describes, and frees the window.
func inWindow(w *world.World, s rma.Spec, fn func(v *rma.View) error) error {
	v, err := w.RMA.Create(w.Comm, s)
	if err != nil {
		return err
	}
	if err := fn(v); err != nil {
		return err
	}
	return v.Free()
}

// kinds returns windows of all flavors that can be used alike: shared ones only if all ranks share memory.
func kinds(w *world.World, size int64) []rma.Spec {
	list := []rma.Spec{
		{Flavor: rma.Allocated, Size: size, DispUnit: 1},
		{Flavor: rma.Created, Mem: make([]byte, size), DispUnit: 1},
	}
	if len(w.Proc.Job().Local) == w.Comm.Size() && w.Proc.Node() != nil {
		list = append(list, rma.Spec{Flavor: rma.Shared, Size: size, DispUnit: 1})
	}
	return list
}

// inKinds is inWindow for each of kinds.
func inKinds(w *world.World, size int64, fn func(v *rma.View) error) error {
	for _, s := range kinds(w, size) {
		if err := inWindow(w, s, fn); err != nil {
			return fmt.Errorf("%v window: %w", s.Flavor, err)
		}
	}
	return nil
}

func word(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func number(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// slot is the i-th word of memory.
func slot(b []byte, i int) []byte { return b[8*i : 8*i+8] }

// everyone returns the ranks of a communicator of n members.
func everyone(n int) (ranks []int32) {
	for r := range n {
		ranks = append(ranks, int32(r))
	}
	return ranks
}

// scaled returns n, the number of repetitions of a test, reduced under the race detector.
func scaled(n int) int {
	if testrun.Race {
		return max(n/8, 3)
	}
	return n
}

// RS-01, RS-06: phases of puts to all ranks, and of stores to the own memory, with a fence between
// them. After a fence everything is visible everywhere. RS-05: before the fence nothing is promised.
func TestRS01_FencePhases(t *testing.T) {
	each(t, 4, func(w *world.World) error {
		n, me := w.Comm.Size(), w.Comm.Rank
		return inKinds(w, int64(8*n), func(v *rma.View) error {
			for k := range uint64(scaled(200)) {
				if err := v.Fence(0); err != nil {
					return err
				}
				for r := range n {
					if err := v.PutBytes(word(k*100+uint64(me)), r, int64(8*me)); err != nil {
						return err
					}
				}
				if err := v.Fence(0); err != nil {
					return err
				}
				for r := range n {
					if got := number(slot(v.Local(), r)); got != k*100+uint64(r) {
						return fmt.Errorf("phase %d: rank %d has put %d", k, r, got)
					}
				}
				// A phase of local stores, which the others then get.
				if err := v.Fence(rma.ModeNoPut); err != nil {
					return err
				}
				copy(v.Local(), word(k))
				if err := v.Fence(rma.ModeNoStore); err != nil {
					return err
				}
				got := make([]byte, 8)
				if err := v.GetBytes(got, (me+1)%n, 0); err != nil {
					return err
				}
				if err := v.Fence(rma.ModeNoPut | rma.ModeNoSucceed); err != nil {
					return err
				}
				if number(got) != k {
					return fmt.Errorf("phase %d: got %d", k, number(got))
				}
			}
			return nil
		})
	})
}

// RM-08: the program of 11.7.3: 777 is put between fences into a variable that the target has read
// before.
func TestRM08_VariableIsNotInARegister(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		return inKinds(w, 8, func(v *rma.View) error {
			buff := v.Local()
			for range scaled(100) {
				copy(buff, word(999))
				if err := v.Fence(0); err != nil {
					return err
				}
				if w.Comm.Rank == 0 {
					if err := v.PutBytes(word(777), 1, 0); err != nil {
						return err
					}
				}
				if err := v.Fence(0); err != nil {
					return err
				}
				if ccc := number(buff); w.Comm.Rank == 1 && ccc != 777 {
					return fmt.Errorf("ccc is %d", ccc)
				}
				if err := v.Fence(0); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// RS-04: fence, then lock, then post and start on one window, in turn; X-RMA-22 on
// shared windows, too.
func TestRS04_SwitchingModes(t *testing.T) {
	each(t, 3, func(w *world.World) error {
		n, me := w.Comm.Size(), w.Comm.Rank
		next := (me + 1) % n
		last := (me + n - 1) % n
		return inKinds(w, 8, func(v *rma.View) error {
			put := func(k uint64) func() error {
				return func() error { return v.PutBytes(word(k), next, 0) }
			}
			meet := func() error { return barrier(w) }
			holds := func(k uint64) func() error {
				return func() error {
					if got := number(v.Local()); got != k {
						return fmt.Errorf("%d instead of %d", got, k)
					}
					return nil
				}
			}
			fence := func(assert int) func() error { return func() error { return v.Fence(assert) } }
			for k := range uint64(scaled(40)) {
				k *= 10
				if err := first(
					fence(0), put(k), fence(0), holds(k), meet,
					func() error { return v.Lock(true, next, 0) }, put(k+1), func() error { return v.Unlock(next) },
					meet, func() error { return v.Lock(false, me, 0) }, holds(k+1), func() error { return v.Unlock(me) }, meet,
					func() error { return v.Post([]int32{int32(last)}, 0) }, func() error { return v.Start([]int32{int32(next)}, 0) },
					put(k+2), v.Complete, v.Wait, holds(k+2), meet,
					func() error { return v.LockAll(0) }, put(k+3), v.FlushAll, meet, v.Sync, holds(k+3), v.UnlockAll, meet,
				); err != nil {
					return fmt.Errorf("round %d: %w", k, err)
				}
			}
			return nil
		})
	})
}

// X-RMA-05: a store to shared memory, Sync, and a barrier: the others load it.
func TestXRMA05_SyncOrdersLoadsAndStores(t *testing.T) {
	for _, fabric := range testrun.Fabrics("inproc", "shm") {
		err := world.RunGoroutines(fabric, 3, func(w *world.World) error {
			return inWindow(w, rma.Spec{Flavor: rma.Shared, Size: 8, DispUnit: 1}, func(v *rma.View) error {
				if err := v.LockAll(0); err != nil {
					return err
				}
				mem := make([][]byte, w.Comm.Size())
				for r := range mem {
					var err error
					mem[r], _, err = v.Query(r)
					if err != nil {
						return err
					}
				}
				for k := range uint64(scaled(300)) {
					copy(v.Local(), word(k))
					if err := first(v.Sync, func() error { return barrier(w) }, v.Sync); err != nil {
						return err
					}
					for r := range mem {
						if got := number(mem[r]); got != k {
							return fmt.Errorf("round %d: rank %d has %d", k, r, got)
						}
					}
					if err := barrier(w); err != nil {
						return err
					}
				}
				return v.UnlockAll()
			})
		})
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}

// RS-07, RS-08, X-RMA-04: flush completes at the target while its program makes no calls: a put, a
// flush, and the value that the target then loads.
func TestRS08_FlushNeedsNoTarget(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		return inKinds(w, 16, func(v *rma.View) error {
			if w.Comm.Rank == 1 {
				return nil // the target waits in Free, in a barrier: it makes no calls on the window
			}
			got := make([]byte, 8)
			for k := range uint64(scaled(500)) {
				if err := first(
					func() error { return v.Lock(k%2 == 0, 1, 0) },
					func() error { return v.PutBytes(word(k), 1, 0) },
					func() error { return v.Flush(1) },
					func() error { return v.GetBytes(got, 1, 0) },
					func() error { return v.FlushLocal(1) },
				); err != nil {
					return err
				}
				if number(got) != k {
					return fmt.Errorf("round %d: got %d", k, number(got))
				}
				if err := v.Unlock(1); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// X-RMA-07: store buffers. Each of two ranks puts to the other, flushes, and gets its own memory,
// at nearly the same moment: at least one of them must see the put of the other. The race detector
// would report a race of put and get, so under it the ranks accumulate instead.
func TestXRMA07_StoreBuffers(t *testing.T) {
	put := func(v *rma.View, data []byte, target int) error { return v.PutBytes(data, target, 0) }
	get := func(v *rma.View, got []byte, target int) error { return v.GetBytes(got, target, 0) }
	if testrun.Race {
		put = func(v *rma.View, data []byte, target int) error {
			return v.Accumulate(mem.Of(data), target, 0, operation.Place{}, op.Replace, op.Int64)
		}
		get = func(v *rma.View, got []byte, target int) error {
			return v.FetchAndOp(nil, got, target, 0, op.NoOp, op.Int64)
		}
	}
	for _, fabric := range testrun.Fabrics("inproc", "tcp", "shm") {
		t.Run(fabric, func(t *testing.T) {
			rounds := scaled(20000)
			if fabric == "tcp" {
				rounds /= 20
			}
			var begun, ended [2]atomic.Int64
			var seen [2]uint64
			meet := func(word *[2]atomic.Int64, me, turn int) {
				word[me].Store(int64(turn))
				for k := 1; word[1-me].Load() < int64(turn); k++ {
					if k%1000 == 0 {
						runtime.Gosched()
					}
				}
			}
			on(t, fabric, 2, func(w *world.World) error {
				me := w.Comm.Rank
				return inWindow(w, rma.Spec{Flavor: rma.Allocated, Size: 8, DispUnit: 1}, func(v *rma.View) error {
					if err := v.LockAll(0); err != nil {
						return err
					}
					got := make([]byte, 8)
					for turn := 1; turn <= rounds; turn++ {
						data := word(uint64(turn))
						meet(&begun, me, turn)
						err := put(v, data, 1-me)
						if err == nil {
							err = v.Flush(1 - me)
						}
						if err == nil {
							err = get(v, got, me)
						}
						if err == nil {
							err = v.Flush(me)
						}
						seen[me] = number(got)
						meet(&ended, me, turn)
						if err != nil {
							return err
						}
						if seen[0] != uint64(turn) && seen[1] != uint64(turn) {
							return fmt.Errorf("turn %d: both miss what the other has put: %v", turn, seen)
						}
					}
					return v.UnlockAll()
				})
			})
		})
	}
}
