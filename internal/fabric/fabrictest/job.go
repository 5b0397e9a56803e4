package fabrictest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
)

// stuckAfter is how long a job may make no progress before it counts as hung: far longer than
// any pause of a busy machine, since a lost wake-up lasts for ever.
const stuckAfter = 30 * time.Second

// job is the fabrics of one job and the state of the checks.
type job struct {
	t        testing.TB
	ranks    []*rank
	pattern  *pattern
	progress atomic.Int64 // counts everything that happens
	stop     atomic.Bool
	mayFail  []atomic.Bool  // ranks that may be reported Down
	finished atomic.Int32   // ranks for which the condition of runUntil has come true
	hung     bool           // ranks do not end even though they were woken
	waking   sync.WaitGroup // goroutines that wake the ranks after a failure
}

// newJob opens n fabrics, whose traffic seed decides. They are closed when the test ends.
func newJob(t testing.TB, open opener, n int, seed uint64, sizes func(uint64, int) int) *job {
	t.Helper()
	fabrics := open.fabrics(t, n)
	if len(fabrics) != n {
		t.Fatalf("open gave %d fabrics, want %d", len(fabrics), n)
	}
	limit := max(fabrics[0].EagerMax(), fabrics[0].ChunkMax())
	j := &job{t: t, pattern: newPattern(seed, limit, sizes), mayFail: make([]atomic.Bool, n)}
	for i, f := range fabrics {
		j.ranks = append(j.ranks, &rank{job: j, me: i, f: f, traffic: make([]traffic, n), idlePolls: i % 3 * 20,
			rng: rand.New(rand.NewPCG(seed, uint64(i)))})
	}
	t.Cleanup(func() {
		for i := range j.mayFail {
			j.mayFail[i].Store(true)
		}
		if j.hung {
			return // a rank may hold its lock for ever
		}
		var all sync.WaitGroup // closing may need the peer
		for _, r := range j.ranks {
			all.Go(func() { r.close() })
		}
		all.Wait()
		j.waking.Wait()
	})
	return j
}

// close ends the rank's fabric, once.
func (r *rank) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended.Swap(true) {
		return
	}
	if err := r.f.Close(); err != nil {
		r.job.failf("rank %d: Close: %v", r.me, err)
	}
}

// plan makes rank from send n frames to rank to.
func (j *job) plan(from, to, n int) {
	if from != to {
		j.ranks[from].traffic[to].plan += n
		j.ranks[to].traffic[from].expect += n
	}
}

func (j *job) failed() bool { return j.stop.Load() }

func (j *job) allowedDown(i int) bool { return j.mayFail[i].Load() }

// failf fails the test and makes all ranks stop.
func (j *job) failf(format string, args ...any) {
	if j.stop.CompareAndSwap(false, true) {
		j.t.Errorf(format, args...)
		j.waking.Go(j.wakeAll) // not from here: the caller holds a lock, and may be inside a Poll
	}
}

func (j *job) wakeAll() {
	for _, r := range j.ranks {
		r.f.Wake()
	}
}

// run drives the ranks, all if none is given, until each has completed its traffic; ranks
// continue to poll until the last one has.
func (j *job) run(ranks ...*rank) {
	j.t.Helper()
	j.runUntil((*rank).complete, ranks...)
}

// runUntil is run with another condition in place of complete traffic.
func (j *job) runUntil(complete func(*rank) bool, ranks ...*rank) {
	j.t.Helper()
	if len(ranks) == 0 {
		ranks = j.ranks
	}
	n := int32(len(ranks))
	j.finished.Store(0)
	j.each(func(r *rank) {
		counted := false
		r.drive(func() bool {
			if !counted && complete(r) {
				counted = true
				if j.finished.Add(1) == n {
					j.wakeAll()
				}
			}
			return j.finished.Load() == n
		})
	}, ranks...)
}

// each runs do for each rank in a goroutine of its own and waits for all.
func (j *job) each(do func(r *rank), ranks ...*rank) {
	j.t.Helper()
	var tasks []func()
	for _, r := range ranks {
		tasks = append(tasks, func() { do(r) })
	}
	j.watch(tasks...)
}

// watch runs tasks concurrently, and waits for all as long as there is progress.
func (j *job) watch(tasks ...func()) {
	j.t.Helper()
	var all sync.WaitGroup
	for _, task := range tasks {
		all.Go(task)
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	tick := time.NewTicker(stuckAfter / 30)
	defer tick.Stop()
	last, quiet := j.progress.Load(), 0
	for {
		select {
		case <-done:
			if j.failed() {
				j.t.FailNow()
			}
			return
		case <-tick.C:
		}
		if now := j.progress.Load(); now != last {
			last, quiet = now, 0
			continue
		}
		quiet++
		switch {
		case quiet == 30 && j.stop.CompareAndSwap(false, true):
			j.t.Errorf("nothing happened for %v:\n%s", stuckAfter, j.report())
			j.wakeAll()
		case quiet > 40:
			j.hung = true
			j.t.Fatal("the ranks do not end even though they were woken")
		}
	}
}

// report says what every rank does and what it waits for.
func (j *job) report() string {
	var b strings.Builder
	for _, r := range j.ranks {
		locked := r.mu.TryLock()
		fmt.Fprintf(&b, "rank %d (%s)", r.me, r.f.Name())
		switch {
		case r.asleep.Load():
			b.WriteString(" is inside Sleep: a lost wake-up, if anything below is under way to it")
		case !locked:
			b.WriteString(" is inside a call under its lock, which may not block")
		}
		b.WriteString("\n")
		for i := range r.traffic {
			if !locked || i == r.me {
				continue
			}
			l := &r.traffic[i]
			fmt.Fprintf(&b, "  with %d: sent %d of %d, got %d of %d", i, l.sent, l.plan, l.got, l.expect)
			if l.refused > 0 {
				fmt.Fprintf(&b, ", the next was refused %d times", l.refused)
			}
			if l.placing {
				fmt.Fprintf(&b, ", a payload of %d bytes is being placed", len(l.placeAt))
			}
			if l.down {
				b.WriteString(", down")
			}
			b.WriteString("\n")
		}
		if locked {
			r.mu.Unlock()
		}
	}
	return b.String()
}

var _ fabric.Sink = (*rank)(nil)
