package ps

import (
	"fmt"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Ranks are stuck if all that could end one of their waits are stuck, or have ended.
func TestBRD08_WhoIsStuck(t *testing.T) {
	const any, other = shmfmt.AwaitsAny, shmfmt.AwaitsUnknown
	now := time.Now()
	waits := func(awaits ...int) RankState {
		r := RankState{State: Waiting, stage: shmfmt.StageRunning, changed: now.Add(-time.Second), Asleep: len(awaits)}
		for _, a := range awaits {
			r.Waits = append(r.Waits, WaitState{fmt.Sprint("Recv from ", a), now, a})
		}
		return r
	}
	runs := RankState{State: Running, stage: shmfmt.StageRunning}
	ended := RankState{State: Ended}
	busy, young, more, stopped, enters, ends := waits(0), waits(0), waits(0), waits(0), waits(any), waits(any)
	busy.busy, young.changed, more.Asleep, stopped.State, enters.stage, ends.stage = true, now, 2, Stopped, shmfmt.StageInit, shmfmt.StageFinalizing
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
