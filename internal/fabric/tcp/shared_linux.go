package tcp

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// A connection whose frames travel through memory carries single bytes, so that none is sent in part.
const (
	byteRing  = 1 // frames have arrived, or there is room for those that were refused
	byteLeave = 2 // Leave
)

// Ring wakes a peer whose frames travel through memory, and which is armed.
func (f *Fabric) Ring(to int) {
	l := f.routes.At(to).link
	if l == nil || !l.mem || l.broken != nil {
		return
	}
	// If there is no room for the byte, the peer has others to read, which wake it.
	f.packed[0] = byteRing
	if _, e := sys.Send(l.fd, f.packed[:1]); e != 0 && !again(e) {
		l.broken, f.broken = e, true
	}
}

// sendLeave is send of the only kind of frame that the connection carries.
func (l *link) sendLeave(f *Fabric, h *wire.Header) bool {
	if h.Kind != wire.Leave {
		panic(fmt.Sprintf("tcp: a frame of kind %d offered to a connection whose frames travel through memory", h.Kind))
	}
	f.packed[0] = byteLeave
	n, e := sys.Send(l.fd, f.packed[:1])
	if e != 0 && !again(e) {
		l.broken, f.broken = e, true
		return true
	}
	if n == 1 {
		l.accept(f)
		return true
	}
	return l.refuse(f, h)
}

// heed delivers what has arrived in memory, and acts on the bytes that have arrived on the connection.
func (l *link) heed(f *Fabric, s fabric.Sink) (did int, err error) {
	bytes := l.stage[:l.w]
	l.w = 0
	did = f.rings.Drain(l.peer, s)
	for _, b := range bytes {
		switch b {
		case byteRing:
		case byteLeave:
			l.h = wire.Header{Kind: wire.Leave}
			s.Frame(l.peer, &l.h, nil)
		default:
			return did, fmt.Errorf("byte %d on a connection whose frames travel through memory", b)
		}
	}
	return did, nil
}
