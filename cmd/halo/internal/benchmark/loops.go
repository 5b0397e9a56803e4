package benchmark

import "github.com/halo-mpi/halo/mpi"

const (
	window = 64 // messages in flight in bw, bibw and msgrate

	tagData = 1
	tagAck  = 2
)

// loops holds the loop bodies of the time measurements. All buffers are made before, so
// that a body only communicates.
type loops struct {
	world       *mpi.Comm
	rank, ranks int
	send, recv  []byte
	terms, sums []float64
	requests    []mpi.Request
}

// latency is n round trips between ranks 0 and 1.
func (l *loops) latency(n int) error {
	for range n {
		if l.rank == 0 {
			if err := mpi.Send(l.world, l.send, 1, tagData); err != nil {
				return err
			}
			if _, err := mpi.Recv(l.world, l.recv, 1, tagData); err != nil {
				return err
			}
		} else {
			if _, err := mpi.Recv(l.world, l.recv, 0, tagData); err != nil {
				return err
			}
			if err := mpi.Send(l.world, l.send, 0, tagData); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream sends n times window messages from the lower half of the ranks to the upper
// half; one acknowledgement answers each window.
func (l *loops) stream(n int) error {
	half := l.ranks / 2
	sender := l.rank < half
	peer := l.rank - half
	if sender {
		peer = l.rank + half
	}
	ack := make([]byte, 1)
	requests := l.requests[:window]
	for range n {
		for w := range requests {
			if sender {
				requests[w] = mpi.Isend(l.world, l.send, peer, tagData)
			} else {
				requests[w] = mpi.Irecv(l.world, l.recv, peer, tagData)
			}
		}
		if err := mpi.Waitall(requests, nil); err != nil {
			return err
		}
		if sender {
			if _, err := mpi.Recv(l.world, ack, peer, tagAck); err != nil {
				return err
			}
		} else if err := mpi.Send(l.world, ack, peer, tagAck); err != nil {
			return err
		}
	}
	return nil
}

// bothWays exchanges n times window messages between ranks 0 and 1 in both directions.
func (l *loops) bothWays(n int) error {
	peer := 1 - l.rank
	for range n {
		for w := range window {
			l.requests[w] = mpi.Irecv(l.world, l.recv, peer, tagData)
		}
		for w := range window {
			l.requests[window+w] = mpi.Isend(l.world, l.send, peer, tagData)
		}
		if err := mpi.Waitall(l.requests, nil); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) barrier(n int) error {
	for range n {
		if err := l.world.Barrier(); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) allreduce(n int) error {
	for range n {
		if err := mpi.Allreduce(l.world, l.terms, l.sums, mpi.Sum); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) reduceLocal(n int) error {
	for range n {
		if err := mpi.ReduceLocal(l.terms, l.sums, mpi.Sum); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) bcast(n int) error {
	for range n {
		if err := mpi.Bcast(l.world, l.send, 0); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) allgather(n int) error {
	for range n {
		if err := mpi.Allgather(l.world, l.send, l.recv); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) alltoall(n int) error {
	for range n {
		if err := mpi.Alltoall(l.world, l.send, l.recv); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) windows(n int) error {
	for range n {
		w, err := mpi.WinAllocate[byte](l.world, len(l.send))
		if err != nil {
			return err
		}
		if err := w.Free(); err != nil {
			return err
		}
	}
	return nil
}

func (l *loops) duplicates(n int) error {
	for range n {
		c, err := l.world.Dup()
		if err != nil {
			return err
		}
		if err := c.Free(); err != nil {
			return err
		}
	}
	return nil
}
