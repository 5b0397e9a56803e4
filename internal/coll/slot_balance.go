package coll

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// With more members than cores, a collective lasts as long as the core with the most members takes to
// run all of them. The scheduler of the kernel does not see that: members that wait for each other
// are busy on every core, and it leaves three of four on one of two cores for a tenth of a second and
// more, in which each barrier takes twice as long. So the members tell each other now and then on
// which cores they are, and one of the most crowded core, in turn, goes to the emptiest one. It only moves: its
// affinity remains what it was, and the scheduler may move it again.
//
// Members publish their cores in the turns that are multiples of balanceEvery, and look at those of
// the others in the turn that follows. All have arrived in the first one before, and none publishes
// again before all have arrived in the second one. If threads use several communicators at once, members
// may see different cores, so that two move or none; the next turns correct that.
const balanceEvery = 256

// balances tells the turns in which members have to call balance.
func (s *slot) balances() bool { return s.Turns%balanceEvery < 2 && s.Cores > 0 }

// balance publishes the core of the member, or moves the member to another one.
func (s *slot) balance() {
	cores := s.e.cores
	if cores == nil || len(s.cells) != len(s.e.p.Job().Local) {
		return
	}
	if s.Turns%balanceEvery == 0 {
		s.door(s.c.Rank).Core.Store(int32(cores.Current()))
		return
	}
	if s.Turns < balanceEvery || planted.CrowdedForEver {
		return
	}
	s.places = s.places[:0]
	for r := range s.cells {
		s.places = append(s.places, s.door(r).Core.Load())
	}
	if s.places.mover(int(s.Turns/balanceEvery)) == s.c.Rank {
		cores.Move(s.places.emptier)
	}
}

// door is the door of the member of rank r.
func (s *slot) door(r int) *shmfmt.Door {
	n := s.e.node
	return n.Control().Door(n.LocalIndex(int(s.c.Members[r])))
}

// places are the cores of the members, by rank.
type places []int32

// on is the number of members on a core.
func (p places) on(core int32) (n int) {
	for _, c := range p {
		if c == core {
			n++
		}
	}
	return n
}

// crowded returns the core with the most members, of several the one of the highest rank.
func (p places) crowded() (core int32) {
	most := 0
	for _, c := range p {
		if n := p.on(c); n >= most {
			core, most = c, n
		}
	}
	return core
}

// mover returns the member of the crowded core that has to move if it can. All members find the same one. They do
// not know whether it is bound to that core, so each member of the core is asked in one round after the other.
func (p places) mover(round int) (rank int) {
	core := p.crowded()
	skip := round % p.on(core)
	if planted.BoundAsked {
		skip = 0
	}
	for rank = len(p) - 1; p[rank] != core || skip > 0; rank-- {
		if p[rank] == core {
			skip--
		}
	}
	return rank
}

// emptier returns the core with the fewest members among those that mover may use, if it has fewer
// there than it leaves behind, else -1. Nobody moves from a core that is not known.
func (p places) emptier(allowed []int) int {
	crowded := p.crowded()
	if crowded < 0 {
		return -1
	}
	best, least := -1, p.on(crowded)-1
	for _, core := range allowed {
		if n := p.on(int32(core)); n < least {
			best, least = core, n
		}
	}
	return best
}

// Cores are the cores of the machine, as the calling thread sees them.
type Cores interface {
	// Current returns the core that the thread is on, or -1 if it is not known.
	Current() int
	// Move moves the thread to the core that choose picks from those it may use, unless choose
	// returns -1.
	Move(choose func(allowed []int) int)
}

// OnCores sets how members find out about cores and move between them; nil if they do not.
func (e *Engine) OnCores(c Cores) { e.cores = c }

// Balance is balance for a collective of c that C has begun.
func (e *Engine) Balance(c *comm.Comm) { stateOf(c).slot.balance() }

// ThreadCores are the cores of the machine.
type ThreadCores struct{}

func (ThreadCores) Current() int                { return sys.CurrentCPU() }
func (ThreadCores) Move(choose func([]int) int) { sys.MoveThread(choose) }
