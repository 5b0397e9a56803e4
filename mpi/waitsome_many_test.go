package mpi_test

import (
	"errors"
	"testing"

	"github.com/halo-mpi/halo/internal/world"
	"github.com/halo-mpi/halo/mpi"
)

// Waitsome over many requests receives all messages that have come before it looks at the requests, not a few in each call.
func TestP2P11_WaitsomeReceivesWhatHasCome(t *testing.T) {
	const n, most = 512, 4
	var receiver *world.World
	posted, sent := make(chan struct{}), make(chan struct{})
	err := mpi.Internals.RunBy(func(rank func(w *world.World) error) error {
		return world.RunGoroutines("inproc", 2, func(w *world.World) error {
			if w.Comm.Rank == 0 {
				receiver = w
			}
			return rank(w)
		})
	}, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			defer close(sent)
			<-posted
			for i := range n {
				if err := mpi.Send(c, []int32{int32(i)}, 0, i); err != nil {
					return err
				}
			}
			return nil
		}
		got, rs, indices := make([]int32, n), make([]mpi.Request, n), make([]int, n)
		for i := range rs {
			rs[i] = mpi.Irecv(c, got[i:i+1], 1, i)
		}
		receiver.Proc.Lock() // no service receives meanwhile
		close(posted)
		<-sent
		receiver.Proc.Unlock()
		calls := 0
		for done := 0; done < n; calls++ {
			k, err := mpi.Waitsome(rs, indices, nil)
			if err != nil || k <= 0 {
				return errors.Join(err, errors.New("nothing is complete"))
			}
			done += k
		}
		if calls > most {
			t.Errorf("%d calls for %d messages that had come", calls, n)
		}
		for i, x := range got {
			if x != int32(i) {
				t.Fatalf("message %d: %d", i, x)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
