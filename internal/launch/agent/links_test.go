//go:build linux

package agent

import (
	"slices"
	"testing"
)

// linkEnds is a reporter of the ends of links alone.
type linkEnds struct {
	Reporter
	ranks []int
}

func (e *linkEnds) LinkEnded(rank int, _ error) { e.ranks = append(e.ranks, rank) }

// An agent that is told to finish ends after it has reported the ends of the links of all its ranks, however late a busy
// machine brings these: the launcher then knows how each rank has left, and judges it.
func TestF5_AgentsReportTheEndsOfLinksBeforeTheyFinish(t *testing.T) {
	up, finished := &linkEnds{}, 0
	a := &Agent{up: up, procs: []*process{{rank: 3, ended: true, joined: true, links: 1}, {rank: 5, ended: true, links: 2}, {rank: 7}}}
	a.afterLinks(func() { finished++ })
	for i, p := range []*process{a.procs[1], a.procs[0], a.procs[1]} {
		if finished != 0 {
			t.Fatalf("the agent finishes after %d of 3 links have ended", i)
		}
		a.linkOver(p, nil)
	}
	if !slices.Equal(up.ranks, []int{3, 5}) || finished != 1 {
		t.Errorf("reported are the ranks %d, and the agent has finished %d times; want 3 and 5, once", up.ranks, finished)
	}
	a.afterLinks(func() { finished++ })
	if finished != 2 {
		t.Error("the agent waits for links although there are none")
	}
}
