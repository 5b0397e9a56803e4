package rma_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

var errDies = errors.New("it dies")

// dying runs n ranks over each fabric. rank makes the function of the ranks, a new one for each run;
// one rank returns errDies from it. rank gets a function meet, in which all ranks wait for each other
// once: a Barrier would fail for a rank that is still in it when another rank leaves it and dies.
func dying(t *testing.T, n int, rank func(meet func()) func(w *world.World, v *rma.View) error) {
	t.Helper()
	defer awake(t)()
	list := append(fabrics(n), "inproc@"+"01001"[:n])
	for _, fabric := range list {
		t.Run(fabric, func(t *testing.T) {
			var mu sync.Mutex
			var others error
			var made, met sync.WaitGroup // no rank dies before all windows are made
			made.Add(n)
			met.Add(n)
			fn := rank(func() {
				met.Done()
				met.Wait()
			})
			err := world.RunGoroutines(fabric, n, func(w *world.World) error {
				v, err := allocated(w, w.Comm, 64)
				made.Done()
				made.Wait()
				if err == nil {
					err = fn(w, v)
				}
				if err != nil && !errors.Is(err, errDies) {
					mu.Lock()
					others = errors.Join(others, fmt.Errorf("rank %d: %w", w.Comm.Rank, err))
					mu.Unlock()
				}
				return err
			})
			if others != nil || !errors.Is(err, errDies) {
				t.Errorf("%v; the run ends with %v", others, err)
			}
		})
	}
}

// alone makes a process treat all others as failed, because they are about to treat it as failed. It learns of all
// of them in one poll.
func alone(w *world.World) {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	for r := range w.Comm.Size() {
		if r != w.Comm.Rank {
			w.Proc.Lose(r, errDies)
		}
	}
}

// failed reports whether err says that a process has died, and returns any other error.
func failed(err error) (bool, error) {
	if c := classOf(err); c == class.ProcFailed {
		return true, nil
	}
	return false, err
}

// F3: a process dies with a lock by Lock, shared or exclusive, or by LockAll. Of the others, which
// wait for the lock or request it later, one gets an error, once for each lock, and after that all
// get the lock.
func TestF3_LockOfTheDead(t *testing.T) {
	const n, dead = 4, 3
	for name, lock := range map[string]func(v *rma.View) error{
		"exclusive": func(v *rma.View) error { return hold(v, true, 0) },
		"shared":    func(v *rma.View) error { return hold(v, false, 0) },
		"all":       func(v *rma.View) error { return v.LockAll(0) },
	} {
		t.Run(name, func(t *testing.T) {
			dying(t, n, func(meet func()) func(w *world.World, v *rma.View) error {
				var told, after atomic.Int32
				return func(w *world.World, v *rma.View) error {
					if w.Comm.Rank == dead {
						if err := lock(v); err != nil {
							return err
						}
						meet()
						time.Sleep(time.Millisecond) // some come before, some after it
						return errDies
					}
					meet()
					for k := 0; after.Load() < 30*(n-1); k++ {
						lock, exclusive := hold, (k+w.Comm.Rank)%3 != 0
						if k%2 == 0 { // the death may be told by Unlock alone
							lock = func(v *rma.View, exclusive bool, target int) error { return v.Lock(exclusive, target, 0) }
						}
						is, err := failed(lock(v, exclusive, 0))
						if err != nil {
							return err
						}
						if is {
							told.Add(1)
							continue
						}
						if told.Load() > 0 {
							after.Add(1)
						} else {
							w.Proc.Yield()
							if k > 1e6 {
								return fmt.Errorf("nobody is told")
							}
						}
						is, err = failed(v.Unlock(0))
						if err != nil {
							return err
						} else if is {
							told.Add(1)
						}
					}
					if got := told.Load(); got != 1 {
						return fmt.Errorf("%d were told of one death", got)
					}
					return nil
				}
			})
		})
	}
}

// F3: a process dies while it waits for a lock: no other process gets an error, and all continue.
func TestF3_WaiterDies(t *testing.T) {
	const n, dead = 4, 3
	dying(t, n, func(meet func()) func(w *world.World, v *rma.View) error {
		var gone atomic.Bool
		var ends atomic.Int32
		return func(w *world.World, v *rma.View) error {
			if w.Comm.Rank == 1 {
				if err := hold(v, true, 0); err != nil {
					return err
				}
			}
			meet()
			var err error
			switch w.Comm.Rank {
			case dead:
				done := make(chan error)
				go func() { done <- hold(v, false, 0) }()
				time.Sleep(2 * time.Millisecond)
				alone(w)
				// It hears that the target has died. As the heir of rank 1 it would remove the claims of processes
				// that live.
				err = <-done
				gone.Store(true)
				if is, err := failed(err); !is || err != nil {
					return fmt.Errorf("the lock of a process that it takes for dead: %v", err)
				}
				if strings.Contains(err.Error(), "while it had the lock") {
					return fmt.Errorf("it has taken the lock: %w", err)
				}
				return errDies
			case 1:
				for !gone.Load() {
					w.Proc.Yield()
				}
				err = v.Unlock(0)
			}
			for i := 0; err == nil && i < 50; i++ {
				err = first(func() error { return v.Lock(true, 0, 0) }, func() error { return v.Unlock(0) })
			}
			ends.Add(1)
			for ends.Load() < n-1 { // its claims and requests outlast it, for a while
				w.Proc.Yield()
			}
			return err
		}
	})
}

// F1: the target dies while others have its lock or wait for it: all calls end, those that wait
// with class.ProcFailed, and so does every later Lock.
func TestF1_TargetDies(t *testing.T) {
	const n, dead = 4, 3
	dying(t, n, func(meet func()) func(w *world.World, v *rma.View) error {
		return func(w *world.World, v *rma.View) error {
			if w.Comm.Rank == 1 {
				if err := hold(v, true, dead); err != nil {
					return err
				}
			}
			meet()
			switch w.Comm.Rank {
			case dead:
				time.Sleep(2 * time.Millisecond)
				return errDies
			case 1:
				for {
					// Operations fail, or end in memory that outlasts its owner.
					var err error
					for _, f := range []func() error{
						func() error { return v.PutBytes(eight, dead, 0) },
						func() error { return v.Flush(dead) },
					} {
						if err == nil {
							_, err = failed(f())
						}
					}
					if err != nil {
						return err
					}
					if is, err := failed(w.Coll.Barrier(w.Self)); is || err != nil {
						return err
					}
					if down(w, dead) {
						break
					}
				}
				if _, err := failed(v.Unlock(dead)); err != nil {
					return err
				}
			default:
				// The holder may have learned of the death before we have, and let it go; or the
				// dead one, of which goroutines live on, takes that for the one that died.
				for {
					is, err := failed(v.Lock(true, dead, 0))
					if err != nil {
						return err
					}
					if is && down(w, dead) {
						break
					}
					if is {
						continue
					}
					if _, err := failed(v.Unlock(dead)); err != nil {
						return err
					}
				}
			}
			if is, err := failed(v.Lock(false, dead, 0)); err != nil || !is {
				return fmt.Errorf("the lock of the dead: %v", err)
			}
			// The window can still be used with others.
			return first(v.Idle, func() error { return v.Lock(false, 0, 0) }, func() error { return v.PutBytes(eight, 0, int64(8*w.Comm.Rank)) },
				func() error { return v.Unlock(0) }, func() error { return v.LockAll(0) }, v.UnlockAll, v.Idle)
		}
	})
}

// down reports whether a process is known to have died.
func down(w *world.World, rank int) bool {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	w.Proc.Progress(-1)
	return w.Proc.DownCause(rank) != nil
}

// F1: every synchronisation call that waits for a dead process returns class.ProcFailed, and ends the
// epoch.
func TestF1_EpochsWithTheDead(t *testing.T) {
	const n, dead = 4, 3
	all := everyone(n)
	test := func(v *rma.View) error {
		for {
			if done, err := v.Test(); done || err != nil {
				return err
			}
		}
	}
	for name, call := range map[string]func(v *rma.View) error{
		"Fence": func(v *rma.View) error {
			for {
				if err := v.Fence(0); err != nil {
					return err
				}
			}
		},
		"Wait": func(v *rma.View) error { return first(func() error { return v.Post([]int32{dead}, 0) }, v.Wait) },
		"Test": func(v *rma.View) error {
			return first(func() error { return v.Post([]int32{dead}, 0) }, func() error { return test(v) })
		},
		"Complete": func(v *rma.View) error {
			if err := v.Start([]int32{dead}, 0); err != nil {
				return err
			}
			err := v.PutBytes(eight, dead, 0) // deferred, or the death is known
			return first2(v.Complete(), err)
		},
		"Wait for all": func(v *rma.View) error {
			err := first(func() error { return v.Post(all, 0) }, func() error { return v.Start(all, 0) })
			c := v.Complete()
			if _, e := failed(c); err == nil {
				err = e
			}
			return first2(err, v.Wait())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dying(t, n, func(meet func()) func(w *world.World, v *rma.View) error {
				var all sync.WaitGroup
				all.Add(n - 1)
				return func(w *world.World, v *rma.View) error {
					if w.Comm.Rank == dead {
						time.Sleep(time.Millisecond)
						return errDies
					}
					is, err := failed(call(v))
					all.Done()
					all.Wait() // else one that has returned is dead for the others
					if err != nil || !is {
						return fmt.Errorf("%s: %v", name, err)
					}
					if err := v.Idle(); err != nil {
						return err
					}
					return nil
				}
			})
		})
	}
}
