package tcp

import (
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

var _ fabric.Runner = (*Fabric)(nil)

// runMax is how many frames one system call sends. On loopback four frames of 64 KiB at
// once are a quarter faster than one by one. More would delay a stop-the-world for too
// long (see package sys).
const runMax = 4

// A run is the frames of one system call: headers, and slices that are split at the ends of
// frames. sys.Run has room for all.
type run struct {
	heads  [runMax][wire.HeaderSize]byte
	pieces sys.Run
}

// SendRun implements fabric.Runner.
func (f *Fabric) SendRun(to int, h *wire.Header, payload [][]byte) (taken int) {
	l := f.routes.At(to).link
	if l == nil || l.seal != nil || l.sent > 0 || l.broken != nil || l.left || l.single() {
		return 0
	}
	if l.held != nil && !l.flush(f) {
		return 0
	}
	size := 0
	for _, b := range payload {
		size += len(b)
	}
	if len(payload) == 1 && size <= chunkMax {
		return 0 // Send does that as well
	}
	size = f.frame(h, payload, size)
	f.calls++
	gone, e := f.run.pieces.Send(l.fd)
	if e != 0 {
		return 0 // Send handles the error
	}
	next := *h
	for taken < size {
		n := min(chunkMax, size-taken)
		next.Size = uint32(n)
		if gone < wire.HeaderSize+n {
			l.sent = gone
			if gone > 0 {
				l.refuse(f, &next)
			}
			break
		}
		gone -= wire.HeaderSize + n
		taken += n
	}
	return taken
}

// frame makes a run of at most runMax frames of the first size bytes of payload, and
// returns how many of them it holds.
func (f *Fabric) frame(h *wire.Header, payload [][]byte, size int) (held int) {
	next, run := *h, &f.run
	run.pieces.Reset()
	var b []byte
	for i := 0; i < runMax && held < size; i++ {
		n := min(chunkMax, size-held)
		next.Size = uint32(n)
		next.Encode(run.heads[i][:])
		run.pieces.Add(run.heads[i][:])
		next.Arg += uint64(n)
		held += n
		for n > 0 {
			if len(b) == 0 {
				b, payload = payload[0], payload[1:]
			}
			k := min(n, len(b))
			run.pieces.Add(b[:k])
			b = b[k:]
			n -= k
		}
	}
	return held
}
