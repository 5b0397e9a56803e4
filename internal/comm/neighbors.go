package comm

import "github.com/halo-mpi/halo/internal/planted"

// Neighbors are the processes with which a process exchanges in neighbourhood collectives: those
// that it receives from and those that it sends to, by rank, in the order of its blocks. A negative
// rank is a neighbour that does not exist.
//
// A process may be a neighbour several times. In a graph the i-th block that a process sends to
// another one is the i-th block that the receiver gets from that sender. In a grid a block that goes
// in a direction arrives from the opposite one: block i of the sender is block i^1 of the receiver,
// also where both directions lead to the same process.
type Neighbors struct {
	Sources, Dests []int
	Grid           bool
	// Wrong says why no process of the communicator can exchange with its neighbours, if that is so:
	// all processes have the same text.
	Wrong string
}

// Arrival returns an index of Sources: the blocks from one source arrive in the order Arrival(0),
// Arrival(1), and so on, because the source sends its blocks in the order of its Dests. Arrival is its
// own inverse.
func (n *Neighbors) Arrival(i int) int {
	if n.Grid && !planted.DirectionKept {
		return i ^ 1
	}
	return i
}

// Own calls do for each edge from the member of rank me to itself, with its indexes in Dests and in Sources. Both lists
// have as many of them.
func (n *Neighbors) Own(me int, do func(to, from int)) {
	k := 0
	for to, r := range n.Dests {
		if r != me {
			continue
		}
		for n.Sources[n.Arrival(k)] != me {
			k++
		}
		do(to, n.Arrival(k))
		k++
	}
}
