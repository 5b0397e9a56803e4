package serve

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// pendingGet is a contiguous get that is being answered. The window is looked up again for each
// piece: it, or the memory, may be gone by then.
type pendingGet struct {
	window    uint64
	off       uint64
	size, got int64 // size is not 0, but for an end
	name      uint64
	notice    uint32 // as Op.Notify
	end       ending // of an epoch, behind the gets before
}

// queueGet begins to answer a get, and leaves the rest to Work.
func (s *Server) queueGet(from int, g pendingGet) {
	q := s.peers.At(from)
	if len(q.gets) == q.next && s.answerGet(from, &g) {
		return
	}
	if len(q.gets) == q.next {
		s.answering = append(s.answering, from)
		s.p.SetBusy(1)
	}
	q.gets = append(q.gets, g)
	q.asked++
}

// answerGets sends more of the answers to the gets of all peers, in turn.
func (s *Server) answerGets() int {
	n := 0
	for i := 0; i < len(s.answering); i++ {
		from := s.answering[i]
		q := s.peers.At(from)
		for turn := 0; turn < link.QueueTurn/link.FrameCost && q.next < len(q.gets); turn++ {
			g := &q.gets[q.next]
			if g.size == 0 {
				q.next++
				n++
				if w := s.host.Window(g.window); w != nil && !s.link.Refused(from) && !s.endNow(from, w, g.end) {
					s.link.Refuse(from, "it has ended an epoch that was not open")
				}
				continue
			}
			before := g.got
			all := s.answerGet(from, g)
			if all || g.got != before {
				n++
			}
			turn += int(g.got-before) / link.FrameCost
			if !all {
				break
			}
			q.asked--
			q.next++
		}
		if q.next == len(q.gets) {
			q.gets, q.next = q.gets[:0], 0
			last := len(s.answering) - 1
			s.answering[i] = s.answering[last]
			s.answering = s.answering[:last]
			s.p.SetBusy(-1)
			i--
		}
	}
	return n
}

// answerGet sends pieces of the answer to g, straight from the window, and reports whether these
// were the last.
func (s *Server) answerGet(from int, g *pendingGet) bool {
	q := s.peers.At(from)
	h := &s.hdr
	chunk := int64(s.p.ChunkMax(from))
	for turn := g.got + link.QueueTurn; g.got < turn; {
		if q.piece {
			return false
		}
		w := s.host.Window(g.window)
		ask := wire.Header{Kind: wire.WinGet, Ctx: g.window, Arg: g.off, Name: g.name}
		if w == nil {
			s.deny(from, nil, &ask, &operation.Fault{Class: class.Win, Kind: wire.WinGet})
			return true
		}
		region, at, err := w.Place(g.off, g.size)
		if err != nil {
			s.deny(from, w, &ask, w.fault(&ask, uint64(g.size), err))
			return true
		}
		left := region.Mem[at+g.got : at+g.size]
		*h = wire.Header{Kind: wire.WinReply, Ctx: g.window, Name: g.name, Arg: uint64(g.got)}
		if int64(len(left)) > chunk {
			s.iov[0] = left
			taken := s.p.SendRun(from, h, s.iov[:1])
			s.iov[0] = nil
			g.got += int64(taken)
			h.Arg += uint64(taken)
			left = left[taken:]
			if len(left) == 0 {
				s.countFor(w, g)
				return true
			}
		}
		left = left[:min(int64(len(left)), chunk)]
		g.got += int64(len(left))
		h.Size = uint32(len(left))
		if !s.p.Send(from, h, left) {
			r := s.newReply()
			r.what, r.to = replyPiece, from
			q.piece = true
			copied := r.room(len(left))
			copy(copied, left)
			s.p.Push(from, h, copied, r)
		}
		if g.got == g.size {
			s.countFor(w, g)
			return true
		}
	}
	return false
}

// countFor counts the notification of a get that has been answered.
func (s *Server) countFor(w *Window, g *pendingGet) {
	if g.notice != 0 {
		s.host.Count(w, int(g.notice-1))
	}
}
