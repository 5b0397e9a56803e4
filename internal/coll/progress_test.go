package coll_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/world"
)

// X-NBC-01: a nonblocking collective makes progress while a member computes. Rank 0 starts one
// and then makes no call, but computes until all others have completed it. In most algorithms
// this needs steps of rank 0 in later rounds.
func TestCollectivesGoOnWhileAMemberComputes(t *testing.T) {
	const n, size = 4, 200 << 10
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for _, f := range forms()[4:] { // each algorithm
			var finished [coll.Kinds]atomic.Int32 // others that have completed it, by kind
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
