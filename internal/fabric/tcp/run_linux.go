package tcp

import (
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

var _ fabric.Runner = (*Fabric)(nil)

// runMax is how many frames go out in one system call. On loopback four frames
// of 64 KiB at once move a quarter faster than one by one; more hold up a stop of
// the world for too long (see package sys).
const runMax = 4

// A run is the frames of one system call.
type run struct {
	heads  [runMax][wire.HeaderSize]byte
	pieces sys.Run
}

// SendRun implements fabric.Runner.
func (f *Fabric) SendRun(to int, h *wire.Header, payload []byte) (taken int) {
	l := f.links[to]
	if l == nil || l.seal != nil || l.sent > 0 || l.broken != nil || len(payload) <= chunkMax {
		return 0
	}
	next := *h
	f.run.pieces.Reset()
	for i, at := 0, 0; i < runMax && at < len(payload); i++ {
		n := min(chunkMax, len(payload)-at)
		next.Size = uint32(n)
		next.Encode(f.run.heads[i][:])
		f.run.pieces.Add(f.run.heads[i][:])
		f.run.pieces.Add(payload[at : at+n])
		next.Arg += uint64(n)
		at += n
	}
	gone, e := f.run.pieces.Send(l.fd)
	if e != 0 {
		return 0 // Send will see what it is
	}
	next = *h
	for i := 0; i < runMax && taken < len(payload); i++ {
		n := min(chunkMax, len(payload)-taken)
		next.Size = uint32(n)
		if gone < wire.HeaderSize+n {
			if l.sent = gone; gone > 0 {
				l.refuse(f, &next)
			}
			break
		}
		gone -= wire.HeaderSize + n
		taken += n
	}
	return taken
}
