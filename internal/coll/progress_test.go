package coll_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/world"
)

// X-NBC-01: a nonblocking collective goes on while a member computes. Rank 0
// starts one and then calls nothing, but computes until all others have come to
// the end of theirs, which in most algorithms needs what rank 0 does in later rounds.
func TestCollectivesGoOnWhileAMemberComputes(t *testing.T) {
	const n, size = 4, 200 << 10
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for _, f := range forms()[4:] { // each algorithm
			var finished [coll.Kinds]atomic.Int32 // others that are through, by kind
			run(t, fabric, n, f.c, func(w *world.World) error {
				for _, k := range f.kinds {
					task := plain(w.Comm, k, size)
					r, err := task.start(w, coll.Nonblocking)
					if err != nil {
						return err
					}
					if w.Comm.Rank == 0 {
						for x := uint64(1); finished[k].Load() < n-1; {
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
