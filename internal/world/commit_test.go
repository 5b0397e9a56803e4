package world

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/testrun"
)

// calls make communicators of members of several jobs.
var calls = map[string]func(w *World, c *comm.Comm) (*comm.Comm, error){
	"Merge":  func(w *World, c *comm.Comm) (*comm.Comm, error) { return w.Coll.Merge(c, c.Inter.First) },
	"Dup":    func(w *World, c *comm.Comm) (*comm.Comm, error) { return w.Coll.Dup(c) },
	"Split":  func(w *World, c *comm.Comm) (*comm.Comm, error) { return w.Coll.Split(c, c.Whole().Rank%2, 0) },
	"Create": func(w *World, c *comm.Comm) (*comm.Comm, error) { return w.Coll.Create(c, c.Inter.Local.Members) },
}

// alone is a Split that fails at the victim only, and only in its local part. fails is called there before the
// members commit.
func alone(w *World, c *comm.Comm, victim bool, fails func()) (*comm.Comm, error) {
	return w.Coll.SplitBy(c, []byte{0}, func([]byte) ([]int, error) {
		if !victim {
			return nil, nil // a success without a communicator
		}
		fails()
		return nil, class.Errorf(class.ProcFailed, "a process has failed that no other member needs")
	})
}

// deaths is a call in which processes die, each of another job.
type deaths struct {
	call    string // of calls, or "": alone, and the first victim's frames count from its error on
	sizes   []int  // of the jobs
	victims []int  // their ranks, among the processes of all jobs
	after   []int  // how many frames each has sent then, since the one before it has died
}

// run returns how many processes have died, and whether each survivor has got a communicator.
func (d deaths) run() (died int, made []bool, err error) {
	m, worlds, comms, err := jobsInMesh(d.sizes...)
	if err != nil {
		return 0, nil, err
	}
	var jobs []int // by rank
	for job, n := range d.sizes {
		jobs = append(jobs, slices.Repeat([]int{job}, n)...)
	}
	portOf := func(rank int) *port {
		p := worlds[rank].Proc
		return m.all[p.Identity(p.Job().Rank)]
	}
	count := func() { // the frames of the victims, from the first call on
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.victims == nil {
			m.victims = []*port{}
			for i, v := range d.victims {
				m.victims = append(m.victims, portOf(v))
				portOf(v).limit = d.after[i]
			}
		}
	}
	ended := make([]bool, len(d.sizes)) // jobs of which a process has died; guarded by m.mu
	var ready, all sync.WaitGroup
	m.died = func(p *port) {
		died++
		victim := slices.IndexFunc(worlds, func(w *World) bool { return w.Proc == p.p })
		ended[jobs[victim]] = true
		all.Go(func() { // the caller has the lock of the victim
			p.p.LoseAll(errDied)
			for rank, w := range worlds {
				if rank != victim && jobs[rank] == jobs[victim] {
					w.Proc.Lose(p.p.Job().Rank, errDied)
				}
			}
		})
	}
	results := make([]error, len(worlds))
	ready.Add(len(worlds))
	for rank, w := range worlds {
		all.Go(func() {
			// The first job is one group, the others are the other one.
			local, err := w.Coll.Split(comms[rank], min(jobs[rank], 1), 0)
			remote := 0
			if jobs[rank] == 0 {
				remote = d.sizes[0]
			}
			var inter *comm.Comm
			if err == nil {
				inter, err = w.Coll.Join(local, 0, &coll.Bridge{Over: comms[rank], Leader: remote, Tag: 1})
			}
			ready.Done()
			ready.Wait()
			if err != nil {
				results[rank] = fmt.Errorf("before the call: %w", err)
				return
			}
			if call := calls[d.call]; call != nil {
				count()
				_, results[rank] = call(w, inter)
			} else {
				_, results[rank] = alone(w, inter, rank == d.victims[0], count)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			if p := portOf(rank); ended[jobs[rank]] && !p.dead {
				m.die(p) // the rest of the job ends
			}
		})
	}
	all.Wait()
	for rank, w := range worlds {
		if died > 0 {
			w.Proc.LoseAll(errDied)
		}
		if !ended[jobs[rank]] {
			var ce *class.Error
			if results[rank] != nil && (!errors.As(results[rank], &ce) || ce.Class != class.ProcFailed) {
				err = errors.Join(err, fmt.Errorf("rank %d: %w", rank, results[rank]))
			}
			made = append(made, results[rank] == nil)
		}
	}
	for _, w := range worlds {
		err = errors.Join(err, w.Proc.Stop())
	}
	for _, w := range worlds {
		err = errors.Join(err, w.Proc.Node().Release(died > 0))
	}
	return died, made, err
}

// check runs d, and returns how many processes have died.
func (d deaths) check(t *testing.T) int {
	died, made, err := d.run()
	if err != nil {
		t.Errorf("%+v: %v", d, err)
	}
	if len(slices.Compact(slices.Clone(made))) != 1 {
		t.Errorf("%+v: survivors have communicators: %v", d, made)
	}
	return died
}

// A process alone knows of an error, and dies after it has told some of the leaders of it: those tell the others
// (X-DYN-01, F1, ERR-15).
func TestXDYN01_F1_TheDeadHaveToldSome(t *testing.T) {
	testrun.Covered(t)
	defer testrun.Watch(t.Name() + ": a process waits for ever")()
	points := 0
	for _, sizes := range [][]int{{1, 1}, {2, 1}, {1, 1, 1}, {1, 2, 1}, {1, 1, 1, 1}} {
		n := 0
		for _, size := range sizes {
			n += size
		}
		for victim := range n {
			for after := 0; (deaths{"", sizes, []int{victim}, []int{after}}).check(t) > 0; after++ {
				points++
			}
		}
	}
	t.Logf("a process has died at %d points", points)
}

// If a process dies while a communicator is made of members of several jobs, whatever it has sent before, and another
// one dies while they learn of it, then all survivors have the communicator, or all have an error (X-DYN-01, F1,
// ERR-15).
func TestXDYN01_F1_SurvivorsAgree(t *testing.T) {
	testrun.PlainOnly(t, "some hundred runs take seconds under the race detector")
	defer testrun.Watch(t.Name() + ": a process waits for ever")()
	points := 0
	for _, sizes := range [][]int{{2, 1}, {2, 2}, {1, 1, 1}, {1, 2, 1}} {
		n := 0
		for _, size := range sizes {
			n += size
		}
		for call := range calls {
			if n > 3 && call != "Merge" {
				continue
			}
			for victim := range n {
				for after := 0; (deaths{call, sizes, []int{victim}, []int{after}}).check(t) > 0; after++ {
					points++
				}
			}
		}
	}
	t.Logf("one process has died at %d points", points)
	points = 0
	sizes := []int{1, 1, 1, 1}
	for victim := range sizes {
		for after := 0; (deaths{"Merge", sizes, []int{victim}, []int{after}}).check(t) > 0; after++ {
			for then := range 4 {
				second := (victim + 1 + (after+then)%3) % 4
				if (deaths{"Merge", sizes, []int{victim, second}, []int{after, then}}).check(t) > 1 {
					points++
				}
			}
		}
	}
	t.Logf("two processes have died at %d points", points)
}
