package tcp

import (
	"errors"
	"io"
	"syscall"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// A link is one connection on the data path, under the engine's lock.
//
// Receiving: bytes are read into stage, of which [0,w) is in use, and whole frames are
// delivered from there. For a frame that is not whole the sink returns the place. The part
// that has arrived is copied there, and the rest is read directly into the place, together
// with the start of what follows into stage. While place is set, stage is empty. The tail
// that is read behind a place is short, because the part of the next long frame in it is
// copied once more.
//
// Sending: sent is how many bytes of the current frame are sent. The caller sends the same
// frame again until it is accepted, so nothing else is kept, except held frames (held_linux.go).
type link struct {
	peer int
	fd   int

	stage  []byte
	w      int
	h      wire.Header // of the current frame
	place  []byte      // where its payload goes, nil: there is no current frame
	filled int         // bytes of place that have arrived
	gather bool        // place is a buffer of the fabric's own

	sent    int
	pending uint64 // word 0 of the frame that was sent in part
	blocked bool   // there was no room for the last frame, or for held ones
	watched bool   // the epoll set waits for room to write
	broken  error  // a write failed, or the peer is lost: all frames are dropped, Poll reports it
	last    int    // turns of receiving since then

	left  bool // this process has sent Leave, and sends no more frames
	heard bool // the peer's Leave has arrived

	mem bool // frames travel through memory: see shared_linux.go

	detached bool // it is not in the epoll set
	finds    int  // frames found by direct reads since the fabric was armed arms times
	arms     uint

	mixed   int  // frames of long messages that are sent one by one, see mixed_linux.go
	message bool // a short message has been delivered since the last read

	held     []byte // accepted frames that are not sent yet; nil: none
	heldSent int    // bytes of held that are sent

	// Of a connection between hosts (see sealed_linux.go): records are gathered in
	// stage, place and gather are not used, h is of the frame opened last.
	seal  *wire.Sealed // nil between processes of one host
	reach reach
}

const (
	// stageSize is how many bytes one read takes when no place is known.
	stageSize = 16 << 10
	// tailSize is how many bytes are read behind a place.
	tailSize = 1 << 10
	// packMax is the longest frame that is copied to one buffer for send, which is
	// faster than sendmsg with two pieces by more than the copy costs.
	packMax = 2 << 10
	// readsPerTurn bounds the reads of one connection in one Poll.
	readsPerTurn = 4
)

// newLink duplicates the descriptor of conn, and closes conn. seal is nil between processes
// of one host.
func newLink(peer int, conn *socket, seal *wire.Sealed, buffer int) (*link, error) {
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	l := &link{peer: peer, fd: -1, seal: seal}
	e := raw.Control(func(fd uintptr) { l.fd, err = sys.DupSocket(fd) })
	err = errors.Join(e, err)
	if err != nil {
		return nil, err
	}
	if err := sys.TuneSocket(l.fd, buffer); err != nil {
		sys.CloseFD(l.fd)
		return nil, err
	}
	l.stage = make([]byte, stageSize)
	return l, nil
}

// again reports whether a non-blocking call would have blocked or was interrupted.
func again(e syscall.Errno) bool { return e == syscall.EAGAIN || e == syscall.EINTR }

// send is Fabric.Send on this connection.
func (l *link) send(f *Fabric, h *wire.Header, payload []byte) bool {
	if l.broken != nil {
		return true
	}
	if l.mem {
		return l.sendLeave(f, h)
	}
	l.noteSent(h)
	if l.held != nil && (l.blocked || !short(payload)) && !l.flush(f) {
		return l.refuse(f, h)
	}
	if l.seal != nil || l.held != nil && !planted.HeldOvertaken || f.delivering && l.sent == 0 && short(payload) {
		return l.sendHeld(f, h, payload)
	}
	if l.sent > 0 && l.pending != h.Word0() {
		panic("tcp: another frame offered while one is sent in part")
	}
	total := wire.HeaderSize + len(payload)
	var n int
	var e syscall.Errno
	f.calls++
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
		sys.Fault(payload, false) // an error of the program, and not of the peer
	}
	if e != 0 && !again(e) {
		l.broken = e
		f.broken = true
		return true
	}
	l.sent += n
	if l.sent == total {
		l.sent = 0
		l.accept(f)
		return true
	}
	return l.refuse(f, h)
}

// accept ends waiting for room to write.
func (l *link) accept(f *Fabric) {
	l.blocked = false
	if l.watched {
		l.watch(f, false)
	}
}

// refuse makes Sleep return when there is room to write the rest of the refused frame.
func (l *link) refuse(f *Fabric, h *wire.Header) bool {
	l.pending = h.Word0()
	l.block(f)
	return false
}

// block makes Sleep return when there is room to write.
func (l *link) block(f *Fabric) {
	l.blocked = true
	if !l.watched && f.sleep.armed.Load() {
		l.watch(f, true)
	}
}

// watch makes the epoll set wait for room to write, or not.
func (l *link) watch(f *Fabric, on bool) {
	if f.set.Watch(l.fd, int32(l.peer), on) == nil {
		l.watched = on
	}
}

// receive reads and delivers what has arrived. It reports how much it did; an error ends
// the connection.
func (l *link) receive(f *Fabric, s fabric.Sink) (did int, err error) {
	for range readsPerTurn {
		n, asked, err := l.read(f)
		if n == 0 {
			return did, err
		}
		did++
		f.delivering = !planted.AnswersAlone
		if l.place == nil {
			l.w += n
		} else {
			l.filled += n
			if l.filled >= len(l.place) {
				l.w = l.filled - len(l.place)
				l.placed(f, s)
			}
		}
		k := 0
		switch {
		case l.mem:
			k, err = l.heed(f, s)
		case l.seal != nil:
			k, err = l.open(s)
		case l.place == nil:
			k, err = l.deliver(f, s)
		}
		f.delivering = false
		if len(f.holding) > 0 {
			f.sendAnswers()
		}
		did += k
		if err != nil || n < asked || l.message {
			l.message = false
			return did, err
		}
	}
	return did, nil
}

// read is one system call: it reads n of at most asked bytes to stage, or to place and then
// to stage. Zero means that nothing has arrived, or with an error that the connection has
// ended.
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
		sys.Fault(l.place[l.filled:], true) // an error of the program, and not of the peer
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

// deliver delivers the whole frames in stage, and sets place for a frame that is not whole.
func (l *link) deliver(f *Fabric, s fabric.Sink) (did int, err error) {
	r := 0
	for l.w-r >= wire.HeaderSize {
		if err := l.h.Decode(l.stage[r:l.w]); err != nil {
			return did, err
		}
		r += wire.HeaderSize
		size := int(l.h.Size)
		if l.w-r >= size {
			l.noteArrived(&l.h)
			s.Frame(l.peer, &l.h, l.stage[r:r+size:r+size])
			r += size
			did++
			continue
		}
		l.place = s.Place(l.peer, &l.h)
		l.gather = l.place == nil
		if l.gather {
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

// abandon returns the buffers of the connection to the fabric.
func (l *link) abandon(f *Fabric) {
	if l.place != nil && l.gather {
		f.bufs = append(f.bufs, l.place[:cap(l.place)])
	}
	l.place = nil
	l.drop(f)
}
