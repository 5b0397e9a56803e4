package coll_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// isRoot reports whether an error has the class for members that name different roots.
func isRoot(err error) bool {
	e := new(class.Error)
	return errors.As(err, &e) && e.Class == class.Root
}

// twoRoots runs fn for the ways in which members can disagree on roots: through a slot in either
// form, by messages, and on several hosts.
func twoRoots(t *testing.T, fn func(t *testing.T, fabric string, ranks int, c choice.Choice)) {
	t.Setenv("HALO_CHECK", "")
	for _, fabric := range []string{"inproc", "shm", "shm@001", "shm@0110", "tcp"} {
		if fabric == "inproc" && testrun.Race {
			continue // two roots write to the same memory of a slot, which is the error under test
		}
		for _, ranks := range []int{2, 3, 4} {
			if _, hosts, found := strings.Cut(fabric, "@"); found && len(hosts) != ranks {
				continue
			}
			for _, f := range []slot.Form{slot.Cells, slot.Counter, slot.None} {
				if f != slot.None && fabric == "tcp" {
					continue
				}
				t.Run(fmt.Sprintf("%s-%d-form%d", fabric, ranks, f), func(t *testing.T) { fn(t, fabric, ranks, slots(f)) })
			}
		}
	}
}

// COL-05: if two members are roots of a Bcast, all members get an error in the Barrier after it,
// if not in the Bcast. Where members share memory, the communicator is then usable.
func TestCOL05_TwoRootsBeforeBarrier(t *testing.T) {
	twoRoots(t, func(t *testing.T, fabric string, ranks int, c choice.Choice) {
		for _, size := range []int{4, 4000, 400_000} {
			if size > 4000 && (ranks == 2 || c.Slot == slot.None || fabric != "shm" && fabric != "inproc") {
				continue // here both roots would wait for a receiver
			}
			run(t, fabric, ranks, c, func(w *world.World) error {
				d, err := w.Coll.Dup(w.Comm)
				if err != nil {
					return err
				}
				root := 0
				if last := d.Size() - 1; d.Rank == last {
					root = last
				}
				first := w.Coll.Bcast(d, make([]byte, size), dtype.Mixed, root)
				second := w.Coll.Barrier(d)
				for _, err := range []error{first, second} {
					if err != nil && !isRoot(err) {
						t.Errorf("%d bytes, rank %d: %v", size, d.Rank, err)
					}
				}
				if first == nil && second == nil {
					t.Errorf("%d bytes, rank %d: no error", size, d.Rank)
				}
				if c.Slot != slot.None && (fabric == "shm" || fabric == "inproc") {
					if second == nil || ranks == 2 && !strings.Contains(second.Error(), "rank 1 names root 1") {
						t.Errorf("%d bytes, rank %d: Barrier: %v", size, d.Rank, second)
					}
					if err := w.Coll.Barrier(d); err != nil {
						t.Errorf("%d bytes, rank %d: a second Barrier: %v", size, d.Rank, err)
					}
				}
				return w.Coll.Barrier(w.Comm) // other communicators are not affected
			})
		}
	})
}

// COL-05: if two members are roots of a Bcast that is the last call of a program, all members
// get an error in Finalize, which can be called again.
func TestCOL05_TwoRootsBeforeFinalize(t *testing.T) {
	twoRoots(t, func(t *testing.T, fabric string, ranks int, c choice.Choice) {
		run(t, fabric, ranks, c, func(w *world.World) error {
			root := 0
			if last := w.Comm.Size() - 1; w.Comm.Rank == last {
				root = last
			}
			if err := w.Coll.Bcast(w.Comm, make([]byte, 4), dtype.Mixed, root); err != nil && !isRoot(err) {
				t.Errorf("rank %d: Bcast: %v", w.Comm.Rank, err)
			}
			err := w.Close()
			if !isRoot(err) || ranks == 2 && !strings.Contains(err.Error(), "rank 1 names root 1") {
				t.Errorf("rank %d: Finalize: %v", w.Comm.Rank, err)
			}
			if err == nil {
				return nil
			}
			return w.Close()
		})
	})
}

// COL-05: members that name the same roots, in any kinds of collectives, get no error from
// Barrier and Finalize.
func TestCOL05_SameRootsBeforeBarrier(t *testing.T) {
	twoRoots(t, func(t *testing.T, fabric string, ranks int, c choice.Choice) {
		run(t, fabric, ranks, c, func(w *world.World) error {
			var errs []error
			for i := range 200 {
				root := i * i % ranks
				switch i % 7 {
				case 0, 3:
					errs = append(errs, w.Coll.Bcast(w.Comm, make([]byte, 1+i*i), dtype.Mixed, root))
				case 1, 5:
					errs = append(errs, w.Coll.Reduce(w.Comm, make([]byte, 1+i), make([]byte, 1+i), op.Sum, op.Int8, dtype.Mixed, root))
				case 2:
					errs = append(errs, w.Coll.Bcast(w.Comm, make([]byte, 70_000), dtype.Mixed, root))
				default:
					errs = append(errs, w.Coll.Barrier(w.Comm))
				}
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			return w.Close()
		})
	})
}
