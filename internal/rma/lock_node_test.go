package rma_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// F3: a process dies with the lock of a node, or the one in whose memory it is. The others, which wait for it
// or come later, take it without an error, one at a time. An epoch of the view goes on meanwhile.
func TestF3_NodeLockOutlivesProcesses(t *testing.T) {
	const n, times = 4, 30
	for _, dead := range []int{0, 3} {
		t.Run(fmt.Sprintf("rank %d", dead), func(t *testing.T) {
			dying(t, n, func(meet func()) func(w *world.World, v *rma.View) error {
				counts := make([]int, times*n) // which the lock guards
				used := 0
				return func(w *world.World, v *rma.View) error {
					if err := v.LockAll(rma.ModeNoCheck); err != nil {
						return err
					}
					l, ok := v.NodeLock(0, nil)
					if w.Comm.Rank == dead {
						if ok {
							l.Lock(true, 0, 8, false)
						}
						meet()
						time.Sleep(time.Millisecond) // some come before, some after it
						return errDies
					}
					meet()
					for i := range times {
						if !ok {
							break // it is in the memory of another node
						}
						exclusive := i%3 != 0
						l.Lock(exclusive, uint64(i%8), 8, i%2 == 0)
						if exclusive {
							counts[used] = w.Comm.Rank
							used++
						} else {
							_ = counts[max(used-1, 0)]
						}
						l.Unlock()
					}
					alone(w)
					return nil
				}
			})
		})
	}
}
