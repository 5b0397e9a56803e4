package link

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// advance sends the next frames of o, of QueueTurn bytes at most, and reports whether these were
// the last. It sends none while a frame to the peer is in the send queue of the process, or the
// peer has as many requests as it takes.
func (l *Link) advance(o *Operation) bool {
	q := l.peers.At(int(o.target.Process))
	switch {
	case o.Kind == Coalesced:
		return l.sendBundle(q, o)
	case o.Kind >= kindFlush:
		return l.control(q, o)
	case o.streamed():
		return l.ask(q, o)
	}
	element := int64(1)
	if o.Kind >= operation.Accumulate {
		element = int64(o.Elem.Size())
	}
	if !l.announce(q, o, element) {
		return false
	}
	asks := o.Answers()
	for turn := o.moved + QueueTurn; o.moved < o.Size() && o.moved < turn; {
		if q.stuck || asks && q.requests >= RequestsMax {
			return false
		}
		if o.failed != nil && o.Notify == 0 { // the target has refused a part: skip the rest
			o.moved = o.Size()
			break
		}
		if !asks && l.sendTogether(o, element) {
			break
		}
		n, payload := l.frame(o, element)
		if n == 0 {
			o.failed = class.Errorf(class.Type, "blocks of the target's type are no whole elements of %v", o.Elem)
			o.moved = o.Size()
			break
		}
		o.moved += n
		if asks {
			l.requested(q, o)
		}
		l.noticed(o)
		l.sendFrame(q, o, payload)
	}
	o.sent = o.moved == o.Size()
	return o.sent
}

// sendFrame sends the frame with header l.hdr, which is the next of o, or leaves it in the send queue.
// payload is memory of the origin, of o or, if it was packed, o.page.
func (l *Link) sendFrame(q *peer, o *Operation, payload []byte) {
	to := int(o.target.Process)
	l.hdr.Size = uint32(len(payload))
	if l.holdRequest(o, payload) || l.p.Send(to, &l.hdr, payload) {
		if o.page != nil {
			l.GivePage(o.page)
			o.page = nil
		}
		return
	}
	o.queued, q.stuck = true, true
	l.p.Push(to, &l.hdr, payload, o)
}

// requested notes that a frame of o gets an answer.
func (l *Link) requested(q *peer, o *Operation) {
	q.requests++
	o.awaits++
	if o.name == 0 {
		o.name = l.names.Add(o)
	}
	l.hdr.Name = o.name
}

// ask sends the one frame of a contiguous get.
func (l *Link) ask(q *peer, o *Operation) bool {
	if q.stuck || q.requests >= RequestsMax {
		return false
	}
	l.head(o)
	binary.LittleEndian.PutUint64(o.few[:], uint64(o.Size()))
	o.moved = o.Size()
	o.sent = true
	l.requested(q, o)
	l.noticed(o)
	l.sendFrame(q, o, o.few[:])
	return true
}

// control sends a control frame.
func (l *Link) control(q *peer, o *Operation) bool {
	if q.stuck || o.Kind != kindEnd && o.Kind != Signal && q.requests >= RequestsMax {
		return false
	}
	l.hdr = wire.Header{Chan: o.channel.number, Ctx: o.target.window, Arg: o.at}
	switch o.Kind {
	case kindFlush:
		l.hdr.Kind = wire.WinFlush
		q.requests++
	case kindUnlock:
		l.hdr.Kind, l.hdr.Flags = wire.WinUnlock, wire.Answer
		q.requests++
	case kindEnd:
		l.hdr.Kind = wire.WinComplete
	case Signal:
		if o.channel.reading(o) {
			return false
		}
		l.hdr.Kind = wire.WinNotify
		l.hdr.SetCounter(int(o.Notify - 1))
	}
	o.sent = true
	l.sendFrame(q, o, nil)
	return true
}

// head makes l.hdr the header of a frame of o whose data are contiguous.
func (l *Link) head(o *Operation) {
	h := &l.hdr
	*h = wire.Header{Chan: o.channel.number, Ctx: o.target.window, Arg: o.Off + uint64(o.moved)}
	switch o.Kind {
	case operation.Put:
		h.Kind = wire.WinPut
	case operation.Get:
		h.Kind = wire.WinGet
	case operation.Accumulate:
		h.Kind, h.Aux = wire.WinAcc, operation.AccumulateWord(o.Fn, o.Elem)
		if o.Fetches() {
			h.Flags = wire.WithResult
		}
	case operation.CompareAndSwap:
		h.Kind, h.Aux = wire.WinCas, operation.CompareWord(o.Elem)
	}
	if o.Silent() {
		h.Flags = wire.Acknowledge
	}
	if o.announced > 0 {
		h.Flags |= wire.Spanned
	}
}

// sendTogether sends several frames of long data at once, if they are contiguous at both sides and
// the fabric can. It reports whether those were all. If not, the next frame must be offered at
// once: a part of it may be sent.
func (l *Link) sendTogether(o *Operation, element int64) bool {
	to := int(o.target.Process)
	chunk := int64(l.p.ChunkMax(to))
	if o.inRuns || !o.Origin.Contiguous() || o.Size()-o.moved <= chunk || chunk%element != 0 {
		return false
	}
	l.head(o)
	end := o.Size()
	if o.Notify != 0 { // the last frame has another header
		end = o.moved + (end-o.moved-1)/chunk*chunk
		l.noticed(o)
	}
	data, _ := o.Origin.Bytes()
	l.iov[0] = data[o.moved:end]
	o.moved += int64(l.p.SendRun(to, &l.hdr, l.iov[:1]))
	l.iov[0] = nil
	return o.moved == o.Size()
}

// frame makes the next frame of o: its header in l.hdr but for the size, and its payload. It
// returns how many bytes of the target the frame accesses, 0 if it can access none.
func (l *Link) frame(o *Operation, element int64) (n int64, payload []byte) {
	to := int(o.target.Process)
	chunk := int64(l.p.ChunkMax(to))
	data := o.Sends()
	left := o.Size() - o.moved
	l.head(o)
	switch {
	case o.Kind == operation.CompareAndSwap:
		size := len(o.Compare)
		o.page = l.TakePage()
		copy(o.page, o.Compare)
		o.Origin.Pack(o.page[size:2*size], 0)
		return int64(size), o.page[:2*size]
	case o.inRuns:
		k, covered := operation.Cut(l.runs[:], &o.there, o.moved, min(left, chunk), chunk, element, data)
		if covered == 0 {
			return 0, nil
		}
		l.hdr.Arg, l.hdr.Tag = o.Off, int32(k)
		o.page = l.TakePage()
		for i := range l.runs[:k] {
			l.runs[i].Encode(o.page[i*operation.RunSize:])
		}
		used := int64(k * operation.RunSize)
		if data {
			o.Origin.Pack(o.page[used:used+covered], int(o.moved))
			used += covered
		}
		return covered, o.page[:used]
	}
	n = min(left, chunk-chunk%element)
	switch {
	case o.byPiece:
		l.hdr.Tag = 1
		o.page = l.TakePage()
		piece := operation.Runs{Length: n, Count: 1}
		piece.Encode(o.page)
		payload = o.page[:operation.RunSize]
	case !data:
		binary.LittleEndian.PutUint64(o.few[:], uint64(n))
		payload = o.few[:]
	case !o.Origin.Contiguous():
		o.page = l.TakePage()
		payload = o.page[:n]
		o.Origin.Pack(payload, int(o.moved))
	default:
		all, _ := o.Origin.Bytes()
		payload = all[o.moved : o.moved+n]
	}
	return n, payload
}
