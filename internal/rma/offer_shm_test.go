package rma_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/world"
)

// between intercepts the offers to a process, and counts those that it takes.
type between struct {
	inner node.Taker
	first func() // before an offer is done; may be nil
	taken atomic.Int32
}

func (b *between) TakeOffer(from int, h *shmfmt.OfferHead, data, answer *[shmfmt.OfferData]byte) bool {
	b.taken.Add(1)
	if b.first != nil {
		b.first()
	}
	return b.inner.TakeOffer(from, h, data, answer)
}

// put installs it.
func (b *between) put(w *world.World) {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	b.inner = w.RMA
	w.Proc.Node().SetTaker(b)
}

// attentive polls until done.
func attentive(w *world.World, done *atomic.Bool) {
	for !done.Load() {
		w.Proc.Lock()
		w.Proc.Progress(-1)
		w.Proc.Unlock()
	}
}

// onShm runs two ranks over shared memory, where there is any.
func onShm(t *testing.T, fn func(w *world.World) error) {
	t.Helper()
	if !slices.Contains(fabrics(2), "shm") {
		t.Skip("no memory is shared between processes here, or the race detector would not see it")
	}
	on(t, "shm", 2, fn)
}

// Operations on memory that is not mapped are carried out by a target that polls, by one that does
// not, and by both in turn: each once, and results are the previous values.
func TestTargetPollsNowAndThen(t *testing.T) {
	for _, m := range makers() {
		if m.name != "created on the heap" && m.name != "dynamic on the heap" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			var done atomic.Bool
			var by between
			onShm(t, func(w *world.World) error {
				x, err := m.make(w, 64, 8)
				if err != nil {
					return err
				}
				if w.Comm.Rank == 1 {
					by.put(w)
				}
				if err := errors.Join(barrier(w), x.LockAll(0)); err != nil {
					return err
				}
				switch w.Comm.Rank {
				case 0:
					err = countUp(x, &by.taken)
					done.Store(true)
				case 1:
					r := rand.New(rand.NewPCG(3, 4))
					for !done.Load() { // sometimes it calls Halo, sometimes it computes
						var pause atomic.Bool
						time.AfterFunc(time.Duration(r.IntN(300))*time.Microsecond, func() { pause.Store(true) })
						attentive(w, &pause)
						for range r.IntN(100000) {
							pause.Load()
						}
					}
				}
				return errors.Join(err, x.UnlockAll(), barrier(w), x.free())
			})
			if !t.Skipped() && by.taken.Load() == 0 {
				t.Error("no operation was done by the target's poller")
			}
		})
	}
}

// countUp increments a word of rank 1 by all operations in turn, as the only process, until the
// target has carried out many of them itself.
func countUp(x *window, taken *atomic.Int32) error {
	at, next := x.disp(1, 1), int64(0)
	old := make([]byte, 8)
	for k := 0; k < 3000 || k < 2000000 && taken.Load() < 300; k++ {
		was := next
		next++
		var err error
		switch k % 5 {
		case 0:
			err = errors.Join(x.PutBytes(int64s(next), 1, at), x.Flush(1))
			old = int64s(was)
		case 1:
			err = x.FetchAndOp(int64s(1), old, 1, at, op.Sum, op.Int64)
		case 2:
			err = x.CompareAndSwap(int64s(next), int64s(was), old, 1, at, op.Int64)
		case 3:
			err = x.GetAccumulate(mem.Of(int64s(1)), mem.Of(old), 1, at, operation.Place{}, op.Sum, op.Int64)
		case 4: // behind which what is offered must not overtake it
			err = x.Accumulate(mem.Of(int64s(1)), 1, at, operation.Place{}, op.Sum, op.Int64)
			old = int64s(was)
			if k%2 == 0 {
				now := make([]byte, 8)
				err = errors.Join(err, x.FetchAndOp(nil, now, 1, at, op.NoOp, op.Int64), x.Flush(1))
				if got := int64(get64(now)); got != next && err == nil {
					return fmt.Errorf("operation %d: read %d behind an accumulate, want %d", k, got, next)
				}
			}
		}
		err = errors.Join(err, x.Flush(1))
		if err != nil {
			return err
		}
		if got := int64(get64(old)); got != was {
			return fmt.Errorf("operation %d: before it was %d, want %d", k, got, was)
		}
		if err := errors.Join(x.GetBytes(old, 1, at), x.Flush(1)); err != nil {
			return err
		}
		if got := int64(get64(old)); got != next {
			return fmt.Errorf("operation %d: after it is %d, want %d", k, got, next)
		}
		old = make([]byte, 8)
	}
	return nil
}

// If a target that has taken an offer loses its core, the origin waits for it; other goroutines of
// the origin continue meanwhile, by the kernel.
func TestTargetStopsInAnOffer(t *testing.T) {
	var done, inside, others atomic.Bool
	by := between{first: func() {
		if inside.CompareAndSwap(false, true) {
			for !others.Load() {
				time.Sleep(time.Millisecond)
			}
		}
	}}
	onShm(t, func(w *world.World) error {
		x, err := created(w, heapBytes(64), 8, func() error { return nil })
		if err != nil {
			return err
		}
		if w.Comm.Rank == 1 {
			by.put(w)
		}
		if err := errors.Join(barrier(w), x.LockAll(0)); err != nil {
			return err
		}
		if w.Comm.Rank == 1 {
			attentive(w, &done)
		} else {
			var also sync.WaitGroup
			var failed error
			also.Go(func() {
				for !inside.Load() {
					w.Proc.Yield()
				}
				got := make([]byte, 8)
				failed = errors.Join(x.PutBytes(int64s(7), 1, 5), x.Flush(1), x.GetBytes(got, 1, 5), x.Flush(1))
				if failed == nil && get64(got) != 7 {
					failed = fmt.Errorf("got %d while another goroutine waits, want 7", get64(got))
				}
				others.Store(true)
			})
			for k := int64(0); !inside.Load() || k < 100; k++ {
				got := make([]byte, 8)
				err = errors.Join(err, x.PutBytes(int64s(k), 1, 0), x.Flush(1), x.GetBytes(got, 1, 0), x.Flush(1))
				if err == nil && int64(get64(got)) != k {
					err = fmt.Errorf("got %d, want %d", get64(got), k)
				}
				if err != nil {
					others.Store(true)
					inside.Store(true)
				}
			}
			also.Wait()
			err = errors.Join(err, failed)
			done.Store(true)
		}
		return errors.Join(err, x.UnlockAll(), barrier(w), x.free())
	})
}

// F1: the origin does not wait for a target that has died with an offer.
func TestF1_TargetDiesInAnOffer(t *testing.T) {
	for name, call := range map[string]func(x *window) error{
		"put":          func(x *window) error { return x.PutBytes(eight, 1, 0) },
		"get":          func(x *window) error { return x.GetBytes(make([]byte, 8), 1, 0) },
		"fetch_and_op": func(x *window) error { return x.FetchAndOp(eight, make([]byte, 8), 1, 0, op.Sum, op.Int64) },
	} {
		t.Run(name, func(t *testing.T) {
			var done, inside atomic.Bool
			var origin atomic.Pointer[world.World]
			by := between{first: func() {
				if !inside.CompareAndSwap(false, true) {
					return
				}
				for origin.Load() == nil {
					time.Sleep(time.Microsecond)
				}
				origin.Load().Proc.Lose(1, errDies)
				for !done.Load() { // it does nothing any more
					time.Sleep(time.Millisecond)
				}
			}}
			if !slices.Contains(fabrics(2), "shm") {
				t.Skip("no memory is shared between processes here, or the race detector would not see it")
			}
			var met sync.WaitGroup
			met.Add(2)
			var other error
			err := world.RunGoroutines("shm", 2, func(w *world.World) error {
				x, err := created(w, heapBytes(64), 8, func() error { return nil })
				if w.Comm.Rank == 1 {
					by.put(w)
				} else {
					origin.Store(w)
				}
				met.Done()
				met.Wait()
				if err != nil {
					return err
				}
				if w.Comm.Rank == 1 {
					for !inside.Load() {
						w.Proc.Lock()
						w.Proc.Progress(-1)
						w.Proc.Unlock()
					}
					return errDies
				}
				defer done.Store(true)
				other = x.LockAll(0)
				if other != nil {
					return other
				}
				is := false
				for !is && other == nil {
					is, other = failed(errors.Join(call(x), x.Flush(1)))
				}
				if other == nil && !inside.Load() {
					other = errors.New("the target has not taken an offer")
				}
				return other
			})
			if other != nil || !errors.Is(err, errDies) {
				t.Errorf("%v; the run ends with %v", other, err)
			}
		})
	}
}

// Repeated operations wake a target that waits inside Halo and has fallen asleep, and from then on
// it carries them out itself. A target in which nobody waits is not woken.
func TestWaitingTargetIsWoken(t *testing.T) {
	for _, waits := range []bool{true, false} {
		t.Run(fmt.Sprintf("waits=%t", waits), func(t *testing.T) {
			var by between
			var rings uint32
			var computes, done atomic.Bool
			onShm(t, func(w *world.World) error {
				if n, cores := len(w.Proc.Job().Local), w.Proc.Job().Cores; n > cores {
					t.Skipf("%d cores for %d processes: the waiting are left asleep", cores, n)
				}
				x, err := created(w, heapBytes(64), 8, func() error { return nil })
				if err != nil {
					return err
				}
				if w.Comm.Rank == 1 {
					by.put(w)
				}
				if err := errors.Join(barrier(w), x.LockAll(0)); err != nil {
					return err
				}
				some := make([]byte, 1)
				if w.Comm.Rank == 1 && waits {
					err = barrier(w)
				} else if w.Comm.Rank == 1 {
					computes.Store(true)
					for !done.Load() {
						time.Sleep(time.Millisecond)
					}
					err = barrier(w)
				} else {
					defer done.Store(true)
					err = errors.Join(x.PutBytes(some, 1, 0), x.Flush(1))
					// Else it may still be on its way out of the barrier, which is to wait, too.
					for err == nil && !(w.Proc.Node().Sleeps(1) && (waits || computes.Load())) {
						time.Sleep(100 * time.Microsecond)
					}
					by.taken.Store(0)
					bell := &w.Proc.Node().Control().Door(1).Bell
					rings = bell.Load()
					for k := 0; err == nil && (waits && by.taken.Load() == 0 && k < 10000000 || !waits && k < 2000); k++ {
						err = errors.Join(x.PutBytes(some, 1, 0), x.Flush(1))
					}
					rings = bell.Load() - rings
					done.Store(true)
					err = errors.Join(err, barrier(w))
				}
				return errors.Join(err, x.UnlockAll(), barrier(w), x.free())
			})
			if t.Skipped() {
				return
			}
			if waits && by.taken.Load() == 0 {
				t.Error("the waiting target has not taken an offer")
			}
			if !waits && rings != 0 {
				t.Errorf("the bell of a target that computes was rung %d times", rings)
			}
		})
	}
}
