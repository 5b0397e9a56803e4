package pool_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
	"github.com/halo-mpi/halo/mpi/pool"
)

// BenchmarkEmptyTask is the time of a task that does nothing, in a loop over many.
func BenchmarkEmptyTask(b *testing.B) {
	for _, fabric := range mpitest.Fabrics() {
		for _, inFlight := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%s/%d", fabric, inFlight), func(b *testing.B) {
				err := mpitest.RunOver(fabric, 2, func(world *mpi.Comm) error {
					return pool.Over(world, func(p *pool.Pool) error {
						tasks := func(yield func(int) bool) {
							for b.Loop() && yield(1) {
							}
						}
						for _, err := range pool.MapSeq(bg, p, square, tasks) {
							if err != nil {
								return err
							}
						}
						return nil
					}, pool.InFlight(inFlight))
				})
				if err != nil {
					b.Error(err)
				}
			})
		}
	}
}
