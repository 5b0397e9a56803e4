package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/wire"
)

// A message is the bytes of a slice, or those of a part of the packed form of a
// dtype.Buffer. What is short is packed into the memory of its frame's request. What
// is long never is packed as a whole: the sender packs a stage's worth at a time and
// streams it, and the receiver unpacks what arrives where it arrives; from a slice
// of a process on the node it reads straight to long blocks, and short ones by way
// of a stage.

const (
	// stageSize bounds what is packed ahead of being sent, or read ahead of being
	// unpacked, in bytes.
	stageSize = wire.MaxPayload
	// gathered is how many blocks of memory one system call reads to.
	gathered = 64
)

// setPart makes p the message of r. It copies the buffer, so that the caller's may go.
func (r *Request) setPart(p dtype.Part) {
	if p.N > 0 {
		r.layout = *p.Buffer
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

// rest returns the bytes of a stream that follow those that have gone, or some of
// them. It is not called while a frame of the stream is queued.
func (e *Engine) rest(r *Request) []byte {
	if r.part.Buffer == nil {
		return r.buf[r.moved:r.need]
	}
	if r.moved == r.staged+uint64(len(r.buf)) {
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

// read fills n bytes of r, from r.moved on, from the sender's memory.
func (e *Engine) read(r *Request, n uint64) error {
	peer := int(r.peer)
	from := e.p.Reader(peer)
	if r.part.Buffer == nil {
		e.iov[0] = r.buf[r.moved : r.moved+n]
		err := from.Read(peer, e.iov[:1], r.addr+r.moved)
		e.iov[0] = nil
		return err
	}
	gathers := r.part.Gathers()
	if !gathers && e.stage == nil {
		e.stage = make([]byte, stageSize)
	}
	for at, end := r.moved, r.moved+n; at < end; {
		k, next := 1, min(at+stageSize, end)
		if gathers {
			var to int64
			k, to = r.part.Slices(e.iov[:], int64(at), int64(end-at))
			next = uint64(to)
		} else {
			e.iov[0] = e.stage[:next-at]
		}
		err := from.Read(peer, e.iov[:k], r.addr+at)
		clear(e.iov[:k])
		if err != nil {
			return err
		}
		if !gathers {
			r.part.Unpack(e.stage[:next-at], int64(at))
		}
		at = next
	}
	return nil
}

// IsendPart is Isend of a part of a buffer of any layout.
func (e *Engine) IsendPart(c *comm.Comm, ctx uint64, mode Mode, part dtype.Part, dest int, tag int32) *Request {
	r := e.SendInitPart(c, ctx, mode, part, dest, tag)
	r.Active = true
	e.startSend(r)
	return r
}

// SendInitPart is SendInit of a part of a buffer of any layout.
func (e *Engine) SendInitPart(c *comm.Comm, ctx uint64, mode Mode, part dtype.Part, dest int, tag int32) *Request {
	r := e.SendInit(c, ctx, mode, nil, dest, tag)
	r.setPart(part)
	return r
}

// IrecvPart is Irecv into a part of a buffer of any layout.
func (e *Engine) IrecvPart(c *comm.Comm, ctx uint64, part dtype.Part, source int, tag int32) *Request {
	r := e.RecvInitPart(c, ctx, part, source, tag)
	r.Active = true
	e.startRecv(r)
	return r
}

// RecvInitPart is RecvInit into a part of a buffer of any layout.
func (e *Engine) RecvInitPart(c *comm.Comm, ctx uint64, part dtype.Part, source int, tag int32) *Request {
	r := e.RecvInit(c, ctx, nil, source, tag)
	r.setPart(part)
	return r
}
