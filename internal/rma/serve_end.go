package rma

import "github.com/halo-mpi/halo/internal/planted"

// ending is what may follow operations.
type ending struct {
	unlock   bool
	complete int  // ends of access epochs
	tells    bool // an answer is wanted, with the number at
	at       uint64
	channel  uint16 // that it goes to
}

// ends does what follows the operations of a peer on w. The end of an epoch takes its turn
// behind gets on w that are still being answered: whoever learns of it may change the
// memory. Ends that follow each other wait as one, so that a peer costs no more than by
// its gets. It reports false if no correct peer can have sent it: an origin waits until a
// lock is back.
func (e *Engine) ends(from int, w *Window, x ending) bool {
	q := &e.peers[from]
	for i := len(q.gets) - 1; i >= q.next && (x.unlock || x.complete > 0) && !planted.GetPassed; i-- {
		g := &q.gets[i]
		switch {
		case g.window != w.id:
			continue
		case g.size != 0:
			q.gets = append(q.gets, owedGet{window: w.id, end: x})
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
	return e.endNow(from, w, x)
}

// endNow is ends when no get is in the way.
func (e *Engine) endNow(from int, w *Window, x ending) bool {
	for range x.complete {
		if !w.completeArrived(int32(from)) {
			return false
		}
	}
	if x.unlock && !w.unlockAsked(int32(from)) {
		return false
	}
	if x.tells {
		e.tell(from, w, x.channel, x.at)
	}
	return true
}
