package ps

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

const (
	// deadlockAfter is how long all ranks must have been asleep before the launcher reports
	// it: no message of a correct job takes that long.
	deadlockAfter = 5 * time.Second
	// deadlockLook is how long their processor time is observed: long enough for a process
	// that computes a twentieth of the time to show in the kernel's account, which has steps
	// of 10 ms.
	deadlockLook = 250 * time.Millisecond
)

// asleep is for how long all ranks have been asleep in the same calls; 0 if one is not.
// Ranks that have ended or have called Finalize do not count. A rank that waits for another job is not asleep:
// a client may come.
func (s *JobState) asleep() time.Duration {
	shortest := time.Duration(-1)
	for i := range s.Ranks {
		r := &s.Ranks[i]
		if r.State == Ended || r.stage == shmfmt.StageFinalized {
			continue
		}
		if r.State != Waiting || r.busy || slices.ContainsFunc(r.Waits, func(w WaitState) bool { return strings.HasSuffix(w.For, shmfmt.ForAnotherJob) }) {
			return 0
		}
		if d := s.Seen.Sub(r.changed); shortest < 0 || d < shortest {
			shortest = d
		}
	}
	return max(shortest, 0)
}

// cpu is how long each rank has computed.
func (s *JobState) cpu() []float64 {
	all := make([]float64, len(s.Ranks))
	for i := range s.Ranks {
		all[i] = s.Ranks[i].CPU
	}
	return all
}

// judge reports a deadlock if all ranks are asleep and have used no processor time since
// the first observation.
func (s *JobState) judge(before []float64) {
	d := s.asleep()
	if d < deadlockAfter || !slices.Equal(before, s.cpu()) {
		return
	}
	if len(s.Ranks) < s.Size {
		s.Deadlock = fmt.Sprintf("All ranks of this host have been asleep in calls for %s and compute nothing; look at the other hosts, too.", ago(d))
		return
	}
	s.Deadlock = fmt.Sprintf("All ranks have been asleep in calls for %s and compute nothing: this looks like a deadlock.", ago(d))
}

// suspect observes the jobs whose ranks are all asleep a second time, and judges them. A job may wait for one
// that it has spawned, or that has spawned it, so it is judged only if these are asleep, too.
func suspect(jobs []*JobState, notes []*os.File) {
	asleep := func(s *JobState) bool {
		return !slices.ContainsFunc(jobs, func(k *JobState) bool { return k.family() == s.family() && k.asleep() < deadlockAfter })
	}
	if !slices.ContainsFunc(jobs, asleep) {
		return
	}
	time.Sleep(deadlockLook)
	for i, s := range jobs {
		if !asleep(s) {
			continue
		}
		if h, views, err := shmfmt.ReadNotes(notes[i]); err == nil {
			later := newJobState(h, views, time.Now(), linesOf)
			later.judge(s.cpu())
			s.Deadlock = later.Deadlock
		}
	}
}

// family is the name of the job that the launcher was asked for.
func (s *JobState) family() string {
	first := JobState{Job: s.Job, led: s.led}
	for first.parent() != "" {
		first.Job = first.parent()
	}
	return first.Job
}
