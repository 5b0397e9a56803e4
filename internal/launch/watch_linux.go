package launch

import (
	"cmp"
	"slices"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/ps"
	"github.com/halo-mpi/halo/internal/launch/talk"
)

// watcher looks at the ranks of all jobs of the family, with -watch or -check.
type watcher struct {
	timer  *time.Timer
	looker ps.Looker
	found  ps.Watcher
}

// watch looks what all ranks of the family wait for, and says what the Watcher makes of it.
func (w *watcher) watch(j *job) {
	w.timer.Reset(ps.WatchEvery)
	if j.ends() {
		return
	}
	var states []*ps.JobState
	for _, k := range j.jobs {
		s := k.look(&w.looker)
		if s == nil {
			return
		}
		states = append(states, s)
	}
	reports, tables := w.found.See(states)
	for _, text := range reports {
		j.say(text)
	}
	for _, table := range tables {
		j.said.Go(func() { j.stderr.say(table) })
	}
}

// look returns the state of all ranks of a job, nil if it is not known of all.
func (j *job) look(l *ps.Looker) *ps.JobState {
	if !j.begun {
		return nil
	}
	var all *ps.JobState
	known := true
	for _, h := range j.hosts {
		var s *ps.JobState
		if h.remote != nil {
			s = h.remote.look()
		} else {
			s, _ = l.Look(j.agent.Notes())
		}
		switch {
		case s == nil:
			known = false
		case all == nil:
			all = s
		default:
			all.Ranks = append(all.Ranks, s.Ranks...)
		}
	}
	if !known || all == nil || len(all.Ranks) != all.Size {
		return nil
	}
	slices.SortFunc(all.Ranks, func(a, b ps.RankState) int { return cmp.Compare(a.Rank, b.Rank) })
	return all
}

// look returns the answer to the last request for the state of the ranks, nil if none has come, and makes the next
// request.
func (r *remote) look() *ps.JobState {
	s := r.looked
	r.looked = nil
	r.out.Send(frame.New(talk.KindLook).Bytes())
	return s
}

// startWatch begins to look, and returns what ends that.
func (j *job) startWatch() (stop func()) {
	w := &watcher{}
	w.timer = time.AfterFunc(ps.WatchEvery, func() { j.post(func() { w.watch(j) }) })
	return func() { w.timer.Stop() }
}
