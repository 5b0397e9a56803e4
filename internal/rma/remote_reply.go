package rma

import (
	"github.com/halo-mpi/halo/internal/wire"
)

// answered returns the operation that a frame of a peer answers, nil if there is none.
func (e *Engine) answered(from int, h *wire.Header) *operation {
	o := e.names.Find(h.Name)
	if o == nil || int(o.target.process) != from || o.awaits == 0 || o.target.w.id != h.Ctx ||
		h.Kind == wire.WinReply && ((h.Size == 0) != o.silent() || int64(h.Size) > o.size()-o.got) {
		return nil
	}
	return o
}

// streamed reports whether the single request of o is answered in pieces.
func (o *operation) streamed() bool { return o.Kind == Get && !o.inRuns && !o.byPiece }

// reply takes the data of an answer.
func (e *Engine) reply(from int, h *wire.Header, payload []byte) {
	if o := e.answered(from, h); o != nil {
		o.deliver(payload, int(o.got))
		e.replied(from, o, int64(len(payload)))
	}
}

// replied counts data of an answer that are in place.
func (e *Engine) replied(from int, o *operation, n int64) {
	o.got += n
	if !o.streamed() || o.got == o.size() {
		e.settled(from, o)
	}
}

// settled ends a request of o.
func (e *Engine) settled(from int, o *operation) {
	e.peers.At(from).requests--
	o.awaits--
	if o.awaits > 0 || !o.sent || o.queued {
		return
	}
	if o.got != o.size() && !o.silent() && o.failed == nil {
		e.refuse(from, "it has answered with %d bytes where %d were asked for", o.got, o.size())
		return
	}
	e.finish(o, o.failed)
}

// faulted takes the report that a frame was refused.
func (e *Engine) faulted(from int, h *wire.Header, payload []byte) {
	f, ok := decodeFault(h, payload)
	if !ok {
		e.refuse(from, "it has told of a fault in %d bytes that mean none", len(payload))
		return
	}
	if h.Name == 0 {
		e.note(from, h, &f)
		return
	}
	if o := e.answered(from, h); o != nil {
		if o.failed == nil {
			o.failed = f.error(o.target.w, o.target.rank)
		}
		e.settled(from, o)
	}
}

// note keeps a fault for the next wait for operations of the channel of a frame.
func (e *Engine) note(from int, h *wire.Header, f *fault) {
	if c := e.channelOf(from, h); c != nil && c.fault == nil {
		c.fault = f.error(c.target.w, c.target.rank)
	}
}

// channelOf is the channel that a frame of a peer names, nil if it was never used.
func (e *Engine) channelOf(from int, h *wire.Header) *channel {
	if t := e.targetOf(from, h.Ctx); t != nil {
		return t.numbered(h.Chan)
	}
	return nil
}

// targetOf is a process as a target of a window, nil if it was never used as a target.
func (e *Engine) targetOf(process int, window uint64) *target {
	w := e.windows[window]
	if w == nil {
		return nil
	}
	rank := w.Comm.RankOf(int32(process))
	if rank < 0 {
		return nil
	}
	return w.targets[rank].Load()
}

// flushDone takes a WinDone: all before a flush or unlock is complete.
func (e *Engine) flushDone(from int, h *wire.Header, payload []byte) {
	c := e.channelOf(from, h)
	if c == nil || h.Arg <= c.done || h.Arg > c.asked {
		return
	}
	if z := &c.target.lazy; h.Chan == 0 && z.at != 0 && z.at == h.Arg && !e.epochTold(c.target, h, payload) {
		e.refuse(from, "it has answered an epoch by %d bytes that were not asked for", len(payload))
		return
	}
	if h.Flags&wire.Faulty != 0 {
		f, ok := decodeFault(h, payload)
		if !ok {
			e.refuse(from, "it has told of a fault in %d bytes that mean none", len(payload))
			return
		}
		e.note(from, h, &f)
	}
	e.peers.At(from).requests--
	c.done = h.Arg
	others := c.notify()
	switch {
	case c.wanted <= c.asked || c.done != c.asked:
	case others && e.p.Polling():
		e.sendFlushSoon(c)
	default: // requests wait for it, or a service has come here, which sleeps when it has no work
		e.sendFlush(c)
	}
}
