package link

import (
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// answered returns the operation that a frame of a peer answers, nil if there is none.
func (l *Link) answered(from int, h *wire.Header) *Operation {
	o := l.names.Find(h.Name)
	if o == nil || int(o.target.Process) != from || o.awaits == 0 || o.target.window != h.Ctx ||
		h.Kind == wire.WinReply && ((h.Size == 0) != o.Silent() || int64(h.Size) > o.Size()-o.got) {
		return nil
	}
	return o
}

// streamed reports whether the single request of o is answered in pieces.
func (o *Operation) streamed() bool { return o.Kind == operation.Get && !o.inRuns && !o.byPiece }

// Reply takes the data of an answer.
func (l *Link) Reply(from int, h *wire.Header, payload []byte) {
	if o := l.answered(from, h); o != nil {
		o.Deliver(payload, int(o.got))
		l.replied(from, o, int64(len(payload)))
	}
}

// Place returns the memory for the data of an answer, nil if Reply is to take them.
func (l *Link) Place(from int, h *wire.Header) []byte {
	if o := l.answered(from, h); o != nil {
		if b, ok := o.Result.Bytes(); ok && !o.Gaps() && o.got+int64(h.Size) <= int64(len(b)) {
			return b[o.got:][:h.Size]
		}
	}
	return nil
}

// Placed says that the data of an answer are where Place has said.
func (l *Link) Placed(from int, h *wire.Header) {
	if o := l.answered(from, h); o != nil {
		l.replied(from, o, int64(h.Size))
	}
}

// replied counts data of an answer that are in place.
func (l *Link) replied(from int, o *Operation, n int64) {
	o.got += n
	if !o.streamed() || o.got == o.Size() {
		l.settled(from, o)
	}
}

// settled ends a request of o.
func (l *Link) settled(from int, o *Operation) {
	l.peers.At(from).requests--
	o.awaits--
	if o.awaits > 0 || !o.sent || o.queued {
		return
	}
	if o.got != o.Size() && !o.Silent() && o.failed == nil {
		l.Refuse(from, "it has answered with %d bytes where %d were asked for", o.got, o.Size())
		return
	}
	l.finish(o, o.failed)
}

// Faulted takes the report that a frame was refused.
func (l *Link) Faulted(from int, h *wire.Header, payload []byte) {
	f, ok := operation.DecodeFault(h, payload)
	if !ok {
		l.Refuse(from, "it has told of a fault in %d bytes that mean none", len(payload))
		return
	}
	if h.Name == 0 {
		l.note(from, h, &f)
		return
	}
	if o := l.answered(from, h); o != nil {
		if o.failed == nil {
			o.failed = f.Err(o.target.dynamic, o.target.Rank)
		}
		l.settled(from, o)
	}
}

// note keeps a fault for the next wait for operations of the channel of a frame.
func (l *Link) note(from int, h *wire.Header, f *operation.Fault) {
	if c := l.channelOf(from, h); c != nil && c.fault == nil {
		c.fault = f.Err(c.target.dynamic, c.target.Rank)
	}
}

// channelOf is the channel that a frame of a peer names, nil if it was never used.
func (l *Link) channelOf(from int, h *wire.Header) *Channel {
	if t := l.host.Target(from, h.Ctx); t != nil {
		return t.Numbered(h.Chan)
	}
	return nil
}

// Done takes a WinDone: all before a flush or unlock is complete.
func (l *Link) Done(from int, h *wire.Header, payload []byte) {
	c := l.channelOf(from, h)
	if c == nil || h.Arg <= c.done || h.Arg > c.asked {
		return
	}
	if z := &c.target.epoch; h.Chan == 0 && z.at != 0 && z.at == h.Arg && !l.epochTold(c.target, h, payload) {
		l.Refuse(from, "it has answered an epoch by %d bytes that were not asked for", len(payload))
		return
	}
	if h.Flags&wire.Faulty != 0 {
		f, ok := operation.DecodeFault(h, payload)
		if !ok {
			l.Refuse(from, "it has told of a fault in %d bytes that mean none", len(payload))
			return
		}
		l.note(from, h, &f)
	}
	l.peers.At(from).requests--
	c.done = h.Arg
	others := c.notify()
	switch {
	case c.wanted <= c.asked || c.done != c.asked:
	case others && l.p.Polling():
		l.sendFlushSoon(c)
	default: // requests wait for it, or a service has come here, which sleeps when it has no work
		l.sendFlush(c)
	}
}
