package p2p

import (
	"fmt"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/sys"
)

// Memory of messages through sockets is given to the kernel, which refuses what is not there with
// the same error number for every reason and in the middle of a frame. So it is tried before: the
// connection, and the other process, have no part in the error.

// copiedMax is up to which size a message is copied in this process first, in bytes.
const copiedMax = 2 << 10

// unreadable is the error of a send whose memory is not there.
func unreadable(buf []byte) error { return missing(buf, "sent from", "read") }

// unwritable is the error of a receive whose memory is not there.
func unwritable(buf []byte) error { return missing(buf, "received into", "written") }

func missing(buf []byte, way, access string) error {
	return &class.Error{Class: class.Buffer, Text: fmt.Sprintf("the %d bytes at %p that the message is %s cannot be %s", len(buf), unsafe.SliceData(buf), way, access)}
}

// takes reports whether the next n bytes of r, of which the payload comes through a socket, can be
// written.
func (e *Engine) takes(r *Request, n uint64) bool {
	if n <= copiedMax || e.p.Near(int(r.peer)) {
		return true
	}
	b, flat := r.mem.Bytes()
	return !flat || sys.Writable(b[:n])
}
