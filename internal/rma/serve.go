package rma

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// Frame implements fabric.Sink, for frames of one-sided communication. It is the target's side, in
// which the target's program takes no part.
//
// Nothing in a frame is trusted. A window is looked up by its id, which is unique in a job, and the
// sender must be a member. The window says which memory lies at a displacement, and all of it is
// checked before any of it is accessed. Errors that a correct process can make, for example an
// access beyond the end or to memory that is detached, are answered by a fault. A peer that sends
// what no correct process can send is taken down.
func (e *Engine) Frame(from int, h *wire.Header, payload []byte) {
	if e.peers.At(from).refused {
		return
	}
	switch h.Kind {
	case wire.WinReply:
		e.reply(from, h, payload)
		return
	case wire.WinFault:
		e.faulted(from, h, payload)
		return
	case wire.WinDone:
		e.flushDone(from, h, payload)
		return
	case wire.WinCheck:
		e.takeQuestion(from, h, payload)
		return
	}
	w := e.windows[h.Ctx]
	if w == nil {
		e.stale(from, h, payload)
		return
	}
	if w.Comm.RankOf(int32(from)) < 0 {
		e.refuse(from, "it has used a window that it is not in")
		return
	}
	if h.Chan >= channelsMax {
		e.refuse(from, "it has used channel %d of a window", h.Chan)
		return
	}
	ok := true
	switch h.Kind {
	case wire.WinPut:
		if !e.spanned(from, w, h) {
			e.takePut(from, w, h, payload)
		}
		ok = e.then(from, w, h)
	case wire.WinAcc:
		if !e.spanned(from, w, h) {
			e.takeAccumulate(from, w, h, payload)
		}
		ok = e.then(from, w, h)
	case wire.WinCas:
		e.takeCompare(from, w, h, payload)
		ok = e.then(from, w, h)
	case wire.WinGet:
		e.takeGet(from, w, h, payload)
	case wire.WinFlush:
		e.answerFlush(from, w, h.Chan, h.Arg)
	case wire.WinLock:
		ok = w.lockAsked(int32(from), h.Flags&wire.Exclusive != 0)
	case wire.WinEpoch:
		ok = e.takeEpoch(from, w, h, payload)
	case wire.WinUnlock:
		ok = e.ends(from, w, ending{unlock: true, tells: h.Flags&wire.Answer != 0, at: h.Arg})
	case wire.WinGrant:
		t := e.targetOf(from, h.Ctx)
		ok = t != nil && h.Aux <= uint32(class.ProcFailed) && w.granted(t, class.Class(h.Aux), int64(h.Arg))
	case wire.WinPost:
		ok = w.postedBy(int32(from))
	case wire.WinComplete:
		ok = e.ends(from, w, ending{complete: 1})
	case wire.WinLeave:
		ok = w.left(int32(from))
	case wire.WinNotify:
		w.countHere(h.Counter())
	case wire.WinSpan:
		e.takeSpan(from, w, h, payload)
	}
	if !ok {
		e.refuse(from, "it has sent a frame of kind %d when there was no reason for one", h.Kind)
	}
}

// then carries out what follows the operation of a frame. It reports false if no correct process
// sends that.
func (e *Engine) then(from int, w *Window, h *wire.Header) bool {
	if e.peers.At(from).refused {
		return true
	}
	if h.Flags&wire.ThenNotify != 0 && w.whole(from, h) {
		w.countHere(h.Counter())
	}
	if h.Flags&(wire.ThenFlush|wire.ThenUnlock|wire.ThenComplete) == 0 {
		return true
	}
	x := ending{unlock: h.Flags&wire.ThenUnlock != 0, tells: h.Flags&(wire.ThenFlush|wire.ThenUnlock) != 0, at: h.Name, channel: h.Chan}
	if h.Flags&wire.ThenComplete != 0 {
		x.complete = 1
	}
	return e.ends(from, w, x)
}

// postedBy takes the post of a member. A member that has made the window already may post before
// this process knows all members.
func (w *Window) postedBy(process int32) bool {
	if !w.opened {
		if slices.Contains(w.early, process) {
			return false
		}
		w.early = append(w.early, process)
		return true
	}
	t, err := w.targetLocked(w.Comm.RankOf(process))
	return err == nil && w.postArrived(t)
}

// open notes that all members are known. The lock is held.
func (w *Window) open() {
	w.opened = true
	for _, process := range w.early {
		w.postedBy(process)
	}
	w.early = nil
	w.openSync()
}

// refuse takes down a peer that has broken a rule.
func (e *Engine) refuse(from int, format string, args ...any) {
	e.peers.At(from).refused = true
	e.messages.Refuse(from, "%s", fmt.Sprintf(format, args...))
}

// Place implements fabric.Sink: answers are received into the memory of the origin. Puts are not:
// if the origin dies, half of an element could arrive (F2), and memory might be freed while a frame
// still writes there. Copying them from a buffer that was just received is faster than any
// connection.
func (e *Engine) Place(from int, h *wire.Header) []byte {
	if h.Kind != wire.WinReply || e.peers.At(from).refused {
		return nil // Frame decides
	}
	if o := e.answered(from, h); o != nil {
		if b, ok := o.Result.Bytes(); ok && !o.gaps() && o.got+int64(h.Size) <= int64(len(b)) {
			return b[o.got:][:h.Size]
		}
	}
	return nil
}

// Placed implements fabric.Sink.
func (e *Engine) Placed(from int, h *wire.Header) {
	if o := e.answered(from, h); o != nil {
		e.replied(from, o, int64(h.Size))
	}
}

// Down implements fabric.Sink. PeerFailed does the work.
func (e *Engine) Down(int, error) {}

// takePut carries out a put.
func (e *Engine) takePut(from int, w *Window, h *wire.Header, data []byte) {
	if runsIn(h) == 0 {
		r, at, err := w.place(h.Arg, int64(len(data)))
		if err != nil {
			e.deny(from, w, h, w.fault(h, uint64(len(data)), err))
			return
		}
		r.Put(at, data)
		e.acknowledge(from, h)
		return
	}
	blocks, data, ok := e.scatter(from, w, h, data, 1)
	if !ok {
		return
	}
	total := int64(0)
	for i := range blocks {
		total += blocks[i].n
	}
	if total != int64(len(data)) {
		e.refuse(from, "it has put %d bytes where there are %d", len(data), total)
		return
	}
	for _, b := range blocks {
		b.region.Put(b.at, data[:b.n])
		data = data[b.n:]
	}
	e.acknowledge(from, h)
}

// takeAccumulate carries out an accumulate, fetch-and-op or get-accumulate.
func (e *Engine) takeAccumulate(from int, w *Window, h *wire.Header, data []byte) {
	o, t, ok := accumulated(h.Aux)
	asks := h.Flags&wire.WithResult != 0
	size := int64(t.Size())
	switch {
	case !ok || size == 0 || !o.Accumulates(t) || o == op.NoOp && !asks:
		e.refuse(from, "it has accumulated with operation %d on type %d", o, t)
		return
	case asks && !e.admits(from):
		return
	}
	if runsIn(h) != 0 {
		e.takeScattered(from, w, h, data, o, t, asks)
		return
	}
	n := int64(len(data))
	if o == op.NoOp {
		n, data = e.length(from, data), nil
		if n < 0 {
			return
		}
	}
	if n == 0 || n%size != 0 || n > wire.MaxPayload {
		e.refuse(from, "it has accumulated %d bytes of elements of %d", n, size)
		return
	}
	r, at, err := w.place(h.Arg, n)
	switch {
	case err != nil:
		e.deny(from, w, h, w.fault(h, uint64(n), err))
	case !asks:
		r.Accumulate(at, o, t, data, nil)
		e.acknowledge(from, h)
	default:
		to := e.newReply()
		old := to.room(int(n))
		if n == size {
			r.FetchOp(at, o, t, data, old)
		} else {
			r.Accumulate(at, o, t, data, old)
		}
		e.answer(from, h, to, old)
	}
}

// takeScattered carries out an accumulate on several blocks.
func (e *Engine) takeScattered(from int, w *Window, h *wire.Header, data []byte, o op.Op, t op.Type, asks bool) {
	blocks, data, ok := e.scatter(from, w, h, data, int64(t.Size()))
	if !ok {
		return
	}
	total := int64(0)
	for i := range blocks {
		total += blocks[i].n
	}
	if o == op.NoOp && len(data) != 0 || o != op.NoOp && total != int64(len(data)) {
		e.refuse(from, "it has accumulated %d bytes where there are %d", len(data), total)
		return
	}
	var to *reply
	var old []byte
	if asks {
		to = e.newReply()
		old = to.room(int(total))
	}
	pos := int64(0)
	for _, b := range blocks {
		var with, before []byte
		if o != op.NoOp {
			with = data[pos : pos+b.n]
		}
		if asks {
			before = old[pos : pos+b.n]
		}
		b.region.Accumulate(b.at, o, t, with, before)
		pos += b.n
	}
	if asks {
		e.answer(from, h, to, old)
	} else {
		e.acknowledge(from, h)
	}
}

// takeCompare carries out a compare-and-swap.
func (e *Engine) takeCompare(from int, w *Window, h *wire.Header, data []byte) {
	t := op.Type(h.Aux >> accType)
	size := t.Size()
	if h.Aux>>accEnv != 0 || h.Aux&(1<<accType-1) != 0 || runsIn(h) != 0 || size == 0 || size > 16 || len(data) != 2*size {
		e.refuse(from, "it has compared elements of type %d with %d bytes", t, len(data))
		return
	}
	if !e.admits(from) {
		return
	}
	r, at, err := w.place(h.Arg, int64(size))
	if err != nil {
		e.deny(from, w, h, w.fault(h, uint64(size), err))
		return
	}
	to := e.newReply()
	old := to.room(size)
	r.CompareSwap(at, size, data[size:], data[:size], old)
	e.answer(from, h, to, old)
}

// takeGet begins to answer a get.
func (e *Engine) takeGet(from int, w *Window, h *wire.Header, payload []byte) {
	if !e.admits(from) {
		return
	}
	if runsIn(h) == 0 {
		n := e.length(from, payload)
		if n == 0 {
			e.refuse(from, "it has asked for no bytes")
		} else if n > 0 {
			g := pendingGet{window: h.Ctx, off: h.Arg, size: n, name: h.Name}
			if h.Flags&wire.ThenNotify != 0 {
				g.notice = uint32(h.Counter()) + 1
				if planted.NoticeEarly {
					w.countFor(&g)
					g.notice = 0
				}
			}
			e.queueGet(from, g)
		}
		return
	}
	blocks, rest, ok := e.scatter(from, w, h, payload, 1)
	if !ok {
		return
	}
	if len(rest) != 0 {
		e.refuse(from, "it has asked for data and sent %d bytes of some", len(rest))
		return
	}
	total := int64(0)
	for i := range blocks {
		total += blocks[i].n
	}
	to := e.newReply()
	data := to.room(int(total))
	pos := int64(0)
	for _, b := range blocks {
		b.region.Get(b.at, data[pos:pos+b.n])
		pos += b.n
	}
	e.answer(from, h, to, data)
	if h.Flags&wire.ThenNotify != 0 && w.whole(from, h) {
		w.countHere(h.Counter())
	}
}

// length reads the number of bytes that a frame asks for, -1 if it has none.
func (e *Engine) length(from int, payload []byte) int64 {
	if len(payload) == 8 {
		if n := binary.LittleEndian.Uint64(payload); n <= math.MaxInt64 {
			return int64(n)
		}
	}
	e.refuse(from, "it has asked for data by %d bytes that tell no length", len(payload))
	return -1
}

// block is a piece of memory that a frame accesses.
type block struct {
	region *apply.Region
	at, n  int64
}

// scatter finds the memory that the runs in front of a payload describe, and returns the rest of
// the payload. It reports false, and has answered, if there are no runs, if some of the memory is
// not there, or if it is more than a frame may access. The result is valid until the next call.
func (e *Engine) scatter(from int, w *Window, h *wire.Header, payload []byte, element int64) ([]block, []byte, bool) {
	n := runsIn(h)
	if n < 0 || n > runsMax || len(payload) < n*runSize {
		e.refuse(from, "it has sent %d runs in %d bytes", n, len(payload))
		return nil, nil, false
	}
	blocks, limit := e.pieces[:0], int64(wire.MaxPayload)
	for i := range n {
		r := decodeRuns(payload, i)
		size, ok := r.bytes(limit, element)
		if !ok {
			e.refuse(from, "it has sent a run of %d blocks of %d bytes", r.count, r.length)
			return nil, nil, false
		}
		limit -= size
		lo, span, ok := r.reach(h.Arg)
		err := error(errReach)
		if ok {
			err = errReach
			if span <= math.MaxInt64 {
				var region *apply.Region
				var at int64
				region, at, err = w.place(lo, int64(span))
				if err == nil {
					if r.stride < 0 {
						at += int64(span) - r.length
					}
					for k := range r.count {
						blocks = append(blocks, block{region, at + k*r.stride, r.length})
					}
					continue
				}
			}
			if w.dynamic != nil { // its blocks may be in several regions
				blocks, err = w.placeEach(blocks, h.Arg, &r)
			}
		}
		if err != nil {
			e.pieces = blocks[:0]
			e.deny(from, w, h, w.fault(h, uint64(size), err))
			return nil, nil, false
		}
	}
	e.pieces = blocks[:0]
	return blocks, payload[n*runSize:], true
}

// placeEach appends the blocks of a run for which reach has found that they fit into 64 bits.
func (w *Window) placeEach(blocks []block, base uint64, r *runs) ([]block, error) {
	first, _ := displaced(base, r.off)
	for k := range r.count {
		region, at, err := w.place(first+uint64(k*r.stride), r.length)
		if err != nil {
			return blocks, err
		}
		blocks = append(blocks, block{region, at, r.length})
	}
	return blocks, nil
}
