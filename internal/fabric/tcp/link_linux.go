package tcp

import (
	"errors"
	"io"
	"syscall"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// A link is one connection on the data path, under the engine's lock.
//
// Receiving: bytes are read into stage, [0,w) of it being in use, and frames
// that are whole there are delivered from there. Of a frame that is not, the
// sink is asked for the place; what has come is copied, and the rest is read
// straight into the place, together with the start of what follows into stage.
// While place is set, stage is empty. The tail that is read behind a place is
// short, because what it takes of the next long frame is copied once more.
//
// Sending: sent is how much of the frame on offer is on its way. The caller
// offers the same frame until it is accepted, so nothing else is kept.
type link struct {
	peer int
	fd   int

	stage  []byte
	w      int
	h      wire.Header // of the frame at hand
	place  []byte      // where its payload goes, nil: no frame is at hand
	filled int         // bytes of place that have come
	gather bool        // place is a buffer of the fabric's own

	sent    int
	onOffer uint64 // word 0 of the frame that was sent in part
	blocked bool   // the last Send was refused
	watched bool   // the epoll set waits for room to write
	broken  error  // a write failed, or the peer is given up: everything is dropped, Poll tells
	last    int    // turns of receiving since then

	out   bool // it is not in the epoll set
	finds int  // frames found without asking the set since the fabric was armed arms times
	arms  uint

	// Of a connection between hosts (see sealed_linux.go): records are gathered in
	// stage, place and gather are not used, h is of the frame opened last.
	seal   *wire.Sealed // nil between processes of one host
	record []byte       // the record on its way out, sent bytes of it being gone; nil: none
	asking bool         // record is an empty one, and no frame on offer
	reach  reach
}

const (
	// stageSize is how much one read takes when no place is known.
	stageSize = 16 << 10
	// tailSize is how much is read behind a place.
	tailSize = 1 << 10
	// packMax is up to which size a frame is copied together and written by
	// send, which beats sendmsg with two pieces by more than the copy costs.
	packMax = 2 << 10
	// readsPerTurn bounds how long one connection is served in one Poll.
	readsPerTurn = 4
)

// newLink takes the descriptor out of conn, which it closes. seal is nil between
// processes of one host.
func newLink(peer int, conn *socket, seal *wire.Sealed, buffer int) (*link, error) {
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	l := &link{peer: peer, fd: -1, seal: seal}
	e := raw.Control(func(fd uintptr) { l.fd, err = sys.DupSocket(fd) })
	if err = errors.Join(e, err); err != nil {
		return nil, err
	}
	if err := sys.TuneSocket(l.fd, buffer); err != nil {
		sys.CloseFD(l.fd)
		return nil, err
	}
	l.stage = make([]byte, stageSize)
	return l, nil
}

// again tells that a non-blocking call had nothing to do.
func again(e syscall.Errno) bool { return e == syscall.EAGAIN || e == syscall.EINTR }

// send is Fabric.Send on this connection.
func (l *link) send(f *Fabric, h *wire.Header, payload []byte) bool {
	if l.seal != nil {
		return l.sendSealed(f, h, payload)
	}
	if l.broken != nil {
		return true
	}
	if l.sent > 0 && l.onOffer != h.Word0() {
		panic("tcp: another frame offered while one is sent in part")
	}
	total := wire.HeaderSize + len(payload)
	var n int
	var e syscall.Errno
	switch {
	case total <= packMax:
		h.Encode(f.packed[:])
		copy(f.packed[wire.HeaderSize:], payload)
		n, e = sys.Send(l.fd, f.packed[l.sent:total])
	case l.sent < wire.HeaderSize:
		h.Encode(f.packed[:])
		n, e = f.pieces.Send(l.fd, f.packed[l.sent:wire.HeaderSize], payload)
	default:
		n, e = sys.Send(l.fd, payload[l.sent-wire.HeaderSize:])
	}
	if e == syscall.EFAULT {
		sys.Fault(payload, false) // the program's own fault, and not the peer's
	}
	if e != 0 && !again(e) {
		l.broken = e
		f.broken = true
		return true
	}
	if l.sent += n; l.sent == total {
		l.sent = 0
		l.accept(f)
		return true
	}
	return l.refuse(f, h)
}

// accept ends the wait for room to write.
func (l *link) accept(f *Fabric) {
	l.blocked = false
	if l.watched {
		l.watch(f, false)
	}
}

// refuse has Sleep wait for room to write, for the rest of the frame on offer.
func (l *link) refuse(f *Fabric, h *wire.Header) bool {
	l.onOffer, l.blocked = h.Word0(), true
	if !l.watched && f.sleep.armed.Load() {
		l.watch(f, true)
	}
	return false
}

// watch adds room to write to what the epoll set waits for, or takes it out.
func (l *link) watch(f *Fabric, on bool) {
	if f.set.Watch(l.fd, int32(l.peer), on) == nil {
		l.watched = on
	}
}

// receive reads and delivers what has come. It reports how much it did; an
// error ends the connection.
func (l *link) receive(f *Fabric, s fabric.Sink) (did int, err error) {
	for range readsPerTurn {
		n, asked, err := l.read(f)
		if n == 0 {
			return did, err
		}
		did++
		if l.place == nil {
			l.w += n
		} else if l.filled += n; l.filled >= len(l.place) {
			l.w = l.filled - len(l.place)
			l.placed(f, s)
		}
		k := 0
		if l.seal != nil {
			k, err = l.open(s)
		} else if l.place == nil {
			k, err = l.deliver(f, s)
		}
		if did += k; err != nil || n < asked {
			return did, err
		}
	}
	return did, nil
}

// read is one system call: n bytes of asked have come, to stage, or to place and
// then to stage. Zero means that nothing is there, or if err says so, nothing ever
// will be.
func (l *link) read(f *Fabric) (n, asked int, err error) {
	var e syscall.Errno
	if l.place == nil {
		asked = len(l.stage) - l.w
		n, e = sys.Recv(l.fd, l.stage[l.w:])
	} else {
		asked = len(l.place) - l.filled + tailSize
		n, e = f.pieces.Recv(l.fd, l.place[l.filled:], l.stage[:tailSize])
	}
	switch {
	case again(e):
		return 0, asked, nil
	case e == syscall.EFAULT && l.place != nil:
		sys.Fault(l.place[l.filled:], true) // the program's own fault, and not the peer's
		return 0, asked, e
	case e != 0:
		return 0, asked, e
	case n == 0:
		return 0, asked, io.EOF
	}
	return n, asked, nil
}

// placed delivers the frame whose payload has been read into its place.
func (l *link) placed(f *Fabric, s fabric.Sink) {
	place := l.place
	l.place = nil
	if l.gather {
		s.Frame(l.peer, &l.h, place)
		f.bufs = append(f.bufs, place[:cap(place)])
	} else {
		s.Placed(l.peer, &l.h)
	}
}

// deliver hands over what is whole in stage, and finds the place of what is not.
func (l *link) deliver(f *Fabric, s fabric.Sink) (did int, err error) {
	r := 0
	for l.w-r >= wire.HeaderSize {
		if err := l.h.Decode(l.stage[r:l.w]); err != nil {
			return did, err
		}
		r += wire.HeaderSize
		size := int(l.h.Size)
		if l.w-r >= size {
			s.Frame(l.peer, &l.h, l.stage[r:r+size:r+size])
			r += size
			did++
			continue
		}
		l.place = s.Place(l.peer, &l.h)
		if l.gather = l.place == nil; l.gather {
			l.place = f.buffer()
		}
		l.place = l.place[:size]
		l.filled = copy(l.place, l.stage[r:l.w])
		l.w = 0
		return did, nil
	}
	l.w = copy(l.stage, l.stage[r:l.w])
	return did, nil
}

// abandon returns what the connection holds of the fabric.
func (l *link) abandon(f *Fabric) {
	if l.place != nil && l.gather {
		f.bufs = append(f.bufs, l.place[:cap(l.place)])
	}
	l.place = nil
	l.drop(f)
}
