package rma_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/world"
)

// allowed puts until some operations are allowed without the lock.
func allowed(x *window) error {
	for x.MayUnlocked(1) <= 0 {
		if err := errors.Join(x.PutBytes(eight, 1, 0), x.Flush(1)); err != nil {
			return err
		}
	}
	return nil
}

// Puts and gets of memory that the kernel copies work without the engine's lock, and report the
// same errors as with it.
func TestPutAndGetWithoutTheLock(t *testing.T) {
	defer awake(t)()
	onShm(t, func(w *world.World) error {
		x, err := created(w, heapBytes(64), 8, func() error { return nil })
		if err != nil {
			return err
		}
		if err := errors.Join(barrier(w), x.LockAll(0)); err != nil {
			return err
		}
		if w.Comm.Rank == 0 {
			err = func() error {
				got := make([]byte, 8)
				for k := int64(1); k < 100; k++ {
					for x.MayUnlocked(1) < 2 {
						if err := allowed(x); err != nil {
							return err
						}
						x.PutBytes(eight, 1, 0)
					}
					if n := x.MayUnlocked(1); n > 31 {
						return fmt.Errorf("%d operations are allowed: in so many the target may have begun to poll", n)
					}
					w.Proc.Lock()
					err := errors.Join(x.PutBytes(int64s(k), 1, 3), x.Flush(1), x.GetBytes(got, 1, 3), x.Flush(1))
					w.Proc.Unlock()
					if err != nil || int64(get64(got)) != k {
						return fmt.Errorf("got %d, want %d: %w", get64(got), k, err)
					}
				}
				if err := allowed(x); err != nil {
					return err
				}
				if c := classOf(x.PutBytes(eight, 1, 8)); c != class.RMARange {
					return fmt.Errorf("a put behind the end: %v", c)
				}
				if c := classOf(x.GetBytes(got, 1, -1)); c != class.Disp {
					return fmt.Errorf("a get before the beginning: %v", c)
				}
				return nil
			}()
		}
		return errors.Join(err, x.UnlockAll(), barrier(w), x.free())
	})
}

// F1: an operation on memory of a process that has died fails, although it was allowed without the
// lock, and no other is allowed.
func TestF1_TargetDiesWithOperationsAllowed(t *testing.T) {
	defer awake(t)()
	if !slices.Contains(fabrics(2), "shm") {
		t.Skip("no memory is shared between processes here, or the race detector would not see it")
	}
	for name, call := range map[string]func(x *window) error{
		"put": func(x *window) error { return x.PutBytes(eight, 1, 0) },
		"get": func(x *window) error { return x.GetBytes(make([]byte, 8), 1, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var met, dies sync.WaitGroup
			met.Add(2)
			dies.Add(1)
			var other error
			err := world.RunGoroutines("shm", 2, func(w *world.World) error {
				x, err := created(w, heapBytes(64), 8, func() error { return nil })
				met.Done()
				met.Wait()
				if err != nil {
					return err
				}
				if w.Comm.Rank == 1 {
					dies.Wait()
					return errDies
				}
				defer dies.Done()
				other = func() error {
					if err := x.LockAll(0); err != nil {
						return err
					}
					if err := allowed(x); err != nil {
						return err
					}
					w.Proc.Lose(1, errDies)
					for k := 0; ; k++ {
						was := x.MayUnlocked(1)
						is, err := failed(errors.Join(call(x), x.Flush(1)))
						if err != nil {
							return err
						}
						if now := x.MayUnlocked(1); is && now > 0 {
							return fmt.Errorf("it is told of the death, and %d more are allowed", now)
						} else if is {
							x.AllowUnlocked(1, 7) // as after an operation that began before the death
							if now := x.MayUnlocked(1); now != 0 {
								return fmt.Errorf("%d are allowed again after the death", now)
							}
							return nil
						} else if now < was && now > 0 {
							return fmt.Errorf("a copy was made though the process is gone: %d were allowed, now %d", was, now)
						}
					}
				}()
				return other
			})
			if other != nil || !errors.Is(err, errDies) {
				t.Errorf("%v; the run ends with %v", other, err)
			}
		})
	}
}
