package rma

// # Requests that tell of the target
//
// The request of an operation that is Remote is complete when the operation is complete at the
// origin and at the target. Each of its frames is answered by itself, so that the request waits
// for nothing but its own operation: not for a flush, which would cover others, and not in the
// line behind long operations of other goroutines (express).

// express has o, which is answered by itself, overtake what stands in the main channel's
// line, if it may: accumulates and compare-and-swaps keep their order with each other, and nothing passes what
// Order has said must come first. The lock is held.
func (e *Engine) express(o *operation) {
	c, t := o.channel, o.target
	if o.Done != Remote || c != &t.main || c.first == len(c.line) || o.view == nil || o.view.inOrder() || c.barrier >= c.line[c.first].at {
		return
	}
	if o.atomic() {
		// It has to be gone before another one can be issued.
		if o.view.Options().Ordering != 0 {
			for _, x := range c.line[c.first:] {
				if x.atomic() || x.Kind == kindBundle {
					return
				}
			}
		}
		if q := &e.peers[t.process]; q.stuck || q.requests >= requestsMax || o.size() > int64(e.p.ChunkMax(int(t.process)))/2 || o.Place.Type != nil {
			return
		}
	}
	if x := t.express(); x.first == len(x.line) || o.Kind == Put {
		o.channel = x
	}
}

// express returns the channel of operations that overtake others. It is made at first use.
// The lock is held.
func (t *target) express() *channel { return t.at(expressNumber) }
