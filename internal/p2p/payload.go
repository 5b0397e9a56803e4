package p2p

import "github.com/halo-mpi/halo/internal/wire"

// A message is contiguous memory or elements of any layout (mem.Mem). A short message is packed
// into a buffer of its request. A long message is never packed as a whole: the sender packs and
// streams stageSize bytes at a time, and the receiver unpacks each frame as it arrives. Long blocks
// are not packed, but moved by I/O vector: the sender sends them over tcp, and the receiver reads them
// from the memory of a sender on its node.

// stageSize is how many bytes of a stream are packed at a time.
const stageSize = wire.MaxPayload

// size is the length of the message, or of the receive buffer, in bytes.
func (r *Request) size() int { return r.mem.Len() }

// packed returns the bytes of a short message. They are valid until r is complete.
func (e *Engine) packed(r *Request) []byte {
	if b, contiguous := r.mem.Bytes(); contiguous {
		return b
	}
	r.buf = e.buffers.get(r.size())
	r.mem.Pack(r.buf, 0)
	return r.buf
}

// gather sets e.iov to blocks of the memory of r, from byte at of the message up to byte end at most.
// It returns the number of blocks, and the byte of the message that follows them.
func (e *Engine) gather(r *Request, at, end uint64) (n int, next uint64) {
	n, to := r.mem.Blocks(e.iov[:], int(at), int(end))
	return n, uint64(to)
}

// nextSlices sets e.iov to the next bytes of a stream, and returns the number of slices and
// of bytes.
func (e *Engine) nextSlices(r *Request) (n int, bytes uint64) {
	if r.mem.Gathers() && !r.hasPacked() {
		n, end := e.gather(r, r.moved, min(r.need, r.moved+testedMax))
		return n, end - r.moved
	}
	e.iov[0] = e.packedRest(r)
	return 1, uint64(len(e.iov[0]))
}

// hasPacked reports whether r.buf has packed bytes of a stream that have not been sent.
func (r *Request) hasPacked() bool {
	_, contiguous := r.mem.Bytes()
	return !contiguous && r.moved-r.staged < uint64(len(r.buf))
}

// packedRest returns the next bytes of a stream in one slice, which does not change while a
// frame of r is queued.
func (e *Engine) packedRest(r *Request) []byte {
	if b, contiguous := r.mem.Bytes(); contiguous {
		return b[r.moved:r.need]
	}
	if !r.hasPacked() {
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

// readRemote reads the bytes [at, end) of r from the sender's memory. The memory of r must gather
// (mem.Mem.Gathers).
func (e *Engine) readRemote(r *Request, at, end uint64) error {
	peer := int(r.peer)
	from := e.p.Reader(peer)
	for at < end {
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
