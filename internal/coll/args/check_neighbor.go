package args

import (
	"cmp"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/comm"
)

// neighborsOf returns the neighbours of this member for a neighbourhood collective on c. It fails if
// c has no topology, or if the numbers of edges from the member to itself differ.
func neighborsOf(c *comm.Comm, k kind.Kind) (*comm.Neighbors, error) {
	n := c.Neighbors
	switch {
	case c.Inter != nil:
		return nil, class.Errorf(class.Comm, "there is no %v on an intercommunicator", k)
	case n == nil:
		return nil, class.Errorf(class.Topology, "the communicator has no topology: there are no neighbours")
	case n.Wrong != "":
		return nil, class.Errorf(class.Topology, "%s", n.Wrong)
	}
	in, out := 0, 0
	for _, r := range n.Sources {
		if r == c.Rank {
			in++
		}
	}
	for _, r := range n.Dests {
		if r == c.Rank {
			out++
		}
	}
	if in != out {
		return nil, class.Errorf(class.Topology, "rank %d is its own destination %d times and its own source %d times", c.Rank, out, in)
	}
	return n, nil
}

// checkNeighbors is check for a neighbourhood collective. The member has a block for each
// destination and one of each source; an Allgather sends the same block to all. Only an Allgather
// without destinations may have anything to send. No block is in place.
func (a *Args) checkNeighbors(c *comm.Comm, k kind.Kind) error {
	n, err := neighborsOf(c, k)
	if err != nil {
		return err
	}
	send, recv := &a.Send, &a.Recv
	if err := cmp.Or(send.Err(), recv.Err()); err != nil {
		return err
	}
	a.Measure()
	if send.endsWithin() || recv.endsWithin() {
		return class.Errorf(class.Count, "%d bytes to send and %d to receive of elements of %d bytes", send.Len(), recv.Len(), a.Width)
	}
	switch k {
	case kind.NeighborAlltoall:
		if err := send.parts(len(n.Dests), "send", "destinations"); err != nil {
			return err
		}
	case kind.NeighborAlltoallv:
		if err := send.checkBlocksOf("destinations", "destination", len(n.Dests), "send", a.SendCounts, a.SendDispls); err != nil {
			return err
		}
	}
	switch k {
	case kind.NeighborAllgather, kind.NeighborAlltoall:
		if err := recv.parts(len(n.Sources), "receive", "sources"); err != nil {
			return err
		}
		if err := recv.receives(); err != nil {
			return err
		}
	default:
		if err := recv.checkBlocksOf("sources", "source", len(n.Sources), "receive", a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
	}
	from, to := blocks{send, a.SendCounts, a.SendDispls}, blocks{recv, a.RecvCounts, a.RecvDispls}
	if send.shares(recv) && from.meets(to) {
		return class.Errorf(class.Buffer, "the send and the receive %s share memory: there is no in place among neighbours", send.word())
	}
	return nil
}

// parts checks that x consists of n equal blocks. Without blocks x is not used.
func (x *Side) parts(n int, what, whose string) error {
	if n == 0 {
		*x = Side{}
		return nil
	}
	if count := x.count(); count%n != 0 {
		return class.Errorf(class.Count, "%s %s of %d elements is not a block for each of %d %s", what, x.word(), count, n, whose)
	}
	return nil
}

// checkNeighbors is check for a NeighborAlltoallw. Of blocks to send and to receive it compares only
// those of the same number.
func (p Pairs) checkNeighbors(c *comm.Comm) error {
	n, err := neighborsOf(c, kind.NeighborAlltoallw)
	if err != nil {
		return err
	}
	if p.Sends != len(n.Dests) || p.Receives != len(n.Sources) {
		return class.Errorf(class.Count, "%d send and %d receive buffers for %d destinations and %d sources", p.Sends, p.Receives, len(n.Dests), len(n.Sources))
	}
	for i := range max(p.Sends, p.Receives) {
		send, recv := p.At(i)
		if err := cmp.Or(send.Err(), recv.Err(), recv.receives()); err != nil {
			return err
		}
		if send.shares(&recv) {
			return class.Errorf(class.Buffer, "what is sent to destination %d shares memory with what is received from source %d: there is no in place among neighbours", i, i)
		}
	}
	return nil
}
