package launch

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// BRD-08: with -check or -watch the launcher says by itself which ranks wait for each other, though others compute; in
// checking mode with the lines of their calls. Then it says that all ranks sleep, with the table.
func TestBRD08_AHangExplainsItself(t *testing.T) {
	const ring = "this looks like a deadlock: rank 0 waits for rank 1 waits for rank 2 waits for rank 0: rank 0 in "
	for _, c := range []struct {
		option string
		tasks  string
		stuck  string
		all    bool // ranks sleep
	}{
		{"-watch", "recv recv recv", ring + "Recv on world from 1 tag 7; rank 1 in Recv on world from 2 tag 7; rank 2 in Recv on world from 0 tag 7\n", true},
		{"-check", "recv recv recv", ring + "Recv on world from 1 tag 7 at main.go:", true},
		{"-watch", "ssend ssend ssend", ring + "Ssend on world to 1 tag 5; ", true},
		{"-watch", "recv ssend recv", "rank 1 in Ssend on world to 2 tag 5; rank 2 in Recv on world from 0 tag 7\n", true},
		{"-watch", "any any any", "this looks like a deadlock: ranks 0-2 wait for each other: rank 0 in Recv on world; rank 1 in Recv on world; rank 2 in Recv on world\n", true},
		{"-watch", "waits waits waits", "this looks like a deadlock: ranks 0-2 wait for each other: rank 0 in Recv on turned tag 3; ", true},
		{"-watch", "barrier finalize recv", "this looks like a deadlock: ranks 0-2 wait for each other: rank 0 in Barrier on world; rank 1 in Finalize", true},
		{"-watch", "spin itself spin", "this looks like a deadlock: rank 1 waits for rank 1: rank 1 in Recv on world from 1 tag 7\n", false},
	} {
		for _, over := range []string{"shm", "tcp", "hosts"} {
			t.Run(fmt.Sprint(c.option, " ", c.tasks, " ", over), func(t *testing.T) {
				t.Parallel()
				words := append([]string{c.option, "-n", "3", hangPath}, strings.Fields(c.tasks)...)
				var r *run
				if over == "hosts" {
					r = far(t, "run", append([]string{"-host", "localhost:1,a:1,b:1"}, words...)...)
				} else {
					r = newRun(t, append([]string{"-fabric", over}, words...)...)
				}
				read, write, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer read.Close()
				r.cmd.Stderr = write
				r.start()
				write.Close()
				lines, all := bufio.NewScanner(read), ""
				for lines.Scan() {
					all += lines.Text() + "\n"
					if c.all && strings.HasPrefix(lines.Text(), "All ranks have been asleep in calls for ") || !c.all && strings.Contains(lines.Text(), "deadlock") {
						r.cmd.Process.Signal(syscall.SIGTERM)
					}
				}
				r.wait(143)
				if strings.Count(all, "this looks like a deadlock: ") != 1 || !strings.Contains(all, c.stuck) {
					t.Errorf("want once %q: %s", c.stuck, all)
				}
				if want := map[bool]int{true: 1}[c.all]; strings.Count(all, "All ranks have been asleep") != want || c.all && strings.Count(all, " waiting ") != 3 {
					t.Errorf("want %d times a table with 3 ranks: %s", want, all)
				}
			})
		}
	}
}

// Ranks are stuck if all that could end one of their waits are stuck, or have ended.
func TestBRD08_WhoIsStuck(t *testing.T) {
	const any, other = shmfmt.AwaitsAny, shmfmt.AwaitsUnknown
	now := time.Now()
	waits := func(awaits ...int) RankState {
		r := RankState{State: stateWaiting, stage: shmfmt.StageRunning, changed: now.Add(-time.Second), Asleep: len(awaits)}
		for _, a := range awaits {
			r.Waits = append(r.Waits, WaitState{fmt.Sprint("Recv from ", a), now, a})
		}
		return r
	}
	runs := RankState{State: stateRunning, stage: shmfmt.StageRunning}
	ended := RankState{State: stateEnded}
	busy, young, more, stopped, enters, ends := waits(0), waits(0), waits(0), waits(0), waits(any), waits(any)
	busy.busy, young.changed, more.Asleep, stopped.State, enters.stage, ends.stage = true, now, 2, stateStopped, shmfmt.StageInit, shmfmt.StageFinalizing
	for name, c := range map[string]struct {
		ranks []RankState
		stuck string
		tells string
	}{
		"a cycle":                     {[]RankState{waits(1), waits(0), runs}, "[0 1]", "rank 0 waits for rank 1 waits for rank 0: rank 0 in Recv from 1; rank 1 in Recv from 0"},
		"behind a cycle":              {[]RankState{waits(2), waits(2), waits(1)}, "[0 1 2]", "rank 1 waits for rank 2 waits for rank 1: rank 1 in Recv from 2; rank 2 in Recv from 1"},
		"one of them could":           {[]RankState{waits(1, 2), waits(0), runs}, "[]", ""},
		"neither of them could":       {[]RankState{waits(1, 1), waits(0), runs}, "[0 1]", "ranks 0-1 wait for each other: rank 0 in Recv from 1 and Recv from 1; rank 1 in Recv from 0"},
		"any, and one runs":           {[]RankState{waits(any), waits(any), runs}, "[]", ""},
		"any, and the rest has ended": {[]RankState{waits(any), waits(any), ended}, "[0 1]", "ranks 0-1 wait for each other: rank 0 in Recv from -2; rank 1 in Recv from -2"},
		"alone":                       {[]RankState{ended, waits(any), ended}, "[1]", "rank 1 waits for a rank that sends nothing any more: rank 1 in Recv from -2"},
		"for one that has ended":      {[]RankState{runs, waits(2), ended}, "[1]", "rank 1 waits for rank 2, which has ended: rank 1 in Recv from 2"},
		"for the world outside":       {[]RankState{waits(1), waits(other), waits(0)}, "[]", ""},
		"for another job":             {[]RankState{waits(3), waits(0), waits(0)}, "[]", ""},
		"busy":                        {[]RankState{waits(1), busy}, "[]", ""},
		"just fallen asleep":          {[]RankState{waits(1), young}, "[]", ""},
		"waits that are not noted":    {[]RankState{waits(1), more}, "[]", ""},
		"stopped":                     {[]RankState{waits(1), stopped}, "[]", ""},
		"in Init":                     {[]RankState{waits(1), enters}, "[]", ""},
		"all in Finalize":             {[]RankState{ends, ends}, "[]", ""},
		"one in Finalize":             {[]RankState{ends, waits(0)}, "[0 1]", "ranks 0-1 wait for each other: rank 0 in Recv from -2; rank 1 in Recv from 0"},
	} {
		s := &JobState{Seen: now, Size: len(c.ranks), Ranks: c.ranks}
		for i := range s.Ranks {
			s.Ranks[i].Rank = i
		}
		set := s.stuckRanks()
		ranks := []int{}
		for _, r := range set {
			ranks = append(ranks, r.Rank)
		}
		if fmt.Sprint(ranks) != c.stuck {
			t.Errorf("%s: %v are stuck, want %s", name, ranks, c.stuck)
		} else if set != nil {
			if text := s.tellStuck(set); text != "this looks like a deadlock: "+c.tells {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// What an agent tells of its ranks has all that the launcher asks of a state, in times of the launcher's clock.
func TestStatesOfOtherHosts(t *testing.T) {
	there := time.Unix(1000, 0)
	s := &JobState{Job: "7-a", Launcher: 7, Size: 3, Fabric: "tcp", Started: there.Add(-time.Hour), Seen: there, Ranks: []RankState{{Rank: 2, Pid: 8,
		State: stateWaiting, CPU: 1.5, Asleep: 1, Waits: []WaitState{{"Recv", there.Add(-time.Minute), 1}}, inC: true, busy: true,
		stage: shmfmt.StageFinalizing, changed: there.Add(-time.Second)}}}
	b, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	here := time.Unix(5000, 0)
	got, err := decodeJobState(b, here)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Ranks[0]
	r.Waits = []WaitState{{"Recv", here.Add(-time.Minute), 1}}
	r.changed = here.Add(-time.Second)
	if !got.Seen.Equal(here) || !got.Started.Equal(here.Add(-time.Hour)) || got.Job != s.Job || got.Size != 3 || len(got.Ranks) != 1 {
		t.Errorf("%+v", got)
	} else if g := got.Ranks[0]; !g.changed.Equal(r.changed) || !g.Waits[0].Since.Equal(r.Waits[0].Since) {
		t.Errorf("rank %+v, want %+v", g, r)
	} else {
		g.changed, g.Waits[0].Since = r.changed, r.Waits[0].Since
		if !reflect.DeepEqual(g, r) {
			t.Errorf("rank %+v, want %+v", g, r)
		}
	}
	for _, bad := range []string{"", "{}", `{"State":{"ranks":[{"rank":1}]}}`, `{"State":{"ranks":[{"rank":1,"waits":[{"for":"x"}]}]},"More":[{}]}`} {
		if s, err := decodeJobState([]byte(bad), here); err == nil {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}
