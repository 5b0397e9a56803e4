package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// halo ps reports a deadlock if all ranks have been asleep in calls for long. It reports none if
// one of them computes or has fallen asleep just now.
func TestF6_PsSuspectsADeadlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		steps []string
		want  bool
	}{
		{[]string{"init", "longnote:Recv"}, true},
		{[]string{"init", "longnote:Recv", "1@note:Recv"}, false},       // rank 1 has just fallen asleep
		{[]string{"init", "0@longnote:Recv", "2@longnote:Recv"}, false}, // rank 1 is not in a call
		{[]string{"init", "longnote:Recv", "1@spin"}, false},            // a goroutine of rank 1 computes
	} {
		ready := filepath.Join(t.TempDir(), "ready")
		steps := append([]string{"-n", "3", "rank"}, c.steps...)
		r := newRun(t, append(steps, "ready:"+ready, "forever")...).start()
		r.ready(ready, 3)
		s := r.state()
		// The ranks may still be busy with their start.
		for end := time.Now().Add(hangs); c.want && s.Deadlock == "" && time.Now().Before(end); {
			s = r.state()
		}
		if (s.Deadlock != "") != c.want {
			t.Errorf("%q: %q", c.steps, s.Deadlock)
		}
		out, _, _ := ps(t, fmt.Sprint(r.cmd.Process.Pid))
		if c.want && !strings.Contains(out, "\nAll ranks have been asleep in calls for ") {
			t.Errorf("%q: %s", c.steps, out)
		}
		r.stop()
	}
}

// A process of which any thread is on a core, waits for one, or for a disk computes.
func TestF6_ThreadsThatCompute(t *testing.T) {
	for states, want := range map[string]bool{"S": false, "SSI": false, "RSS": true, "SSR": true, "SD": true, "": false} {
		dir := t.TempDir()
		for i, state := range states {
			task := filepath.Join(dir, fmt.Sprint(100+i))
			if err := os.Mkdir(task, 0o755); err != nil {
				t.Fatal(err)
			}
			stat := fmt.Sprintf("%d (a) R (b) %c 1 100 100 0\n", 100+i, state)
			if err := os.WriteFile(filepath.Join(task, "stat"), []byte(stat), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := computes(dir); got != want {
			t.Errorf("threads in states %q: %v, want %v", states, got, want)
		}
	}
}

// Ranks that have finalised MPI or ended do not count. Ranks of other hosts are unknown.
func TestF6_WhoCountsForADeadlock(t *testing.T) {
	now := time.Now()
	rank := func(state string, stage shmfmt.Stage, asleep time.Duration) RankState {
		return RankState{State: state, stage: stage, changed: now.Add(-asleep)}
	}
	waits := rank(stateWaiting, shmfmt.StageRunning, time.Minute)
	accepts := waits
	accepts.Waits = []WaitState{{"Accept at halo://127.0.0.1:4000/..." + shmfmt.ForAnotherJob, now, shmfmt.AwaitsUnknown}}
	for _, c := range []struct {
		ranks []RankState
		size  int
		want  string
	}{
		{[]RankState{waits, waits}, 2, "looks like a deadlock"},
		{[]RankState{waits, waits}, 3, "look at the other hosts"},
		{[]RankState{waits, rank(stateEnded, shmfmt.StageRunning, 0), rank(stateRunning, shmfmt.StageFinalized, 0)}, 3, "looks like a deadlock"},
		{[]RankState{waits, rank(stateRunning, shmfmt.StageRunning, 0)}, 2, ""},
		{[]RankState{waits, rank(stateStarting, shmfmt.StageNone, 0)}, 2, ""},
		{[]RankState{waits, rank(stateStopped, shmfmt.StageRunning, time.Minute)}, 2, ""},
		{[]RankState{waits, rank(stateWaiting, shmfmt.StageInit, time.Second)}, 2, ""},
		{[]RankState{rank(stateEnded, shmfmt.StageRunning, 0)}, 1, ""},
		{[]RankState{waits, accepts}, 2, ""},
	} {
		s := &JobState{Seen: now, Size: c.size, Ranks: c.ranks}
		s.judge(s.cpu())
		if (c.want == "") != (s.Deadlock == "") || !strings.Contains(s.Deadlock, c.want) {
			t.Errorf("%+v: %q, want %q", c.ranks, s.Deadlock, c.want)
		}
		before := s.cpu()
		before[0]--
		s.Deadlock = ""
		s.judge(before)
		if s.Deadlock != "" {
			t.Errorf("%+v computes and is in a deadlock", c.ranks)
		}
	}
}
