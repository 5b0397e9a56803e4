package node

import (
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// With more processes than cores, a collective or an exchange lasts as long as the core with the most
// processes takes to run all of them. The scheduler of the kernel does not see that: processes that wait for
// each other are busy on every core, or sleep and wake where their waker is. So it leaves five of eight, or
// all, on one of two cores for a tenth of a second and more. Therefore processes that wait tell each other now and
// then on which cores they are, and one of a crowded core goes to the emptiest one. It only moves: its
// affinity remains what it was, and the scheduler may move it again.
//
// Without that, 27 blocks of 64 KiB between neighbours take 8 processes on 2 cores 1.8 to 2.2 ms instead of
// 1.1 to 1.4.

// Cores are the cores of the machine, as the calling thread sees them.
type Cores interface {
	// Current returns the core that the thread is on, or -1 if it is not known.
	Current() int
	// Move moves the thread to the core that choose picks from those it may use, unless choose
	// returns -1.
	Move(choose func(allowed []int) int)
}

// firstDoor is the door of local process 0, which has what all share.
func (n *Node) firstDoor() *shmfmt.Door { return n.backend.Control().Door(0) }

// ShareCores has Balance move the callers between the cores of the machine, of which there are that many. It
// is called before anything else uses the node.
func (n *Node) ShareCores(c Cores, cores int) {
	n.cores, n.coreCount = c, cores
	n.door.Core.Store(int32(c.Current() + 1))
}

// Balance publishes the core of the calling thread, or moves it to another one. Goroutines that wait call it
// now and then, with or without the engine's lock.
func (n *Node) Balance() {
	if n.cores == nil {
		return
	}
	moves := n.firstDoor().Moves.Load() // before the doors: see move
	here := n.cores.Current()
	n.door.Core.Store(int32(here + 1))
	mine, known := 0, true
	for i := range n.members {
		switch n.backend.Control().Door(i).Core.Load() {
		case 0:
			known = false
		case int32(here + 1):
			mine++
		}
	}
	if known && mine*n.coreCount > len(n.members) && !planted.CrowdedForEver {
		n.move(here, mine, moves)
	}
}

// Beside reports whether local process i was on the core of this process when both last called Balance.
func (n *Node) Beside(i int) bool {
	core := n.door.Core.Load()
	return core != 0 && n.backend.Control().Door(i).Core.Load() == core
}

// move moves the calling thread from its core, with so many processes, to the emptiest core that it may use,
// if that has at least two less. Processes that see the same would move at once. So one that moves publishes
// its new core, and then counts the move: whoever has looked before fails to count its own.
func (n *Node) move(here, mine int, moves uint64) {
	n.cores.Move(func(allowed []int) int {
		to, least := -1, mine-1
		for _, core := range allowed {
			if k := n.on(core); k < least {
				to, least = core, k
			}
		}
		if to < 0 {
			return -1
		}
		n.door.Core.Store(int32(to + 1))
		if !n.firstDoor().Moves.CompareAndSwap(moves, moves+1) && !planted.MovedAtOnce {
			n.door.Core.Store(int32(here + 1))
			return -1
		}
		return to
	})
}

// on is the number of processes that were last on a core.
func (n *Node) on(core int) (k int) {
	for i := range n.members {
		if n.backend.Control().Door(i).Core.Load() == int32(core+1) {
			k++
		}
	}
	return k
}
