package fabrictest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// takenMax bounds the bytes that a fabric may accept for a peer that does not poll: far more
// than any ring or socket buffer has, and far less than the machine's memory.
const takenMax = 64 << 20

// fill sends frames to a peer that does not poll, until the fabric accepts no more. The
// caller holds no lock.
func (r *rank) fill(to int) {
	bytes := 0
	for !r.job.failed() {
		r.mu.Lock()
		l := &r.traffic[to]
		taken := r.send(to)
		if !taken {
			r.f.Poll(r, -1)
		}
		refused, size := l.refused, len(l.buf)
		r.mu.Unlock()
		if taken {
			bytes += size + wire.HeaderSize
			if bytes > takenMax {
				r.job.failf("rank %d: %d bytes were taken for %d, which does not poll", r.me, bytes, to)
			}
			continue
		}
		if refused > 120 {
			return
		}
		if refused > 100 {
			time.Sleep(100 * time.Microsecond) // what is under way in the kernel may still make room
		}
		runtime.Gosched()
	}
}

func testBackPressure(t *testing.T, open opener) {
	for name, sizes := range map[string]func(uint64, int) int{"small": smallSize, "any": anySize, "large": largeSize} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, open, 3, 6, sizes)
			for from := range 3 {
				for to := range 3 {
					j.plan(from, to, 1)
				}
			}
			j.run() // all ways exist now
			full, other := j.ranks[0], j.ranks[2]
			for range open.scale(3) {
				j.watch(func() { full.fill(1) })
				// The way to a third rank is not blocked by that.
				j.plan(0, 2, 100)
				j.plan(2, 0, 100)
				withThird := func(r *rank) bool {
					l := &r.traffic[2-r.me]
					return l.sent == l.plan && l.got == l.expect
				}
				j.runUntil(withThird, full, other)
				// The rest goes out once the receiver polls again.
				missing := full.traffic[1].sent + 100 - full.traffic[1].plan
				j.plan(0, 1, missing)
				j.run()
			}
		})
	}
}

func testBothSidesBlocked(t *testing.T, open opener) {
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			j := newJob(t, open, n, 7, largeSize)
			for from := range n {
				for to := range n {
					j.plan(from, to, 1)
				}
			}
			j.run()
			var blocked sync.WaitGroup
			blocked.Add(n)
			j.each(func(r *rank) {
				for to := range n {
					for k := 0; to != r.me && k < 100 && !j.failed(); {
						r.mu.Lock()
						if !r.send(to) {
							k++
						}
						r.mu.Unlock()
					}
				}
				blocked.Done()
				blocked.Wait()
			}, j.ranks...)
			for _, r := range j.ranks {
				for to := range n {
					if to != r.me {
						j.plan(r.me, to, r.traffic[to].sent+open.scale(500)-r.traffic[to].plan)
					}
				}
			}
			j.run()
		})
	}
}

// testRefusedSendEndsSleep has a sender that sleeps whenever a frame is refused,
// and a receiver that makes room at any moment: before Arm, before Sleep, in it.
func testRefusedSendEndsSleep(t *testing.T, open opener) {
	j := newJob(t, open, 2, 8, largeSize)
	frames := open.scale(10000)
	j.plan(0, 1, 1)
	j.plan(1, 0, 1)
	j.run()
	j.plan(0, 1, frames)
	from, to := j.ranks[0], j.ranks[1]
	sent := func() bool { return from.traffic[1].sent == from.traffic[1].plan }
	j.watch(func() {
		for done := false; !done && !j.failed(); {
			from.mu.Lock()
			for !sent() && from.send(1) {
			}
			done = sent()
			from.mu.Unlock()
			randomDelay(from.rng)
			if !done {
				from.sleepUntil(func() bool { return false })
			}
		}
	}, func() {
		for done := false; !done && !j.failed(); {
			randomDelay(to.rng)
			if to.rng.IntN(2) == 0 {
				for range 100 {
					if from.asleep.Load() {
						break
					}
					runtime.Gosched()
				}
			}
			to.mu.Lock()
			to.f.Poll(to, -1)
			done = to.traffic[0].got == to.traffic[0].expect
			to.mu.Unlock()
		}
	})
}
