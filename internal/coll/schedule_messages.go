package coll

import (
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// sendTo starts sending d to a rank.
func (s *schedule) sendTo(rank int, d mem.Mem) { s.sendCoded(rank, d, s.codeFor(0, rank)) }

// sendCoded is sendTo for elements of a code.
func (s *schedule) sendCoded(rank int, d mem.Mem, code dtype.Code) {
	if s.traced != nil {
		s.traced.Sends = append(s.traced.Sends, Transfer{rank, d.Len()})
		return
	}
	c, to := s.address(rank)
	k := s.eager(rank, d.Len())
	for ; d.Len() > k; d = d.From(k) {
		s.sendOne(c, to, d.First(k), code, dtype.Mixed)
	}
	s.sendOne(c, to, d, code, dtype.Mixed)
}

// sendOne sends d, or an empty message if the schedule has an error: data that it passes on may
// then be wrong, and the code of the message reports the error to the receiver.
func (s *schedule) sendOne(c *comm.Comm, to int, d mem.Mem, code, own dtype.Code) {
	if s.lacks(c.Members[to]) {
		return
	}
	if s.err != nil {
		d, code, own = d.First(0), verdict(s.err), code
	}
	v := s.envelope(c, to, code, own)
	if r, ok := s.err.(*agree.Refusal); ok {
		v.Refuse(&p2p.Refusal{Rank: r.Rank, Class: r.Err.Class})
	}
	s.add(s.e.p2p.Isend(&v, d))
}

// recvFrom starts receiving d from a rank.
func (s *schedule) recvFrom(rank int, d mem.Mem) { s.recvCoded(rank, d, s.codeFor(1, rank)) }

// recvCoded is recvFrom for elements of a code.
func (s *schedule) recvCoded(rank int, d mem.Mem, code dtype.Code) {
	if s.traced != nil {
		s.traced.Receives = append(s.traced.Receives, Transfer{rank, d.Len()})
		return
	}
	c, from := s.address(rank)
	k := s.eager(rank, d.Len())
	for ; d.Len() > k; d = d.From(k) {
		s.recvOne(c, from, d.First(k), code, dtype.Mixed)
	}
	s.recvOne(c, from, d, code, dtype.Mixed)
}

func (s *schedule) recvOne(c *comm.Comm, from int, d mem.Mem, code, own dtype.Code) {
	if s.lacks(c.Members[from]) {
		return
	}
	v := s.envelope(c, from, code, own)
	s.add(s.e.p2p.Irecv(&v, d))
}

// envelope returns the envelope of a message of the schedule to or from a rank of c.
func (s *schedule) envelope(c *comm.Comm, peer int, code, own dtype.Code) p2p.Envelope {
	return p2p.Envelope{Comm: c, Ctx: c.Ctx + 1, Peer: peer, Tag: s.tag, Code: code, Own: own, Roots: s.terms.Roots}
}

// address returns the communicator of the schedule, and the rank in it of a rank of s.c. The two
// ranks differ only in a stage among some of the members.
func (s *schedule) address(rank int) (*comm.Comm, int) {
	if s.whole == nil {
		return s.c, rank
	}
	return s.whole, s.whole.RankOf(s.c.Members[rank])
}

// eagerPieces is the most eager messages into which a message through memory is split if it is
// too long for one. The receiver knows the length, unlike in a program. A sender of eager
// messages does not wait for an answer, and so not for the receiver to get a core. For 16 KiB
// this is three times as fast, for 64 KiB not always.
const eagerPieces = 4

// eager returns the length in bytes of the pieces in which n bytes are sent to or received from
// a rank. Sender and receiver compute the same length.
func (s *schedule) eager(rank, n int) int {
	peer := int(s.c.Members[rank])
	if k := s.e.p.EagerMax(peer); n > k && n <= eagerPieces*k && s.e.p.Here(peer) {
		return k
	}
	return max(n, 1)
}
