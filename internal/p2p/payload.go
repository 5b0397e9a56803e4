package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/wire"
)

// A message is the bytes of a slice, or those of a part of the packed form of a
// dtype.Buffer. What is short is packed into the memory of its frame's request. What
// is long never is packed as a whole: the sender packs a stage's worth at a time and
// streams it, and the receiver unpacks what arrives where it arrives. Blocks that are
// long themselves go by I/O vector: to tcp, and from the memory of a sender on the node.

// stageSize bounds what is packed ahead of being sent, in bytes.
const stageSize = wire.MaxPayload

// setPart makes p the message of r. It copies the buffer, so that the caller's may go.
// A part of no bytes is none, and its buffer tells the type of the bytes that r has.
func (r *Request) setPart(p dtype.Part) {
	if r.engine.checkers == nil { // else claims say more
		r.aux = auxOf(&p)
	} else if p.Own == More {
		r.aux = auxOf(&dtype.Part{Own: More})
	}
	if p.Buffer != nil {
		r.layout = *p.Buffer
	}
	if p.N > 0 {
		r.part = dtype.Part{Buffer: &r.layout, At: p.At, N: p.N}
	}
}

// size is the length of the message, or of the room for it, in bytes.
func (r *Request) size() int {
	if r.part.Buffer != nil {
		return int(r.part.N)
	}
	return len(r.buf)
}

// put stores payload as the bytes from at on, as far as there is room.
func (r *Request) put(payload []byte, at uint64) {
	if r.part.Buffer != nil {
		r.part.Unpack(payload, int64(at))
	} else {
		copy(r.buf[at:], payload)
	}
}

// get fills dst with the first bytes of the message.
func (r *Request) get(dst []byte) {
	if r.part.Buffer != nil {
		r.part.Pack(dst, 0)
	} else {
		copy(dst, r.buf)
	}
}

// take stores the message of s, a send of this process, in r.
func (r *Request) take(s *Request) {
	switch {
	case s.part.Buffer == nil:
		r.put(s.buf, 0)
	case r.part.Buffer == nil:
		s.get(r.buf)
	default:
		dtype.Copy(r.part, s.part)
	}
}

// packed returns the bytes of a short message, which stay until it is complete.
func (e *Engine) packed(r *Request) []byte {
	if r.part.Buffer != nil {
		r.buf, r.copied = e.buffers.get(int(r.part.N)), true
		r.part.Pack(r.buf, 0)
	}
	return r.buf
}

// gathers reports whether the blocks of r in memory are long enough to be handed to
// the system one by one.
func (r *Request) gathers() bool { return r.part.Buffer == nil || r.part.Gathers() }

// gather makes e.iov blocks of r in memory, from byte at on and up to byte end, and
// returns their number and the byte behind.
func (e *Engine) gather(r *Request, at, end uint64) (n int, next uint64) {
	if r.part.Buffer == nil {
		e.iov[0] = r.buf[at:end]
		return 1, end
	}
	n, to := r.part.Slices(e.iov[:], int64(at), int64(end-at))
	return n, uint64(to)
}

// follows makes e.iov what follows in a stream, and returns the number of slices
// and that of bytes.
func (e *Engine) follows(r *Request) (n int, bytes uint64) {
	if r.gathers() && !r.packs() {
		n, end := e.gather(r, r.moved, r.need)
		return n, end - r.moved
	}
	e.iov[0] = e.packedRest(r)
	return 1, uint64(len(e.iov[0]))
}

// packs reports whether there are packed bytes of a stream that have not gone.
func (r *Request) packs() bool { return r.part.Buffer != nil && r.moved-r.staged < uint64(len(r.buf)) }

// packedRest returns bytes of a stream that follow, in one slice that stays as it is
// while a frame is queued.
func (e *Engine) packedRest(r *Request) []byte {
	if r.part.Buffer == nil {
		return r.buf[r.moved:r.need]
	}
	if !r.packs() {
		if !r.copied {
			r.buf, r.copied = e.buffers.get(stageSize), true
		}
		chunk := e.p.ChunkMax(int(r.peer))
		r.buf = r.buf[:min(uint64(stageSize/chunk*chunk), r.need-r.moved)]
		r.part.Pack(r.buf, int64(r.moved))
		r.staged = r.moved
	}
	return r.buf[r.moved-r.staged:]
}

// read fills n bytes of r, which gathers, from r.moved on, from the sender's memory.
func (e *Engine) read(r *Request, n uint64) error {
	peer := int(r.peer)
	from := e.p.Reader(peer)
	for at, end := r.moved, r.moved+n; at < end; {
		blocks, next := e.gather(r, at, end)
		err := from.Read(peer, e.iov[:blocks], r.addr+at)
		clear(e.iov[:blocks])
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// IsendPart is Isend of a part of a buffer of any layout; or of buf if that is empty,
// and then its buffer, if there is one, only tells the type.
func (e *Engine) IsendPart(c *comm.Comm, ctx uint64, mode Mode, buf []byte, part dtype.Part, dest int, tag int32) *Request {
	r := e.SendInitPart(c, ctx, mode, buf, part, dest, tag)
	r.Active = true
	e.startSend(r)
	return r
}

// SendInitPart is SendInit of what IsendPart sends.
func (e *Engine) SendInitPart(c *comm.Comm, ctx uint64, mode Mode, buf []byte, part dtype.Part, dest int, tag int32) *Request {
	r := e.SendInit(c, ctx, mode, buf, dest, tag)
	r.setPart(part)
	return r
}

// IrecvPart is Irecv into a part of a buffer of any layout; or into buf if that is
// empty, and then its buffer, if there is one, only tells the type.
func (e *Engine) IrecvPart(c *comm.Comm, ctx uint64, buf []byte, part dtype.Part, source int, tag int32) *Request {
	r := e.RecvInitPart(c, ctx, buf, part, source, tag)
	r.Active = true
	e.startRecv(r)
	return r
}

// RecvInitPart is RecvInit into what IrecvPart receives into.
func (e *Engine) RecvInitPart(c *comm.Comm, ctx uint64, buf []byte, part dtype.Part, source int, tag int32) *Request {
	r := e.RecvInit(c, ctx, buf, source, tag)
	r.setPart(part)
	return r
}
