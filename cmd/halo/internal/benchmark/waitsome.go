package benchmark

import (
	"fmt"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

const (
	waitRounds = 200                    // most rounds
	waitTime   = 60 * time.Millisecond  // after which no round begins
	slowWait   = 500 * time.Millisecond // of the first round, which warms up, after which it is the only one

	tagSent = 3 // of the message behind all others
)

// completion completes many receives: bench/waitsome.h describes it, and has the same loops in C.
type completion struct {
	world    *mpi.Comm
	peer     int
	words    []int64
	requests []mpi.Request
	indices  []int
}

// completions measures the completion of n receives in four ways.
func completions(world *mpi.Comm, p *Plan, n int, report *Report) error {
	if n < 1 {
		return fmt.Errorf("waitsome takes numbers from 1, not %d", n)
	}
	half := world.Size() / 2
	c := &completion{world: world, words: written[int64](n), requests: make([]mpi.Request, n), indices: make([]int, n)}
	sends := world.Rank() >= half
	c.peer = world.Rank() + half
	if sends {
		c.peer = world.Rank() - half
	}
	per, err := c.rounds(p, sends)
	if err != nil {
		return err
	}
	for i, layout := range []string{"complete waitsome", "complete waits", "arriving waitsome", "arriving waits"} {
		r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: n, Layout: layout}
		if !sends {
			r.US = median(per[i])
		}
		if err := report.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// rounds returns the times of a request in us, of each way. The first round warms up.
func (c *completion) rounds(p *Plan, sends bool) (per [4][]float64, err error) {
	begin, v := time.Now(), int64(1)
	more := []bool{true}
	for warm, rounds := true, 0; more[0]; warm = false {
		for i := range per {
			t, err := c.round(v, sends, i >= 2, i%2 == 0)
			if err != nil {
				return per, err
			}
			per[i] = append(per[i][:rounds], micros(t)/float64(len(c.words)))
			v++
		}
		if !warm || time.Since(begin) >= slowWait {
			rounds++
		}
		more[0] = rounds == 0 || time.Since(begin)*max(p.shorten, 1) < waitTime && rounds < waitRounds
		if err := mpi.Bcast(c.world, more, 0); err != nil {
			return per, err
		}
	}
	return per, nil
}

// round runs one round in one way.
func (c *completion) round(v int64, sends, arriving, some bool) (time.Duration, error) {
	if err := c.world.Barrier(); err != nil {
		return 0, err
	}
	if sends {
		return 0, c.sending(v)
	}
	wait := c.byWaits
	if some {
		wait = c.byWaitsome
	}
	return c.receiving(v, arriving, wait)
}

func (c *completion) sending(v int64) error {
	for i := range c.words {
		c.words[i] = v + int64(i)
	}
	if _, err := mpi.Recv[byte](c.world, nil, c.peer, tagAck); err != nil {
		return err
	}
	for i := range c.words {
		if err := mpi.Send(c.world, c.words[i:i+1], c.peer, tagData); err != nil {
			return err
		}
	}
	return mpi.Send[byte](c.world, nil, c.peer, tagSent)
}

func (c *completion) receiving(v int64, arriving bool, wait func() error) (time.Duration, error) {
	for i := range c.words {
		c.requests[i] = mpi.Irecv(c.world, c.words[i:i+1], c.peer, tagData)
	}
	start := time.Now()
	if err := mpi.Send[byte](c.world, nil, c.peer, tagAck); err != nil {
		return 0, err
	}
	if !arriving {
		if _, err := mpi.Recv[byte](c.world, nil, c.peer, tagSent); err != nil {
			return 0, err
		}
		start = time.Now()
	}
	if err := wait(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if arriving {
		if _, err := mpi.Recv[byte](c.world, nil, c.peer, tagSent); err != nil {
			return 0, err
		}
	}
	n, sum := int64(len(c.words)), int64(0)
	for _, w := range c.words {
		sum += w
	}
	if sum != n*v+n*(n-1)/2 {
		return 0, fmt.Errorf("waitsome: a message has another's data: the sum is %d, not %d", sum, n*v+n*(n-1)/2)
	}
	return took, nil
}

func (c *completion) byWaitsome() error {
	for left := len(c.requests); left > 0; {
		done, err := mpi.Waitsome(c.requests, c.indices, nil)
		if err != nil {
			return err
		}
		left -= done
	}
	return nil
}

func (c *completion) byWaits() error {
	for i := range c.requests {
		if _, err := c.requests[i].Wait(); err != nil {
			return err
		}
	}
	return nil
}
