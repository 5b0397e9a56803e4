package benchmark

import (
	"fmt"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

const (
	matchTime = 50 * time.Millisecond // after it, the rest of a deep queue is emptied without timing
	matches   = 5000                  // minimum number of matches in a measured run
	chunk     = 64                    // posted receives matched between two readings of the clock
)

// queue measures matching between two ranks. A message is 8 bytes that repeat its
// tag. Each of the tags 0..depth-1 occurs once, so that only the tag identifies the
// right message; tag depth is used for control.
//
// unexpected: rank 0 receives the tags depth-1, depth-2, ..., the worst order for a
// linear queue. posted: rank 1 sends in this order. When matchTime has passed, the
// rest is received in the best order and not timed, so that the queue has about the
// stated depth while the time is measured.
type queue struct {
	world    *mpi.Comm
	depth    int
	requests []mpi.Request // depth + 1
	values   []int64
	one      []int64
	none     []byte
	more     []int64 // posted: 1 while rank 0 asks for another chunk
}

func matching(world *mpi.Comm, p *Plan, depth int, report *Report) error {
	q := &queue{
		world: world, depth: depth, requests: make([]mpi.Request, depth+1), values: make([]int64, depth),
		one: make([]int64, 1), none: []byte{}, more: make([]int64, 1),
	}
	for _, side := range []struct {
		name string
		fill func() (time.Duration, int, error)
	}{{"unexpected", q.unexpected}, {"posted", q.posted}} {
		us, err := q.measure(side.fill)
		if err != nil {
			return err
		}
		if err := report.Add(Result{Bench: p.Name, Fabric: p.Fabric, Ranks: 2, Size: depth, Queue: side.name, US: us}); err != nil {
			return err
		}
	}
	return nil
}

// measure returns us per match; fill fills a queue to the depth and empties it.
func (q *queue) measure(fill func() (time.Duration, int, error)) (float64, error) {
	fills := max(1, (matches+q.depth-1)/q.depth)
	var per []float64
	for r := range reps + 1 { // the first run is a warm-up
		if err := q.world.Barrier(); err != nil {
			return 0, err
		}
		var took time.Duration
		matched := 0
		for range fills {
			t, n, err := fill()
			if err != nil {
				return 0, err
			}
			took += t
			matched += n
		}
		if r > 0 && q.world.Rank() == 0 {
			per = append(per, micros(took)/float64(matched))
		}
	}
	if per == nil {
		return 0, nil // rank 1 measures no time
	}
	return median(per), nil
}

// receive receives the message of a tag and checks its value.
func (q *queue) receive(tag int) error {
	if _, err := mpi.Recv(q.world, q.one, 1, tag); err != nil {
		return err
	}
	return right(q.one[0], tag)
}

func right(value int64, tag int) error {
	if value != int64(tag) {
		return fmt.Errorf("matching: a receive of tag %d got the message of tag %d", tag, value)
	}
	return nil
}

func (q *queue) unexpected() (took time.Duration, matched int, err error) {
	if q.world.Rank() == 1 {
		if _, err := mpi.Recv(q.world, q.none, 0, q.depth); err != nil {
			return 0, 0, err
		}
		for i := range q.depth {
			q.values[i] = int64(i)
			q.requests[i] = mpi.Isend(q.world, q.values[i:i+1], 0, i)
		}
		q.requests[q.depth] = mpi.Isend(q.world, q.none, 0, q.depth)
		return 0, 0, mpi.Waitall(q.requests, nil)
	}
	// The control message is sent after all others, and its receive is posted
	// first: when it is complete, the others are in the queue.
	behind := mpi.Irecv(q.world, q.none, 1, q.depth)
	if err := mpi.Send(q.world, q.none, 1, q.depth); err != nil {
		return 0, 0, err
	}
	if _, err := behind.Wait(); err != nil {
		return 0, 0, err
	}
	left := q.depth
	start := time.Now()
	for left > 0 {
		left--
		if err := q.receive(left); err != nil {
			return 0, 0, err
		}
		if left%16 == 0 && time.Since(start) > matchTime {
			break
		}
	}
	took = time.Since(start)
	for i := range left {
		if err := q.receive(i); err != nil {
			return 0, 0, err
		}
	}
	return took, q.depth - left, nil
}

func (q *queue) posted() (took time.Duration, matched int, err error) {
	if q.world.Rank() == 1 {
		return 0, 0, q.sendBackwards()
	}
	for i := range q.depth {
		q.values[i] = -1 // differs from the value of the previous round
		q.requests[i] = mpi.Irecv(q.world, q.values[i:i+1], 1, i)
	}
	left := q.depth
	q.more[0] = 1
	start := time.Now()
	for left > 0 && q.more[0] == 1 {
		low := max(0, left-chunk)
		if err := mpi.Send(q.world, q.more, 1, q.depth); err != nil {
			return 0, 0, err
		}
		if err := mpi.Waitall(q.requests[low:left], nil); err != nil {
			return 0, 0, err
		}
		left = low
		took = time.Since(start)
		if took >= matchTime {
			q.more[0] = 0
		}
	}
	matched = q.depth - left
	if left > 0 {
		if err := mpi.Send(q.world, q.more, 1, q.depth); err != nil {
			return 0, 0, err
		}
		if err := mpi.Waitall(q.requests[:left], nil); err != nil {
			return 0, 0, err
		}
	}
	for i, v := range q.values {
		if err := right(v, i); err != nil {
			return 0, 0, err
		}
	}
	return took, matched, nil
}

// sendBackwards is rank 1's part of posted: it sends chunks in descending order of tags
// while rank 0 asks for them, then the rest in ascending order.
func (q *queue) sendBackwards() error {
	send := func(tag int) error {
		q.one[0] = int64(tag)
		return mpi.Send(q.world, q.one, 0, tag)
	}
	for left := q.depth; left > 0; {
		if _, err := mpi.Recv(q.world, q.more, 0, q.depth); err != nil {
			return err
		}
		if q.more[0] == 0 {
			for i := range left {
				if err := send(i); err != nil {
					return err
				}
			}
			return nil
		}
		low := max(0, left-chunk)
		for left > low {
			left--
			if err := send(left); err != nil {
				return err
			}
		}
	}
	return nil
}
