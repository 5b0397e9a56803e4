package benchmark

import (
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// besideSize is the length of the short messages of beside, in bytes.
const besideSize = 8

// beside measures round trips of a short message between ranks 0 and 1 while rank 0 sends a long one of
// size bytes to rank 1. The result is the median of all that began before the send was complete, of as
// many long messages as the method of the other benchmarks runs.
func beside(world *mpi.Comm, p *Plan, size int, report *Report) error {
	long, peer := written[byte](size), 1-world.Rank()
	var turns []float64
	for rep := range reps + 1 {
		if err := world.Barrier(); err != nil {
			return err
		}
		start := time.Now()
		waits, err := besideOnce(world, long, peer)
		if err != nil {
			return err
		}
		if rep > 0 { // the first one warms up
			turns = append(turns, waits...)
		}
		enough := []bool{rep > 0 && time.Since(start)*max(p.shorten, 1) > slowTime}
		if err := mpi.Bcast(world, enough, 0); err != nil {
			return err
		}
		if enough[0] {
			break
		}
	}
	r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: size}
	if len(turns) > 0 {
		r.US = median(turns)
	}
	return report.Add(r)
}

// besideOnce returns the times in us of the round trips beside one long message. The first byte of
// each short message says whether more follow.
func besideOnce(world *mpi.Comm, long []byte, peer int) (turns []float64, err error) {
	short := make([]byte, besideSize)
	if world.Rank() == 1 {
		bulk := mpi.Irecv(world, long, peer, tagData)
		short[0] = 1
		for short[0] != 0 {
			if _, err := mpi.Recv(world, short, peer, tagAck); err != nil {
				return nil, err
			}
			if err := mpi.Send(world, short, peer, tagAck); err != nil {
				return nil, err
			}
		}
		_, err = bulk.Wait()
		return nil, err
	}
	bulk := mpi.Isend(world, long, peer, tagData)
	for done := false; !done; {
		_, done, err = bulk.Test()
		if err != nil {
			return nil, err
		}
		short[0] = 1
		if done {
			short[0] = 0
		}
		start := time.Now()
		if err := mpi.Send(world, short, peer, tagAck); err != nil {
			return nil, err
		}
		if _, err := mpi.Recv(world, short, peer, tagAck); err != nil {
			return nil, err
		}
		if !done {
			turns = append(turns, micros(time.Since(start)))
		}
	}
	return turns, nil
}
