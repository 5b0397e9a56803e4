package link

import (
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// # Remote-completing requests
//
// The request of an operation that is Remote is complete when the operation is complete at the
// origin and at the target. Each of its frames has an answer of its own, so that the request waits
// for its own operation only: not for a flush, which would cover others, and not in the queue
// behind long operations of other goroutines (prioritize).

// prioritize moves o, which has an answer of its own, to the priority channel, if it may overtake
// the queue of the main channel. Accumulates and compare-and-swaps keep their order with each other,
// and nothing overtakes operations before an ordering point (Target.Barrier).
func (l *Link) prioritize(o *Operation) {
	c, t := o.channel, o.target
	if o.Done != operation.Remote || c != &t.main || c.first == len(c.queue) || o.InOrder || c.barrier >= c.queue[c.first].at {
		return
	}
	if o.Atomic() {
		// All frames of it must be sent before another one can be issued.
		if o.Ordered {
			for _, x := range c.queue[c.first:] {
				if x.Atomic() || x.Kind == Coalesced {
					return
				}
			}
		}
		if q := l.peers.At(int(t.Process)); q.stuck || q.requests >= RequestsMax || o.Size() > int64(l.p.ChunkMax(int(t.Process)))/2 || o.Place.Type != nil {
			return
		}
	}
	if x := t.priority(); x.first == len(x.queue) || o.Kind == operation.Put {
		o.channel = x
	}
}

// priority returns the channel of operations that overtake others. It is made at first use.
func (t *Target) priority() *Channel { return t.at(priorityNumber) }
