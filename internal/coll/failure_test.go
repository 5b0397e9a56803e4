package coll_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/world"
)

var errLeaves = errors.New("leaves")

// F1: a member dies before or in the middle of a collective: the others come to
// an end, with class.ProcFailed or with the result, also those that exchange
// nothing with the dead; afterwards every collective fails at once.
func TestDeathEndsCollectives(t *testing.T) {
	const long = 300 << 10
	calls := map[string]func(w *world.World, size int) error{
		"barrier": func(w *world.World, size int) error { return w.Coll.Barrier(w.Comm) },
		"bcast":   func(w *world.World, size int) error { return w.Coll.Bcast(w.Comm, make([]byte, size), 0) },
		"reduce": func(w *world.World, size int) error {
			return w.Coll.Reduce(w.Comm, make([]byte, size), make([]byte, size), op.Sum, op.Int32, 0)
		},
		"allreduce": func(w *world.World, size int) error {
			return w.Coll.Allreduce(w.Comm, make([]byte, size), make([]byte, size), op.Sum, op.Int32)
		},
		"gather": func(w *world.World, size int) error {
			return w.Coll.Gather(w.Comm, make([]byte, size), make([]byte, size*w.Comm.Size()), 0)
		},
	}
	for _, f := range forms() {
		for name, call := range calls {
			for _, size := range []int{8, long} {
				for _, fabric := range []string{"inproc", "shm"} {
					if fabric == "shm" && size != long {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%d/%s", f.name, name, size, fabric), func(t *testing.T) {
						const n, dead = 6, 3
						var mu sync.Mutex
						failed := 0
						err := world.RunGoroutines(fabric, n, func(w *world.World) error {
							w.Coll.Force(f.f)
							err := call(w, size)
							if w.Comm.Rank == dead {
								return errors.Join(errLeaves, err)
							}
							for err == nil { // completed without the dead, as a root or a leaf may
								err = call(w, size)
							}
							var ce *class.Error
							if !errors.As(err, &ce) || ce.Class != class.ProcFailed {
								return fmt.Errorf("rank %d: %w", w.Comm.Rank, err)
							}
							mu.Lock()
							failed++
							mu.Unlock()
							return nil
						})
						if !errors.Is(err, errLeaves) {
							t.Fatal(err)
						}
						if failed != n-1 {
							t.Errorf("%d ranks came to an end with an error, want %d", failed, n-1)
						}
					})
				}
			}
		}
	}
}

// 6.1: a wrong argument is an error of the standard's class and leaves the
// communicator usable.
func TestWrongArguments(t *testing.T) {
	run(t, "inproc", 2, coll.Forced{}, func(w *world.World) error {
		c, e := w.Comm, w.Coll
		b := make([]byte, 16)
		for _, x := range []struct {
			name string
			err  error
			want class.Class
		}{
			{"root -1", e.Bcast(c, b, -1), class.Root},
			{"root 2", e.Bcast(c, b, 2), class.Root},
			{"root of reduce", e.Reduce(c, b, b, op.Sum, op.Int8, 2), class.Root},
			{"root of gather", e.Gather(c, b, b, 7), class.Root},
			{"operation", e.Allreduce(c, b, b, op.Band, op.Float64), class.Op},
			{"operation of reduce", e.Reduce(c, b, b, op.Min, op.Complex64, 0), class.Op},
			{"lengths", e.Allreduce(c, b, b[:8], op.Sum, op.Float64), class.Count},
			{"part of an element", e.Allreduce(c, b[:7], b[:7], op.Sum, op.Float64), class.Count},
			{"gather", e.Gather(w.Self, b, b[:8], 0), class.Count},
		} {
			var ce *class.Error
			if !errors.As(x.err, &ce) || ce.Class != x.want {
				return fmt.Errorf("%s: %v, want class %d", x.name, x.err, x.want)
			}
		}
		return everything(w, c, 1, 10)
	})
}

// 6.1: members that disagree on the length learn it, and do not hang.
func TestLengthsThatDisagree(t *testing.T) {
	run(t, "inproc", 4, coll.Forced{Slot: coll.SlotNone}, func(w *world.World) error {
		size := 4000
		if w.Comm.Rank == 2 {
			size = 100
		}
		err := w.Coll.Bcast(w.Comm, make([]byte, size), 0)
		var ce *class.Error
		switch {
		case w.Comm.Rank == 2 && (!errors.As(err, &ce) || ce.Class != class.Truncate):
			return fmt.Errorf("4000 bytes into 100: %v", err)
		case w.Comm.Rank != 2 && w.Comm.Rank != 3 && err != nil: // 3 gets what 2 has
			return err
		}
		return everything(w, w.Comm, 1, 10)
	})
}
