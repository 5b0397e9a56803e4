package rma

import "github.com/halo-mpi/halo/internal/planted"

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
func (e *Engine) ends(from int, w *Window, x ending) bool {
	q := e.peers.At(from)
	for i := len(q.gets) - 1; i >= q.next && (x.unlock || x.complete > 0) && !planted.GetPassed; i-- {
		g := &q.gets[i]
		switch {
		case g.window != w.id:
			continue
		case g.size != 0:
			q.gets = append(q.gets, pendingGet{window: w.id, end: x})
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

// endNow is ends when no get is being answered.
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
		e.answerFlush(from, w, x.channel, x.at)
	}
	return true
}
