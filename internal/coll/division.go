package coll

import (
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// division is the node hierarchy of a communicator: which members are on which node, as the
// launcher tells. The algorithms called "leaders" use it, in three stages: among the members of
// each node, through memory if they share memory; among the leaders, one for each node; and
// among the members of each node again. So data for all members of a node crosses the network
// once, and their contributions are combined before they cross it.
//
// Nodes are numbered from 0 in the order of their lowest ranks. The leader of a node is its
// lowest rank. The operands of a node are combined in the order of the ranks, and the results of
// the nodes in the order of the nodes. This is the order of all ranks if the ranks of each node
// are consecutive (runs). Otherwise the order depends only on where the ranks are.
//
// Rejected: as many leaders for each node as it has members, each for a share of the buffer.
// Nodes of unequal size do not divide the buffer alike. The gain would be that several cores
// seal records, which short messages do not need.
type division struct {
	at    []int32 // by rank: the node
	index []int32 // by rank: the rank among the members of the node
	order []int32 // the ranks of all members, node by node
	start []int   // by node: where its ranks begin in order; the last element is the end
	sizes []int   // by node: the number of its members
	runs  bool    // order is the order of the ranks

	whole   *comm.Comm
	local   *comm.Comm // the members on this node
	leaders *comm.Comm // nil at a member that is not a leader
	slot    *slot.Slot // of local, for short blocking collectives; nil if there are only messages
	agreed  bool       // the members of the node have agreed on the slot, or on none
	kind    Kind       // of the last collective through the slot, for AppendAbout
	tag     int32      // of the schedule of the last short collective
	spare   [slot.Payload]byte
}

// divide computes the division of c. In a job without a list of hosts all members are on one
// node.
func (e *Engine) divide(c *comm.Comm) *division {
	job, n := e.p.Job(), c.Size()
	d := &division{whole: c, at: make([]int32, n), index: make([]int32, n), order: make([]int32, n)}
	number := make(map[int32]int32) // of a node by its host in the job
	for r, m := range c.Members {
		var host int32
		if len(job.Host) == job.Size {
			host = job.Host[m]
		}
		k, known := number[host]
		if !known {
			k = int32(len(number))
			number[host] = k
			d.sizes = append(d.sizes, 0)
		}
		d.at[r], d.index[r] = k, int32(d.sizes[k])
		d.sizes[k]++
	}
	sum := 0
	for _, size := range d.sizes {
		d.start = append(d.start, sum)
		sum += size
	}
	d.start = append(d.start, sum)
	d.runs = true
	for r, k := range d.at {
		i := d.start[k] + int(d.index[r])
		d.order[i] = int32(r)
		d.runs = d.runs && i == r
	}
	mine := int(d.at[c.Rank])
	d.local = partOf(c, d.order[d.start[mine]:d.start[mine+1]], int(d.index[c.Rank]))
	if d.index[c.Rank] == 0 {
		leaders := make([]int32, d.nodes())
		for k := range leaders {
			leaders[k] = int32(d.leader(k))
		}
		d.leaders = partOf(c, leaders, mine)
	}
	return d
}

// partOf returns a communicator of some members of c, by rank, which uses the context of c.
func partOf(c *comm.Comm, ranks []int32, me int) *comm.Comm {
	members := make([]int32, len(ranks))
	for i, r := range ranks {
		members[i] = c.Members[r]
	}
	p := comm.New(c.Proc, c.Ctx, me, members)
	p.Within = c // a leader may wait for any member of c, so the death of any member counts
	return p
}

// nodes returns the number of nodes.
func (d *division) nodes() int { return len(d.sizes) }

// leader returns the rank of the leader of a node.
func (d *division) leader(node int) int { return int(d.order[d.start[node]]) }

// blocks returns the blocks of a node, where b has a block of unit bytes for each member, node
// by node.
func (d *division) blocks(b mem.Mem, node, unit int) mem.Mem {
	return b.Cut(d.start[node]*unit, d.start[node+1]*unit)
}

// division returns the division of the schedule's communicator.
func (s *schedule) division() *division {
	st := stateOf(s.c)
	if st.division == nil {
		st.division = s.e.divide(s.c)
	}
	return st.division
}

// arrange copies the blocks of all members, when the messages of the round are complete, from
// the order of the nodes to the order of the ranks; with back, from the order of the ranks to
// that of the nodes.
func (s *schedule) arrange(byNode, byRank mem.Mem, back bool) {
	d, n, unit := s.division(), s.c.Size(), s.unit
	for i, k := 0, 0; i < n; i = k {
		r := int(d.order[i])
		for k = i + 1; k < n && int(d.order[k]) == r+k-i; k++ { // consecutive ranks
		}
		dst, src := byRank.Cut(r*unit, (r+k-i)*unit), byNode.Cut(i*unit, k*unit)
		if back {
			dst, src = src, dst
		}
		s.copy(dst, src)
	}
}

// amongLeaders is among for the leaders, where a leader has one block of a unit for each member
// of its node.
func (s *schedule) amongLeaders(a choice.Algorithm, send, recv mem.Mem, root int) {
	d, args := s.division(), s.Args
	s.Send.Width, s.Recv.Width = s.unit, s.unit
	s.SendCounts, s.SendDispls, s.RecvCounts, s.RecvDispls = d.sizes, d.start, d.sizes, d.start
	s.among(d.leaders, a, send, recv, root)
	s.Args = args
}

// among does a round of a stage of the schedule: algorithm a among the members of g, with these
// buffers. g consists of some members of the communicator, or is a group of an
// intercommunicator. After the last round of the stage s.stage is the next one. A stage is
// skipped if this member is not in g, or the slot carries out the stage.
func (s *schedule) among(g *comm.Comm, a choice.Algorithm, send, recv mem.Mem, root int) {
	if g == nil || s.slotted && g == s.division().local {
		s.stage, s.began = s.stage+1, s.round+1
		return
	}
	whole, given, got, top, kind, round := s.c, s.Send.Mem, s.Recv.Mem, s.Root, s.kind, s.round
	k := a.Kind()
	s.c, s.kind = g, k
	if whole.Inter == nil {
		s.whole = whole
	}
	s.Send.Mem, s.Recv.Mem, s.Root = send, recv, root
	s.round -= s.began
	more := false
	if g.Size() == 1 {
		s.alone(k)
	} else {
		more = stepOf(a)(s)
	}
	s.whole, s.c, s.Send.Mem, s.Recv.Mem, s.Root, s.kind, s.round = nil, whole, given, got, top, kind, round
	if !more {
		s.stage, s.began = s.stage+1, s.round+1
	}
}

// inner chooses the algorithm of a stage among the members of g. Each member gives, or gets,
// size bytes.
func (s *schedule) inner(k Kind, g *comm.Comm, size int) choice.Algorithm {
	if g == nil {
		return choice.Auto
	}
	d := s.division()
	where := choice.Site{Ranks: g.Size(), Near: g == d.local && s.e.node != nil, Runs: true, Part: true}
	return s.e.choice.Algorithm(k, size, where, s.Ordered())
}

// keep returns n bytes of memory that last for all stages. A schedule calls it with the same n
// in every round.
func (s *schedule) keep(n int) mem.Mem {
	if cap(s.kept) < n {
		s.kept = make([]byte, n)
	}
	return mem.Of(s.kept[:n])
}
