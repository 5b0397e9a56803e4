package ps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

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
	waits := rank(Waiting, shmfmt.StageRunning, time.Minute)
	accepts := waits
	accepts.Waits = []WaitState{{"Accept at halo://127.0.0.1:4000/..." + shmfmt.ForAnotherJob, now, shmfmt.AwaitsUnknown}}
	for _, c := range []struct {
		ranks []RankState
		size  int
		want  string
	}{
		{[]RankState{waits, waits}, 2, "looks like a deadlock"},
		{[]RankState{waits, waits}, 3, "look at the other hosts"},
		{[]RankState{waits, rank(Ended, shmfmt.StageRunning, 0), rank(Running, shmfmt.StageFinalized, 0)}, 3, "looks like a deadlock"},
		{[]RankState{waits, rank(Running, shmfmt.StageRunning, 0)}, 2, ""},
		{[]RankState{waits, rank(Starting, shmfmt.StageNone, 0)}, 2, ""},
		{[]RankState{waits, rank(Stopped, shmfmt.StageRunning, time.Minute)}, 2, ""},
		{[]RankState{waits, rank(Waiting, shmfmt.StageInit, time.Second)}, 2, ""},
		{[]RankState{rank(Ended, shmfmt.StageRunning, 0)}, 1, ""},
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
