package rma

// ending is what may follow operations.
type ending struct {
	unlock, complete bool
	tells            bool // an answer is wanted, with the number at
	at               uint64
}

// ends does what follows the operations of a peer on w. The end of an epoch takes its turn
// behind gets that are still being answered: whoever learns of it may change the memory.
// It reports false if no correct peer can have sent it: an origin waits for its gets
// before it goes on, so that there is one end of a window at most.
func (e *Engine) ends(from int, w *Window, x ending) bool {
	q := &e.peers[from]
	if (x.unlock || x.complete) && q.next < len(q.gets) {
		for i := range q.gets[q.next:] {
			if g := &q.gets[q.next+i]; g.size == 0 && g.window == w.id {
				return false
			}
		}
		q.gets = append(q.gets, owedGet{window: w.id, end: x})
		return true
	}
	return e.endNow(from, w, x)
}

// endNow is ends when no get is in the way.
func (e *Engine) endNow(from int, w *Window, x ending) bool {
	switch {
	case x.unlock && !w.unlockAsked(int32(from)):
		return false
	case x.complete && !w.completeArrived(int32(from)):
		return false
	case x.tells:
		e.tell(from, w, x.at)
	}
	return true
}
