package rma

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// advance sends the next frames of o, of queueTurn bytes at most, and reports whether these were
// the last. It sends none while a frame to the peer is in the send queue of the process, or the
// peer has as many requests as it takes.
func (e *Engine) advance(o *operation) bool {
	q := e.peers.At(int(o.target.process))
	switch {
	case o.Kind == kindBundle:
		return e.sendBundle(q, o)
	case o.Kind >= kindFlush:
		return e.control(q, o)
	case o.streamed():
		return e.ask(q, o)
	}
	element := int64(1)
	if o.Kind >= Accumulate {
		element = int64(o.Elem.Size())
	}
	if !e.announce(q, o, element) {
		return false
	}
	asks := o.answers()
	for turn := o.moved + queueTurn; o.moved < o.size() && o.moved < turn; {
		if q.stuck || asks && q.requests >= requestsMax {
			return false
		}
		if o.failed != nil && o.Notify == 0 { // the target has refused a part: skip the rest
			o.moved = o.size()
			break
		}
		if !asks && e.sendTogether(o, element) {
			break
		}
		n, payload := e.frame(o, element)
		if n == 0 {
			o.failed = class.Errorf(class.Type, "blocks of the target's type are no whole elements of %v", o.Elem)
			o.moved = o.size()
			break
		}
		o.moved += n
		if asks {
			e.requested(q, o)
		}
		e.noticed(o)
		e.sendFrame(q, o, payload)
	}
	o.sent = o.moved == o.size()
	return o.sent
}

// sendFrame sends the frame with header e.hdr, which is the next of o, or leaves it in the send queue.
// payload is memory of the origin, of o or, if it was packed, o.page.
func (e *Engine) sendFrame(q *linkPeer, o *operation, payload []byte) {
	to := int(o.target.process)
	e.hdr.Size = uint32(len(payload))
	if e.holdRequest(o, payload) || e.p.Send(to, &e.hdr, payload) {
		if o.page != nil {
			e.givePage(o.page)
			o.page = nil
		}
		return
	}
	o.queued, q.stuck = true, true
	e.p.Push(to, &e.hdr, payload, o)
}

// requested notes that a frame of o gets an answer.
func (e *Engine) requested(q *linkPeer, o *operation) {
	q.requests++
	o.awaits++
	if o.name == 0 {
		o.name = e.names.Add(o)
	}
	e.hdr.Name = o.name
}

// ask sends the one frame of a contiguous get.
func (e *Engine) ask(q *linkPeer, o *operation) bool {
	if q.stuck || q.requests >= requestsMax {
		return false
	}
	e.head(o)
	binary.LittleEndian.PutUint64(o.few[:], uint64(o.size()))
	o.moved = o.size()
	o.sent = true
	e.requested(q, o)
	e.noticed(o)
	e.sendFrame(q, o, o.few[:])
	return true
}

// control sends a control frame.
func (e *Engine) control(q *linkPeer, o *operation) bool {
	if q.stuck || o.Kind != kindEnd && o.Kind != kindSignal && q.requests >= requestsMax {
		return false
	}
	e.hdr = wire.Header{Chan: o.channel.number, Ctx: o.target.w.id, Arg: o.at}
	switch o.Kind {
	case kindFlush:
		e.hdr.Kind = wire.WinFlush
		q.requests++
	case kindUnlock:
		e.hdr.Kind, e.hdr.Flags = wire.WinUnlock, wire.Answer
		q.requests++
	case kindEnd:
		e.hdr.Kind = wire.WinComplete
	case kindSignal:
		if o.channel.reading(o) {
			return false
		}
		e.hdr.Kind = wire.WinNotify
		e.hdr.SetCounter(int(o.Notify - 1))
	}
	o.sent = true
	e.sendFrame(q, o, nil)
	return true
}

// head makes e.hdr the header of a frame of o whose data are contiguous.
func (e *Engine) head(o *operation) {
	h := &e.hdr
	*h = wire.Header{Chan: o.channel.number, Ctx: o.target.w.id, Arg: o.off + uint64(o.moved)}
	switch o.Kind {
	case Put:
		h.Kind = wire.WinPut
	case Get:
		h.Kind = wire.WinGet
	case Accumulate:
		h.Kind, h.Aux = wire.WinAcc, accumulates(o.Fn, o.Elem)
		if o.fetches() {
			h.Flags = wire.WithResult
		}
	case CompareAndSwap:
		h.Kind, h.Aux = wire.WinCas, uint32(o.Elem)<<accType
	}
	if o.silent() {
		h.Flags = wire.Acknowledge
	}
	if o.announced > 0 {
		h.Flags |= wire.Spanned
	}
}

// Where in Aux of an accumulate its type begins, and the floating-point environment of its origin.
const (
	accType = 8
	accEnv  = 24
)

// accumulates is Aux of an accumulate.
func accumulates(o op.Op, t op.Type) uint32 {
	if planted.EnvironmentDropped {
		o = o.Bare()
	}
	return uint32(o.Bare()) | uint32(t)<<accType | uint32(o.Env())<<accEnv
}

// accumulated is the inverse of accumulates, of a word that a peer may have chosen. It reports
// false for an environment that makes no difference to the operation, which origins leave out.
func accumulated(aux uint32) (o op.Op, t op.Type, ok bool) {
	o, t = op.Op(aux&(1<<accType-1)).In(op.Env(aux>>accEnv)), op.Type(aux>>accType)
	return o, t, o.On(t) == o
}

// sendTogether sends several frames of long data at once, if they are contiguous at both sides and
// the fabric can. It reports whether those were all. If not, the next frame must be offered at
// once: a part of it may be sent.
func (e *Engine) sendTogether(o *operation, element int64) bool {
	to := int(o.target.process)
	chunk := int64(e.p.ChunkMax(to))
	if o.inRuns || !o.Origin.Contiguous() || o.size()-o.moved <= chunk || chunk%element != 0 {
		return false
	}
	e.head(o)
	end := o.size()
	if o.Notify != 0 { // the last frame has another header
		end = o.moved + (end-o.moved-1)/chunk*chunk
		e.noticed(o)
	}
	data, _ := o.Origin.Bytes()
	e.iov[0] = data[o.moved:end]
	o.moved += int64(e.p.SendRun(to, &e.hdr, e.iov[:1]))
	e.iov[0] = nil
	return o.moved == o.size()
}

// frame makes the next frame of o: its header in e.hdr but for the size, and its payload. It
// returns how many bytes of the target the frame accesses, 0 if it can access none.
func (e *Engine) frame(o *operation, element int64) (n int64, payload []byte) {
	to := int(o.target.process)
	chunk := int64(e.p.ChunkMax(to))
	data := o.sends()
	left := o.size() - o.moved
	e.head(o)
	switch {
	case o.Kind == CompareAndSwap:
		size := len(o.Compare)
		o.page = e.takePage()
		copy(o.page, o.Compare)
		o.Origin.Pack(o.page[size:2*size], 0)
		return int64(size), o.page[:2*size]
	case o.inRuns:
		k, covered := cut(e.runs[:], &o.there, o.moved, min(left, chunk), chunk, element, data)
		if covered == 0 {
			return 0, nil
		}
		e.hdr.Arg, e.hdr.Tag = o.off, int32(k)
		o.page = e.takePage()
		for i := range e.runs[:k] {
			e.runs[i].encode(o.page[i*runSize:])
		}
		used := int64(k * runSize)
		if data {
			o.Origin.Pack(o.page[used:used+covered], int(o.moved))
			used += covered
		}
		return covered, o.page[:used]
	}
	n = min(left, chunk-chunk%element)
	switch {
	case o.byPiece:
		e.hdr.Tag = 1
		o.page = e.takePage()
		piece := runs{length: n, count: 1}
		piece.encode(o.page)
		payload = o.page[:runSize]
	case !data:
		binary.LittleEndian.PutUint64(o.few[:], uint64(n))
		payload = o.few[:]
	case !o.Origin.Contiguous():
		o.page = e.takePage()
		payload = o.page[:n]
		o.Origin.Pack(payload, int(o.moved))
	default:
		all, _ := o.Origin.Bytes()
		payload = all[o.moved : o.moved+n]
	}
	return n, payload
}
