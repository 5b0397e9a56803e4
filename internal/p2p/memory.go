package p2p

import (
	"fmt"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/sys"
)

// The kernel reads and writes the memory of messages through sockets. For memory that is not
// mapped it returns the same error number as for other reasons, in the middle of a frame. Therefore
// the engine tests the memory before: an error then affects neither the connection nor the peer.

// copiedMax is the longest message in bytes that this process copies before the kernel reads it: a
// copy tests the memory already.
const copiedMax = 2 << 10

// unreadable is the error of a send whose memory cannot be read.
func unreadable(buf []byte) error { return inaccessible(buf, "sent from", "read") }

// unwritable is the error of a receive whose memory cannot be written.
func unwritable(buf []byte) error { return inaccessible(buf, "received into", "written") }

func inaccessible(buf []byte, way, access string) error {
	return &class.Error{Class: class.Buffer, Text: fmt.Sprintf("the %d bytes at %p that the message is %s cannot be %s", len(buf), unsafe.SliceData(buf), way, access)}
}

// canWrite reports whether the first n bytes of the buffer of r can be written. It tests only
// buffers that a socket fills.
func (e *Engine) canWrite(r *Request, n uint64) bool {
	if n <= copiedMax || e.p.Near(int(r.peer)) {
		return true
	}
	b, contiguous := r.mem.Bytes()
	return !contiguous || sys.Writable(b[:n])
}
