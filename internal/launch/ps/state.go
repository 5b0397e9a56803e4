//go:build unix

package ps

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/lines"
	"github.com/halo-mpi/halo/internal/node/segment"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// processInfo is what the system reports about a process.
type processInfo struct {
	parent  int
	ended   bool // the process has ended, and its parent has not reaped it
	stopped bool
	busy    bool // a thread is on a core, waits for one, or for a disk
	cpu     time.Duration
}

// Table returns the table of the ranks of this host and what they do now, for people.
func Table(n *segment.Notes) string {
	h, views, err := n.Read()
	if err != nil {
		return fmt.Sprintf("what the ranks wait for cannot be read: %v", err)
	}
	var b strings.Builder
	newJobState(h, views, time.Now(), linesOf).Write(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

// newJobState combines the notes and the system's reports on processes. linesOf is the function of that name, or one
// that remembers.
func newJobState(h *shmfmt.NotesHeader, views []shmfmt.NoteView, now time.Time, linesOf func(pid int) func([]callsite.Address) []string) *JobState {
	s := &JobState{Job: h.Job, Launcher: h.Launcher, Size: h.Size, Fabric: h.Fabric, Command: h.Command,
		Started: h.Started, Seen: now}
	// Under a job engine one of the processes leads the others, which it has not started.
	s.led = slices.ContainsFunc(views, func(v shmfmt.NoteView) bool { return v.Pid == h.Launcher })
	for i := range views {
		s.Ranks = append(s.Ranks, newRankState(h, &views[i], s.led, linesOf))
	}
	slices.SortFunc(s.Ranks, func(a, b RankState) int { return a.Rank - b.Rank })
	var outside []int // ranks that have not called Init
	for i := range s.Ranks {
		if s.Ranks[i].stage == shmfmt.StageNone {
			outside = append(outside, s.Ranks[i].Rank)
		}
	}
	for i := range s.Ranks {
		if r := &s.Ranks[i]; r.stage == shmfmt.StageInit && r.State != Ended && len(outside) > 0 {
			r.Detail = wording.Numbered("rank", outside) + " did not call it yet"
		}
	}
	return s
}

func newRankState(h *shmfmt.NotesHeader, v *shmfmt.NoteView, led bool, linesOf func(pid int) func([]callsite.Address) []string) RankState {
	r := RankState{Rank: v.Rank, Pid: v.Pid, Waits: []WaitState{}, Asleep: v.Asleep, inC: v.InC, stage: v.Stage, changed: v.Changed}
	switch {
	case v.Ended:
		r.State = Ended
		r.Asleep = 0
		r.Detail = fmt.Sprintf("exited with status %d", v.Status)
		if v.Signal != 0 {
			r.Detail = "killed by " + sys.SignalName(syscall.Signal(v.Signal))
		}
		return r
	case v.Pid == 0:
		r.State, r.Detail = Starting, "not started yet"
		return r
	}
	r.State = Running
	adopted := false // the process has started the launcher
	if seesProcesses {
		p, ok := lookAtProcess(v.Pid)
		if h.Size == 1 {
			launcher, _ := lookAtProcess(h.Launcher)
			adopted = launcher.parent == v.Pid
		}
		if !ok || p.parent != h.Launcher && !led && !adopted || p.ended {
			r.State, r.Detail, r.Asleep = Ended, "just now", 0
			return r
		}
		if self, ok := lookAtProcess(v.Self); ok && !self.ended && Descends(v.Self, v.Pid) {
			r.Pid, p = v.Self, self // the launcher has started a wrapper of the program
		}
		r.CPU, r.busy = p.cpu.Seconds(), p.busy
		if p.stopped {
			r.State = Stopped
		}
	}
	switch {
	case adopted && v.Stage <= shmfmt.StageRunning:
		r.Detail = "started without a launcher"
	case v.Stage == shmfmt.StageNone:
		r.Detail = "has not called Init"
	case v.Stage == shmfmt.StageInit:
		r.wait(wording.Calls("Init", v.InC), v.Entered)
	case v.Stage == shmfmt.StageFinalizing:
		r.wait(wording.Calls("Finalize", v.InC), v.Entered)
	case v.Stage == shmfmt.StageFinalized:
		r.Detail = wording.Calls("has called Finalize", v.InC)
	}
	if v.Torn {
		r.Detail = "what it waits for was just changing"
	}
	for _, w := range v.Waits {
		r.Waits = append(r.Waits, WaitState{callsite.Resolve(w.For, linesOf(v.Self)), w.Since, w.Awaits})
	}
	if r.Asleep > 0 {
		r.Unmatched = callsite.Resolve(v.Unmatched, linesOf(v.Self))
		if r.State == Running {
			r.State = Waiting
		}
	}
	return r
}

// linesOf returns the function that finds the lines of calls in C of a process.
func linesOf(pid int) func(list []callsite.Address) []string {
	return func(list []callsite.Address) []string {
		var questions, answers strings.Builder
		for _, a := range list {
			questions.WriteString(boot.Question(pid, a.Offset, a.Path))
		}
		if lines.Answer(strings.NewReader(questions.String()), &answers) != nil {
			return nil
		}
		return strings.Split(strings.TrimSuffix(answers.String(), "\n"), "\n")
	}
}

// maxDescent bounds the generations that descends looks at.
const maxDescent = 64

// Descends reports whether a process is a child or a later descendant of another one. The
// id that a program in a container writes to its note may be that of an unrelated process
// here, or of none.
func Descends(pid, from int) bool {
	for range maxDescent {
		if pid == from {
			return true
		}
		p, ok := lookAtProcess(pid)
		if !ok {
			break
		}
		pid = p.parent
	}
	return false
}

// wait records that the whole process is in a call.
func (r *RankState) wait(call string, since time.Time) {
	r.Waits = append(r.Waits, WaitState{call, since, shmfmt.AwaitsAny})
	r.Asleep++
	if r.changed.Before(since) {
		r.changed = since
	}
}
