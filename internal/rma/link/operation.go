package link

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// Operation is an Op that is not complete within its call: it is deferred, or under way in frames.
// An Op that is complete at once needs none. The code that ends it calls Link.End.
//
// The bytes of the origin belong to the caller until the operation is complete there. Short ones
// are copied.
type Operation struct {
	operation.Op
	Traits
	Off     uint64       // bytes from the beginning of the target's memory; in dynamic windows an address
	Request *p2p.Request // finished when the operation is complete at the origin; may be nil

	target  *Target
	channel *Channel // of target

	at          uint64 // its number
	prev, next  *Operation
	moved       int64  // bytes of the target for which frames have been made
	announced   int64  // bytes of the target that WinSpan has announced
	got         int64  // bytes of the result that have come
	awaits      int    // requests without an answer yet
	name        uint64 // its handle, while there are some
	sent        bool   // all frames are made
	queued      bool   // the last one made is in the send queue
	inFlight    bool   // not complete, and listed from Channel.oldest to newest
	failed      error
	there       dtype.Buffer // the layout at the target, if that is not contiguous
	inRuns      bool         // there is the layout
	byPiece     bool         // a get with a request for each piece
	page        []byte       // the frame in the send queue, if it was packed
	few         [8]byte      // a payload
	bundle      *bundle      // of Coalesced
	viewChannel *Channel     // the channel of its view, if it goes by the main one instead

	short [2][operation.MaxElement]byte // copies for Origin and Compare
}

// Traits are what the view of an operation promises of its order.
type Traits struct {
	InOrder bool // operations of the view are complete in the order of their calls
	Ordered bool // accumulates of the view to one target keep their order
}

// NewOperation returns an operation on a target, by the channel of that number, that is a copy of a.
func (l *Link) NewOperation(t *Target, number uint16, a *operation.Op, off uint64, x Traits) *Operation {
	o := l.newOperation(t.channel(number), a, off)
	o.Traits = x
	return o
}

// newOperation is NewOperation with the channel.
func (l *Link) newOperation(c *Channel, a *operation.Op, off uint64) *Operation {
	var o *Operation
	if n := len(l.pool); n > 0 {
		o = l.pool[n-1]
		l.pool = l.pool[:n-1]
	} else {
		o = &Operation{}
	}
	o.Op, o.target, o.channel, o.Off = *a, c.target, c, off
	if b, ok := a.Origin.Bytes(); ok && len(b) <= operation.MaxElement && a.Kind != operation.Get {
		o.Origin = mem.Of(o.short[0][:copy(o.short[0][:], b)])
	}
	if a.Kind == operation.CompareAndSwap {
		o.Compare = o.short[1][:copy(o.short[1][:], a.Compare)]
	}
	return o
}

// freeOperation frees an operation.
func (l *Link) freeOperation(o *Operation) {
	*o = Operation{}
	if len(l.pool) < poolMax {
		l.pool = append(l.pool, o)
	}
}

// poolMax is how many operations are kept for reuse.
const poolMax = 1024

// Number is the number of the channel by which an operation goes.
func (o *Operation) Number() uint16 { return o.channel.number }

// Alone reports whether nothing else is under way by the channel of an operation.
func (o *Operation) Alone() bool { return o.channel.Idle() }

// End completes an operation at the origin and frees it.
func (l *Link) End(o *Operation, err error) {
	if r := o.Request; r != nil {
		l.messages.Finish(r, err)
	}
	l.freeOperation(o)
}
