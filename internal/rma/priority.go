package rma

// # Remote-completing requests
//
// The request of an operation that is Remote is complete when the operation is complete at the
// origin and at the target. Each of its frames has an answer of its own, so that the request waits
// for its own operation only: not for a flush, which would cover others, and not in the queue
// behind long operations of other goroutines (prioritize).

// prioritize moves o, which has an answer of its own, to the priority channel, if it may overtake
// the queue of the main channel. Accumulates and compare-and-swaps keep their order with each other,
// and nothing overtakes operations before an ordering point (View.Order). The lock is held.
func (e *Engine) prioritize(o *operation) {
	c, t := o.channel, o.target
	if o.Done != Remote || c != &t.main || c.first == len(c.queue) || o.view == nil || o.view.inOrder() || c.barrier >= c.queue[c.first].at {
		return
	}
	if o.atomic() {
		// All frames of it must be sent before another one can be issued.
		if o.view.Options().Ordering != 0 {
			for _, x := range c.queue[c.first:] {
				if x.atomic() || x.Kind == kindBundle {
					return
				}
			}
		}
		if q := e.peers.At(int(t.process)); q.stuck || q.requests >= requestsMax || o.size() > int64(e.p.ChunkMax(int(t.process)))/2 || o.Place.Type != nil {
			return
		}
	}
	if x := t.priority(); x.first == len(x.queue) || o.Kind == Put {
		o.channel = x
	}
}

// priority returns the channel of operations that overtake others. It is made at first use.
// The lock is held.
func (t *target) priority() *channel { return t.at(priorityNumber) }
