package rma

import (
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// # Requests that tell of the target
//
// Rrput and its like are requests that are complete when the operation is complete at the
// origin and at the target. Each of their frames is answered by itself, so that they wait
// for nothing but their own way: not for a flush, which would cover others, and not in the
// line behind long operations of other goroutines (express).

// Rrput is Put with a request, which is complete when the data are at the target
// (MPIX_RRPUT).
func (v *View) Rrput(origin Data, target int, disp int64, l Layout) (*p2p.Request, error) {
	return v.carryOut(&access{kind: kindPut, acked: true, origin: origin, disp: disp, layout: l}, target, "Rrput")
}

// Rraccumulate is Accumulate with a request, which is complete when the elements at the
// target are what they become (MPIX_RRACCUMULATE).
func (v *View) Rraccumulate(origin Data, target int, disp int64, l Layout, o op.Op, t op.Type) (*p2p.Request, error) {
	a := access{kind: kindAccumulate, acked: true, op: o, typ: t, origin: origin, disp: disp, layout: l}
	return v.carryOut(&a, target, "Rraccumulate")
}

// RrgetAccumulate is GetAccumulate with a request, which is complete when that is at both
// sides (MPIX_RRGET_ACCUMULATE): what RgetAccumulate does, too, whose answer comes when the
// target is done.
func (v *View) RrgetAccumulate(origin, result Data, target int, disp int64, l Layout, o op.Op, t op.Type) (*p2p.Request, error) {
	a := access{kind: kindAccumulate, acked: true, op: o, typ: t, origin: origin, result: result, disp: disp, layout: l}
	return v.carryOut(&a, target, "RrgetAccumulate")
}

// RfetchAndOp is FetchAndOp with a request, which is complete when that is at both sides
// (MPIX_RFETCH_AND_OP).
func (v *View) RfetchAndOp(value, result []byte, target int, disp int64, o op.Op, t op.Type) (*p2p.Request, error) {
	a := access{kind: kindAccumulate, op: o, typ: t, origin: Data{Bytes: value}, result: Data{Bytes: result}, disp: disp}
	return v.carryOut(&a, target, "RfetchAndOp")
}

// RcompareAndSwap is CompareAndSwap with a request, which is complete when that is at both
// sides (MPIX_RCOMPARE_AND_SWAP).
func (v *View) RcompareAndSwap(value, compare, result []byte, target int, disp int64, t op.Type) (*p2p.Request, error) {
	a := access{kind: kindCompare, typ: t, origin: Data{Bytes: value}, compare: compare, result: Data{Bytes: result}, disp: disp}
	return v.carryOut(&a, target, "RcompareAndSwap")
}

// express has o, which is answered by itself, overtake what stands in the main channel's
// line, if it may: accumulates keep their order with each other, and nothing passes what
// Order has said must come first. The lock is held.
func (e *Engine) express(o *operation) {
	c, t := o.channel, o.target
	if !o.acked || c != &t.main || c.first == len(c.line) || o.view == nil || o.view.inOrder() || c.barrier >= c.line[c.first].at {
		return
	}
	if o.kind == kindAccumulate {
		// It has to be gone before another accumulate can be issued.
		if o.view.Options().Ordering != 0 {
			for _, x := range c.line[c.first:] {
				if x.kind == kindAccumulate || x.kind == kindBundle {
					return
				}
			}
		}
		if q := &e.peers[t.process]; q.stuck || q.requests >= requestsMax || o.size() > int64(e.p.ChunkMax(int(t.process)))/2 || o.layout.Type != nil {
			return
		}
	}
	if x := t.express(); x.first == len(x.line) || o.kind == kindPut {
		o.channel = x
	}
}

// express returns the channel of operations that overtake others. It is made at first use.
// The lock is held.
func (t *target) express() *channel { return t.at(expressNumber) }
