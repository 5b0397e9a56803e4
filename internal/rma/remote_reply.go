package rma

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/wire"
)

// fault is what a target tells of a frame that it has refused. It travels as
//
//	off uint64 | size uint64 | limit uint64
//
// with the class in Aux and the kind of the frame in Tag. The text is made here: what
// people read is not off the wire.
type fault struct {
	class class.Class
	kind  wire.Kind
	off   uint64 // displacement in bytes, or address
	size  uint64 // bytes
	limit uint64 // of the target's memory, in bytes; in dynamic windows the first address that is not attached, 0: not told
}

// faultSize is the size of a fault on the wire in bytes.
const faultSize = 24

// encode writes f to b and h.
func (f *fault) encode(h *wire.Header, b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, f.off)
	le.PutUint64(b[8:], f.size)
	le.PutUint64(b[16:], f.limit)
	h.Aux, h.Tag, h.Size = uint32(f.class), int32(f.kind), faultSize
}

// decodeFault reads what encode wrote. It reports false for what that never writes.
func decodeFault(h *wire.Header, b []byte) (f fault, ok bool) {
	if len(b) != faultSize || h.Tag < int32(wire.WinPut) || h.Tag > int32(wire.WinNotify) {
		return f, false
	}
	le := binary.LittleEndian
	f = fault{class.Class(h.Aux), wire.Kind(h.Tag), le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])}
	return f, f.class == class.RMARange || f.class == class.RMAAttach || f.class == class.Win
}

// error is the fault as the origin's user reads it.
func (f *fault) error(w *Window, rank int) error {
	what := "synchronization"
	switch f.kind {
	case wire.WinPut:
		what = "put"
	case wire.WinGet:
		what = "get"
	case wire.WinAcc:
		what = "accumulate"
	case wire.WinCas:
		what = "compare-and-swap"
	}
	switch {
	case f.class == class.Win:
		return fail(f.class, "%s: rank %d has no such window any more", what, rank)
	case w.dynamic != nil && f.off >= handleSpace:
		return fail(f.class, "%s of %d bytes by a memory handle of rank %d: the handle has been released there, or was never made", what, f.size, rank)
	case w.dynamic != nil && f.limit > f.off && f.limit-f.off < f.size:
		return fail(f.class, "%s of %d bytes at address %#x of rank %d: %d of them are attached there, nothing is at %#x", what, f.size, f.off, rank, f.limit-f.off, f.limit)
	case w.dynamic != nil:
		return fail(f.class, "%s of %d bytes at address %#x of rank %d: that memory is not attached there", what, f.size, f.off, rank)
	}
	return fail(f.class, "%s of %d bytes at byte %d of rank %d, whose memory has %d bytes", what, f.size, f.off, rank, f.limit)
}

// answered returns the operation that a frame of a peer answers, nil if it is none.
func (e *Engine) answered(from int, h *wire.Header) *operation {
	o := e.names.Find(h.Name)
	if o == nil || int(o.target.process) != from || o.awaits == 0 || o.target.w.id != h.Ctx ||
		h.Kind == wire.WinReply && ((h.Size == 0) != o.silent() || int64(h.Size) > o.size()-o.got) {
		return nil
	}
	return o
}

// streamed reports whether the single request of o is answered bit by bit.
func (o *operation) streamed() bool { return o.Kind == Get && !o.ragged && !o.byPiece }

// reply takes data that were asked for.
func (e *Engine) reply(from int, h *wire.Header, payload []byte) {
	if o := e.answered(from, h); o != nil {
		o.Result.Unpack(payload, int(o.got))
		e.replied(from, o, int64(len(payload)))
	}
}

// replied counts data that are where they belong.
func (e *Engine) replied(from int, o *operation, n int64) {
	o.got += n
	if !o.streamed() || o.got == o.size() {
		e.settled(from, o)
	}
}

// settled ends a request of o.
func (e *Engine) settled(from int, o *operation) {
	e.peers[from].requests--
	if o.awaits--; o.awaits > 0 || !o.sent || o.queued {
		return
	}
	if o.got != o.size() && !o.silent() && o.failed == nil {
		e.refuse(from, "it has answered with %d bytes where %d were asked for", o.got, o.size())
		return
	}
	e.finish(o, o.failed)
}

// faulted takes that a frame was refused.
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

// note keeps a fault for who waits next for operations of the channel of a frame.
func (e *Engine) note(from int, h *wire.Header, f *fault) {
	if c := e.channelOf(from, h); c != nil && c.fault == nil {
		c.fault = f.error(c.target.w, c.target.rank)
	}
}

// channelOf is the channel that a frame of a peer is about, nil if it was never used.
func (e *Engine) channelOf(from int, h *wire.Header) *channel {
	if t := e.targetOf(from, h.Ctx); t != nil {
		return t.numbered(h.Chan)
	}
	return nil
}

// targetOf is a process as a target of a window, nil if it was never used as one.
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

// told takes that all before a flush or unlock is done.
func (e *Engine) told(from int, h *wire.Header, payload []byte) {
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
	e.peers[from].requests--
	c.done = h.Arg
	others := c.notify()
	switch {
	case c.wanted <= c.asked || c.done != c.asked:
	case others && e.p.Polling():
		e.askSoon(c)
	default: // for requests, or here by a service, which sleeps when it has nothing to do
		e.askFlush(c)
	}
}
