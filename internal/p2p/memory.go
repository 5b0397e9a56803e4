package p2p

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// The kernel reads and writes the memory of messages through sockets. For memory that is not
// mapped it returns the same error number as for other reasons, in the middle of a frame. Therefore
// the engine tests memory before it gives it to the kernel.
//
// A long message is tested piece by piece, each piece just before it is sent, or before it is received
// into: a test of the whole message would take a page fault for each page while the engine's lock is held, and
// memory for pages that nobody may ever ask for. Only the ends of the memory are tested in advance, because most
// errors are counts that are too large. An error there affects neither the connection nor the peer. If a later
// piece cannot be read, the sender tells the receiver so instead of sending the rest (wire.Unreadable), and both
// operations fail. If a later piece cannot be written, the receiver discards the rest of the message,
// and only the receive fails.

const (
	// copiedMax is the longest message in bytes that this process copies before the kernel reads it: a
	// copy tests the memory already.
	copiedMax = 2 << 10
	// testedMax is how many bytes of a stream are tested at a time: as many as one system call sends.
	testedMax = 4 * wire.MaxPayload
)

// unreadable is the error of a send whose memory cannot be read.
func unreadable(buf []byte) error { return inaccessible(buf, "sent from", "read") }

// unwritable is the error of a receive whose memory cannot be written.
func unwritable(buf []byte) error { return inaccessible(buf, "received into", "written") }

func inaccessible(buf []byte, way, access string) error {
	return class.Errorf(class.Buffer, "the %d bytes at %p that the message is %s cannot be %s", len(buf), unsafe.SliceData(buf), way, access)
}

// canRead reports whether a message of more than copiedMax bytes, in contiguous memory, can be sent to a
// process. It tests the ends of the memory, and only if a socket sends it.
func (e *Engine) canRead(to int32, b []byte) bool {
	if e.p.Near(int(to)) {
		return true
	}
	if planted.TestedWhole {
		return sys.Readable(b)
	}
	return sys.ReadableEnds(b)
}

// tested is up to which byte of a stream the memory is known to be readable. A send has no other use for the word,
// and a request no room for one more.
func (r *Request) tested() *uint64 { return &r.addr }

// canReadNext reports whether the next bytes of a stream, those of the first n slices of e.iov, can be
// read. It tests only what it has not tested before, and only if a socket sends it.
func (e *Engine) canReadNext(r *Request, n int) bool {
	if e.p.Near(int(r.peer)) || r.hasPacked() {
		return true
	}
	at, tested := r.moved, r.tested()
	for _, b := range e.iov[:n] {
		end := at + uint64(len(b))
		if end > *tested {
			if !sys.Readable(b[max(at, *tested)-at:]) {
				return false
			}
			*tested = end
		}
		at = end
	}
	return true
}

// cutStream ends a stream whose next bytes cannot be read: it tells the receiver, and the send fails.
func (e *Engine) cutStream(r *Request) {
	r.need = r.moved
	if b, contiguous := r.mem.Bytes(); contiguous {
		r.Status.Err = unreadable(b)
	} else {
		r.Status.Err = class.Errorf(class.Buffer, "the memory of the %d bytes of the message cannot be read from byte %d on", r.size(), r.moved)
	}
	e.hdr = wire.Header{Kind: wire.Data, Flags: wire.Unreadable, Name: r.remoteHandle, Arg: r.moved}
	r.queued = !e.p.Queue(int(r.peer), &e.hdr, nil, r)
}

// streamCut completes a receive whose sender cannot read the rest of the message. The error replaces any
// earlier error of the message, since the buffer is not filled.
func (e *Engine) streamCut(r *Request) {
	r.Status.Bytes = r.moved
	r.Status.Err = class.Errorf(class.Buffer, "rank %d cannot read the memory of its message from byte %d of %d on", r.Status.Source, r.moved, r.need)
	e.releaseHandle(r)
	e.finish(r, nil)
}

// canWriteEnds reports whether a message of n bytes can be received into the buffer of r. It tests the
// ends of the memory, and only buffers that a socket fills.
func (e *Engine) canWriteEnds(r *Request, n uint64) bool {
	if n <= copiedMax || e.p.Near(int(r.peer)) {
		return true
	}
	b, contiguous := r.mem.Bytes()
	return !contiguous || sys.WritableEnds(b[:n])
}

// canWriteData reports whether the bytes of a Data frame can be written to the buffer of r. After the first
// ones that cannot, it discards those of all frames that follow.
func (e *Engine) canWriteData(r *Request, h *wire.Header) bool {
	if e.p.Near(int(r.peer)) {
		return true
	}
	if r.discards {
		return false
	}
	b, contiguous := r.mem.Bytes()
	if contiguous && !sys.Writable(b[h.Arg:h.Arg+uint64(h.Size)]) {
		r.discards = true
		if r.Status.Err == nil {
			r.Status.Err = unwritable(b[:r.need])
		}
	}
	return !r.discards
}
