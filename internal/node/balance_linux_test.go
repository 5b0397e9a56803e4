package node_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/nodetest"
)

// place is the cores 3 and 5 as a process on one of them sees them.
type place struct {
	at      int
	allowed []int
	meets   func() // called when the process is about to move
	moves   int
}

func (p *place) Current() int { return p.at }

func (p *place) Move(choose func([]int) int) {
	if p.meets != nil {
		p.meets()
	}
	if core := choose(p.allowed); core >= 0 {
		p.at = core
		p.moves++
	}
}

// on is n processes on cores, of which there are 2.
func on(t *testing.T, at ...int) (nodes []*node.Node, places []*place) {
	nodes = nodetest.New(t, len(at)).Start(t)
	for i, core := range at {
		p := &place{at: core, allowed: []int{3, 5}}
		places = append(places, p)
		nodes[i].ShareCores(p, 2)
	}
	return nodes, places
}

// Of several processes that see the same crowded core at once, one moves.
func TestOneMovesAtATime(t *testing.T) {
	nodes, places := on(t, 3, 3, 3)
	places[0].meets = func() {
		places[0].meets = nil
		nodes[1].Balance()
	}
	nodes[0].Balance()
	if places[0].moves != 0 || places[1].moves != 1 {
		t.Errorf("%d and %d moves, not 0 and 1", places[0].moves, places[1].moves)
	}
	for i, n := range nodes {
		n.Balance()
		if places[i].moves > 1 {
			t.Errorf("process %d has moved again", i)
		}
	}
	if at := []int{places[0].at, places[1].at, places[2].at}; !slices.Equal(at, []int{3, 5, 3}) {
		t.Errorf("the processes are on %d", at)
	}
}

// A process knows which others were on its core when both looked, and nothing of those that have not.
func TestBesideIsOnTheSameCore(t *testing.T) {
	nodes, places := on(t, 3, 5, 3, -1)
	for i, want := range []bool{true, false, true, false} {
		if nodes[0].Beside(i) != want {
			t.Errorf("process %d is beside process 0: %v, want %v", i, !want, want)
		}
	}
	if nodes[3].Beside(3) || nodes[3].Beside(0) {
		t.Error("a process that does not know its core is beside another one")
	}
	places[2].at = 5
	nodes[2].Balance()
	if nodes[0].Beside(2) || !nodes[1].Beside(2) {
		t.Error("a process is beside those on the core that it has left")
	}
}

// As long as nobody knows where a process is, none moves.
func TestUnknownCoresAreNotBalanced(t *testing.T) {
	nodes, places := on(t, 3, 3, 3, -1)
	nodes[0].Balance()
	if places[0].moves != 0 {
		t.Error("a process has moved")
	}
	places[3].at = 3
	nodes[3].Balance()
	if places[3].moves != 1 {
		t.Errorf("%d moves after all are known", places[3].moves)
	}
}
