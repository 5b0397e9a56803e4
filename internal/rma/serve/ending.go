package serve

import (
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// ending is what may follow operations: a flush, an unlock, the end of access epochs.
type ending struct {
	unlock   bool
	complete int  // ends of access epochs
	tells    bool // an answer is wanted, which carries the number at
	at       uint64
	channel  uint16 // of the answer
}

// ends carries out what follows the operations of a peer on w. The end of an epoch waits behind
// gets on w that are still being answered: a process that learns of the end may change the memory.
// Consecutive ends are merged, so that a peer costs no more than by its gets. It reports false if
// no correct peer can have sent the end: an origin waits until a lock is released.
func (s *Server) ends(from int, w *Window, x ending) bool {
	q := s.peers.At(from)
	for i := len(q.gets) - 1; i >= q.next && (x.unlock || x.complete > 0) && !planted.GetPassed; i-- {
		g := &q.gets[i]
		switch {
		case g.window != w.ID:
			continue
		case g.size != 0:
			q.gets = append(q.gets, pendingGet{window: w.ID, end: x})
		case x.unlock && g.end.unlock:
			return false
		default:
			g.end.complete += x.complete
			if x.unlock {
				g.end.unlock, g.end.tells, g.end.at = true, x.tells, x.at
			}
		}
		return true
	}
	return s.endNow(from, w, x)
}

// endNow is ends when no get is being answered.
func (s *Server) endNow(from int, w *Window, x ending) bool {
	if (x.complete > 0 || x.unlock) && !s.host.Ended(w, from, x.complete, x.unlock) {
		return false
	}
	if x.tells {
		s.answerFlush(from, w, x.channel, x.at)
	}
	return true
}

// then carries out what follows the operation of a frame. It reports false if no correct process
// sends that.
func (s *Server) then(from int, w *Window, h *wire.Header) bool {
	if s.link.Refused(from) {
		return true
	}
	if h.Flags&wire.ThenNotify != 0 && w.whole(from, h) {
		s.host.Count(w, h.Counter())
	}
	if h.Flags&(wire.ThenFlush|wire.ThenUnlock|wire.ThenComplete) == 0 {
		return true
	}
	x := ending{unlock: h.Flags&wire.ThenUnlock != 0, tells: h.Flags&(wire.ThenFlush|wire.ThenUnlock) != 0, at: h.Name, channel: h.Chan}
	if h.Flags&wire.ThenComplete != 0 {
		x.complete = 1
	}
	return s.ends(from, w, x)
}
