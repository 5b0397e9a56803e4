package rma

import (
	"encoding/binary"
	"math"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Long accesses to dynamic windows
//
// Only the target knows which memory is attached. It carries out one frame as a whole or not at
// all. Without more, an operation of several frames would change memory before the first frame that
// reaches memory which is not attached, and an error must change nothing. So frames without data
// come first (WinSpan): they say which memory the operation accesses, and the target refuses all
// that follows if one of the bytes is not attached. If memory is detached between two frames of an
// operation, a part of the operation may have been carried out.

// announce sends the announcing frames of o, if it needs some, at most queueTurn bytes of memory at
// a time. It reports whether the first frame with data may be sent.
func (e *Engine) announce(q *linkPeer, o *operation, element int64) bool {
	size := o.size()
	if o.moved > 0 || o.announced == size || o.target.w.dynamic == nil || o.off >= memhandle.Space || o.Kind != Put && o.Kind != Accumulate || o.Fn == op.NoOp {
		return true
	}
	chunk := int64(e.p.ChunkMax(int(o.target.process)))
	if o.announced == 0 && e.inOneFrame(o, chunk, element) {
		return true
	}
	for turn := o.announced + queueTurn; o.announced < size; {
		if q.stuck || o.announced >= turn {
			return false
		}
		e.hdr = wire.Header{Kind: wire.WinSpan, Chan: o.channel.number, Ctx: o.target.w.id, Arg: o.off}
		if o.announced > 0 {
			e.hdr.Flags = wire.Spanned
		}
		if !o.inRuns {
			binary.LittleEndian.PutUint64(o.few[:], uint64(size))
			o.announced = size
			e.sendFrame(q, o, o.few[:])
			continue
		}
		k, covered := cut(e.runs[:], &o.there, o.announced, min(size-o.announced, queueTurn), chunk, 1, false)
		e.hdr.Tag = int32(k)
		o.page = e.takePage()
		for i := range e.runs[:k] {
			e.runs[i].encode(o.page[i*runSize:])
		}
		o.announced += covered
		e.sendFrame(q, o, o.page[:k*runSize])
	}
	return !q.stuck
}

// inOneFrame reports whether all of o fits into one frame.
func (e *Engine) inOneFrame(o *operation, chunk, element int64) bool {
	size := o.size()
	if o.inRuns && size <= chunk {
		_, covered := cut(e.runs[:], &o.there, 0, size, chunk, element, true)
		return covered == size
	}
	return size <= chunk-chunk%element
}

// takeSpan checks that the memory is attached which the following frames of an operation access.
func (e *Engine) takeSpan(from int, w *Window, h *wire.Header, payload []byte) {
	k := faultKey{int32(from), h.Chan}
	if h.Flags&wire.Spanned == 0 {
		delete(w.denied, k)
	}
	if w.dynamic == nil {
		e.refuse(from, "it has told of an access to memory that is not attached, but made with its window")
		return
	}
	count := int(h.Tag)
	if count == 0 {
		n := e.length(from, payload)
		if n < 0 {
			return
		}
		if _, _, err := w.place(h.Arg, n); err != nil {
			w.denies(k, w.fault(h, uint64(n), err))
		}
		return
	}
	if count < 0 || count > runsMax || len(payload) != count*runSize {
		e.refuse(from, "it has told of %d runs in %d bytes", count, len(payload))
		return
	}
	for i := range count {
		r := decodeRuns(payload, i)
		size, ok := r.bytes(math.MaxInt64, 1)
		if !ok {
			e.refuse(from, "it has told of a run of %d blocks of %d bytes", r.count, r.length)
			return
		}
		err := error(errReach)
		if lo, n, ok := r.reach(h.Arg); ok && n <= math.MaxInt64 {
			_, _, err = w.place(lo, int64(n))
			if err != nil && w.dynamic.holds(lo, n, &r) {
				err = nil
			}
		}
		if err != nil {
			w.denies(k, w.fault(h, uint64(size), err))
			return
		}
	}
}

// denies notes that the following frames of an operation, from a member by a channel, are to be
// refused.
func (w *Window) denies(k faultKey, f *fault) {
	if w.denied == nil {
		w.denied = make(map[faultKey]fault)
	}
	if _, ok := w.denied[k]; !ok {
		w.denied[k] = *f
	}
}

// spanned refuses a frame of an operation that was denied, and reports whether it did.
func (e *Engine) spanned(from int, w *Window, h *wire.Header) bool {
	if h.Flags&wire.Spanned == 0 || len(w.denied) == 0 {
		return false
	}
	f, denied := w.denied[faultKey{int32(from), h.Chan}]
	if denied {
		f.kind = h.Kind
		e.deny(from, w, h, &f)
	}
	return denied
}

// holds reports whether the blocks of a run are attached, which reach n bytes from lo on; bytes between
// blocks need not be. The lock is held.
func (a *attached) holds(lo, n uint64, r *runs) bool {
	return a.Holds(lo, n, func(from, to uint64) bool { return r.overlaps(from-lo, to-lo) })
}

// overlaps reports whether a block has a byte of those from lo to hi, counted from the first byte
// of the lowest block. They are within what reach has found, less than 2^63 bytes.
func (r *runs) overlaps(lo, hi uint64) bool {
	step, length := dtype.Magnitude(r.stride), uint64(r.length)
	k := uint64(0) // the first block that does not end before lo
	if lo >= length {
		if step == 0 {
			return false
		}
		k = (lo-length)/step + 1
	}
	return k < uint64(r.count) && k*step < hi
}
