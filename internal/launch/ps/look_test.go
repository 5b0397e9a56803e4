//go:build unix

package ps

import (
	"reflect"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// What an agent tells of its ranks has all that the launcher asks of a state, in times of the launcher's clock.
func TestStatesOfOtherHosts(t *testing.T) {
	there := time.Unix(1000, 0)
	s := &JobState{Job: "7-a", Launcher: 7, Size: 3, Fabric: "tcp", Started: there.Add(-time.Hour), Seen: there, Ranks: []RankState{{Rank: 2, Pid: 8,
		State: Waiting, CPU: 1.5, Asleep: 1, Waits: []WaitState{{"Recv", there.Add(-time.Minute), 1}}, inC: true, busy: true,
		stage: shmfmt.StageFinalizing, changed: there.Add(-time.Second)}}}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	here := time.Unix(5000, 0)
	got, err := DecodeJobState(b, here)
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
		if s, err := DecodeJobState([]byte(bad), here); err == nil {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}
