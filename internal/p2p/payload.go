package p2p

import "github.com/halo-mpi/halo/internal/wire"

// A message is contiguous memory, or elements of any layout (mem.Mem). What is short is packed
// into the memory of its frame's request. What is long never is packed as a whole: the sender
// packs a stage's worth at a time and streams it, and the receiver unpacks what arrives where it
// arrives. Blocks that are long themselves go by I/O vector: to tcp, and from the memory of a
// sender on the node.

// stageSize bounds what is packed ahead of being sent, in bytes.
const stageSize = wire.MaxPayload

// size is the length of the message, or of the room for it, in bytes.
func (r *Request) size() int { return r.mem.Len() }

// packed returns the bytes of a short message, which stay until it is complete.
func (e *Engine) packed(r *Request) []byte {
	if b, flat := r.mem.Bytes(); flat {
		return b
	}
	r.buf = e.buffers.get(r.size())
	r.mem.Pack(r.buf, 0)
	return r.buf
}

// gather makes e.iov blocks of r in memory, from byte at on and up to byte end, and
// returns their number and the byte behind.
func (e *Engine) gather(r *Request, at, end uint64) (n int, next uint64) {
	n, to := r.mem.Blocks(e.iov[:], int(at), int(end))
	return n, uint64(to)
}

// follows makes e.iov what follows in a stream, and returns the number of slices
// and that of bytes.
func (e *Engine) follows(r *Request) (n int, bytes uint64) {
	if r.mem.Gathers() && !r.packs() {
		n, end := e.gather(r, r.moved, r.need)
		return n, end - r.moved
	}
	e.iov[0] = e.packedRest(r)
	return 1, uint64(len(e.iov[0]))
}

// packs reports whether there are packed bytes of a stream that have not gone.
func (r *Request) packs() bool {
	_, flat := r.mem.Bytes()
	return !flat && r.moved-r.staged < uint64(len(r.buf))
}

// packedRest returns bytes of a stream that follow, in one slice that stays as it is
// while a frame is queued.
func (e *Engine) packedRest(r *Request) []byte {
	if b, flat := r.mem.Bytes(); flat {
		return b[r.moved:r.need]
	}
	if !r.packs() {
		if r.buf == nil {
			r.buf = e.buffers.get(stageSize)
		}
		chunk := e.p.ChunkMax(int(r.peer))
		r.buf = r.buf[:min(uint64(stageSize/chunk*chunk), r.need-r.moved)]
		r.mem.Pack(r.buf, int(r.moved))
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
