package coll

import "github.com/halo-mpi/halo/internal/coll/choice"

// bcastLeaders sends the buffer down a tree of nodes and, on each node, down a tree of its
// members, in segments: a member sends a segment on while it receives the next one. On the
// root's node the root acts as the leader. The tree of nodes is binomial; the tree of members is
// the best one for a bcast on one node.
func bcastLeaders(s *schedule) bool {
	d, me := s.division(), s.c.Rank
	nodes, home := d.nodes(), int(d.at[s.Root])
	mine := int(d.at[me])
	top := func(v int) int { // the leader of the v-th node from the root's node
		if v == 0 {
			return s.Root
		}
		return d.leader((home + v) % nodes)
	}
	v := (mine - home + nodes) % nodes
	size := d.local.Size()
	first := int(d.index[top(v)])
	w := (int(d.index[me]) - first + size) % size // the number on the node, counted from its leader
	member := func(w int) int { return int(d.order[d.start[mine]+(first+w)%size]) }
	linear := s.inner(Bcast, d.local, s.Recv.Len()) == choice.BcastLinear

	segments, out := segmentCount(s.Recv.Mem), s.round // the segment to send
	if me != s.Root {
		if s.round < segments {
			from := top(v & (v - 1))
			switch {
			case w > 0 && linear:
				from = member(0)
			case w > 0:
				from = member(w & (w - 1))
			}
			s.recvFrom(from, segment(s.Recv.Mem, s.round))
		}
		out--
	}
	if out >= 0 && out < segments {
		b := segment(s.Recv.Mem, out)
		if w == 0 {
			for far := reach(v, nodes) / 2; far > 0; far /= 2 { // the largest subtree first
				if v+far < nodes {
					s.sendTo(top(v+far), b)
				}
			}
		}
		switch {
		case s.slotted:
		case linear && w == 0:
			for i := 1; i < size; i++ {
				s.sendTo(member(i), b)
			}
		case !linear:
			for far := reach(w, size) / 2; far > 0; far /= 2 {
				if w+far < size {
					s.sendTo(member(w+far), b)
				}
			}
		}
	}
	return out+1 < segments
}
