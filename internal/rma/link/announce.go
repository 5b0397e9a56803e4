package link

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/rma/operation"
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

// announce sends the announcing frames of o, if it needs some, at most QueueTurn bytes of memory at
// a time. It reports whether the first frame with data may be sent.
func (l *Link) announce(q *peer, o *Operation, element int64) bool {
	size := o.Size()
	if o.moved > 0 || o.announced == size || !o.target.dynamic || o.Off >= memhandle.Space || o.Kind != operation.Put && o.Kind != operation.Accumulate || o.Fn == op.NoOp {
		return true
	}
	chunk := int64(l.p.ChunkMax(int(o.target.Process)))
	if o.announced == 0 && l.inOneFrame(o, chunk, element) {
		return true
	}
	for turn := o.announced + QueueTurn; o.announced < size; {
		if q.stuck || o.announced >= turn {
			return false
		}
		l.hdr = wire.Header{Kind: wire.WinSpan, Chan: o.channel.number, Ctx: o.target.window, Arg: o.Off}
		if o.announced > 0 {
			l.hdr.Flags = wire.Spanned
		}
		if !o.inRuns {
			binary.LittleEndian.PutUint64(o.few[:], uint64(size))
			o.announced = size
			l.sendFrame(q, o, o.few[:])
			continue
		}
		k, covered := operation.Cut(l.runs[:], &o.there, o.announced, min(size-o.announced, QueueTurn), chunk, 1, false)
		l.hdr.Tag = int32(k)
		o.page = l.TakePage()
		for i := range l.runs[:k] {
			l.runs[i].Encode(o.page[i*operation.RunSize:])
		}
		o.announced += covered
		l.sendFrame(q, o, o.page[:k*operation.RunSize])
	}
	return !q.stuck
}

// inOneFrame reports whether all of o fits into one frame.
func (l *Link) inOneFrame(o *Operation, chunk, element int64) bool {
	size := o.Size()
	if o.inRuns && size <= chunk {
		_, covered := operation.Cut(l.runs[:], &o.there, 0, size, chunk, element, true)
		return covered == size
	}
	return size <= chunk-chunk%element
}
