package tcp

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/wire"
)

var _ fabric.Fabric = (*streams)(nil)

// streams is the data path for every platform Go knows: two goroutines per
// connection copy between the socket and bounded buffers, which Send fills and
// Poll empties. It costs a copy and two switches of goroutines per frame. Other
// hosts are monitored by the kernel's keepalive only, which takes some seconds.
type streams struct {
	connector *connector
	limits    limits
	bell      chan struct{} // capacity 1: a ring is never lost and never blocks
	armed     atomic.Bool   // stored by Arm before its caller polls; loaded by read after it has changed the buffer
	wg        sync.WaitGroup

	// Under the engine's lock.
	routes peers.Table[route[stream]]
	active []*stream
	h      wire.Header    // of the current frame
	parted func(peer int) // Config.Parted
	rings  Rings          // Config.Rings; there is no memory on these platforms
	idle   int            // turns in a row that found nothing

	mu      sync.Mutex // guards what the goroutines share
	room    sync.Cond  // a buffer has changed, or closing
	closing bool
}

// stream is one connection.
type stream struct {
	peer  int
	conn  *socket
	at    []byte       // taken from in, not yet delivered; under the engine's lock
	seal  *wire.Sealed // not nil: the peer is on another host; under the engine's lock
	last  int          // turns of receiving since the peer was lost; under the engine's lock
	heard bool         // the peer's Leave has arrived; under the engine's lock

	// Under streams.mu.
	in      []byte // read, not yet taken by Poll
	err     error  // why the reader has ended
	out     []byte // accepted by Send, not yet taken by the writer
	refused bool   // a Send waits for room
	left    bool   // Leave is in out, or was: this process sends no more frames
	flushed bool   // Leave is sent
	ended   bool   // the writer has ended
}

const (
	// bufferMax is how many bytes wait in either direction of a connection,
	// plus what one read or one frame adds.
	bufferMax = 256 << 10
	// turnMax is how many frames of a connection one Poll delivers.
	turnMax = 1024
	// The runtime polls sockets when a P is idle, otherwise every 10 ms. A poller that finds
	// nothing for idleTurns therefore sleeps for idlePause.
	idleTurns = 16
	idlePause = 20 * time.Microsecond
	// closeWait is how long Close waits for the end of a peer's stream: closing before
	// that could discard what the peer has not read.
	closeWait = 200 * time.Millisecond
)

func listenStreams(c Config) (*streams, string, error) {
	f := &streams{limits: c.limits.defaults(), parted: c.Parted, rings: c.Rings, bell: make(chan struct{}, 1)}
	f.room.L = &f.mu
	d, addr, err := newConnector(&c, f.limits, f.Wake)
	if err != nil {
		return nil, "", err
	}
	f.connector = d
	f.routes = peers.Make[route[stream]](c.Job.Size, nil)
	return f, addr, nil
}

// Start sets the addresses of all processes of the job, by index. It, or StartLookup, is called
// before the first Send.
func (f *streams) Start(addrs []string) error { return f.connector.start(addrs) }

// StartLookup sets the function by which the fabric finds the address of a process that it is to
// reach, until Start is called.
func (f *streams) StartLookup(l Lookup) { f.connector.startLookup(l) }

// Refused is how many callers failed to prove that they belong to the job.
func (f *streams) Refused() uint64 { return f.connector.refused.Load() }

// Name implements fabric.Fabric.
func (f *streams) Name() string { return "tcp" }

// EagerMax implements fabric.Fabric.
func (f *streams) EagerMax() int { return eagerMax }

// ChunkMax implements fabric.Fabric.
func (f *streams) ChunkMax() int { return chunkMax }

// Send implements fabric.Fabric.
func (f *streams) Send(to int, h *wire.Header, payload []byte) bool {
	q := f.routes.At(to)
	if q.link == nil {
		if h.Kind == wire.Leave && f.connector.abroad.has(to) {
			return q.down || f.leaveNone(to)
		}
		f.Reach(to)
		return q.down
	}
	l := q.link
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.left { // a new connection follows
		return false
	}
	l.refused = len(l.out) >= bufferMax && !l.ended
	if l.refused {
		return false
	}
	if l.ended {
		return true
	}
	if l.seal != nil {
		l.out = l.seal.Seal(slices.Grow(l.out, wire.RecordMax), h, payload)
	} else {
		var b [wire.HeaderSize]byte
		h.Encode(b[:])
		l.out = append(append(l.out, b[:]...), payload...)
	}
	l.left = h.Kind == wire.Leave && f.connector.abroad.has(to)
	f.room.Broadcast()
	return true
}

// leaveNone leaves a process of another job to which there is no connection: see Fabric.
func (f *streams) leaveNone(to int) bool {
	if !f.connector.abandon(to) {
		return false
	}
	f.routes.At(to).asked = false
	f.parted(to)
	return true
}

// Reach opens the connection with a peer if there is none, so that this process learns of the peer's
// failure.
func (f *streams) Reach(to int) {
	if q := f.routes.At(to); q.link == nil && !q.down && !q.asked {
		q.asked = true
		f.connector.open(to)
	}
}

// Introduce makes a process of another job known by its local number.
func (f *streams) Introduce(number int, r Remote) { f.connector.introduce(number, r) }

// Connected reports whether there is a connection with a peer, or one is being opened.
func (f *streams) Connected(to int) bool {
	q := f.routes.At(to)
	return q.link != nil || !q.down && f.connector.connecting(to)
}

// Forget ends what the fabric knows of a process of another job, and attempts to open a connection: see Fabric.
func (f *streams) Forget(number int) bool {
	q := f.routes.At(number)
	if q.link != nil || !f.connector.forget(number, q.down) {
		return false
	}
	f.routes.Forget(number)
	return true
}

// Left records that a peer sends no more frames on the connection on which its Leave has arrived. The
// connection ends when this process has sent its own, and the peer has ended the stream behind its
// Leave.
func (f *streams) Left(from int) {
	if l := f.routes.At(from).link; l != nil {
		l.heard = true
	}
}

// release closes a connection and removes it.
func (f *streams) release(l *stream) {
	l.conn.Close()
	f.routes.At(l.peer).link = nil
	f.active = slices.DeleteFunc(f.active, func(a *stream) bool { return a == l })
}

// Place returns the address for processes of other jobs: see Fabric.
func (f *streams) Place(from address.IP) (string, error) { return f.connector.place(from) }

// Ring wakes a peer whose frames travel through memory. There is none on these platforms.
func (f *streams) Ring(int) {}

// OpenPort opens a port: see Fabric.
func (f *streams) OpenPort(secret [32]byte, host string, port int) (*Port, error) {
	return f.connector.openPort(secret, host, port)
}

// CallPort calls a port: see Fabric.
func (f *streams) CallPort(ctx context.Context, addr string, secret [32]byte) (*Call, error) {
	return f.connector.callPort(ctx, addr, secret)
}

// Poll implements fabric.Fabric.
func (f *streams) Poll(s fabric.Sink, _ int) int {
	n := 0
	if f.connector.news.Load() {
		n += f.adopt(s)
	}
	for i := len(f.active) - 1; i >= 0; i-- { // backwards: receive may remove the current one
		n += f.receive(s, f.active[i])
	}
	switch {
	case n > 0:
		f.idle = 0
	case f.idle < idleTurns:
		f.idle++
		runtime.Gosched() // for the goroutines that read and write
	default:
		f.idle = 0
		time.Sleep(idlePause)
	}
	return n
}

// adopt takes over the results of the connector.
func (f *streams) adopt(s fabric.Sink) int {
	results := f.connector.take()
	for _, r := range results {
		q := f.routes.At(r.peer)
		switch {
		case r.conn != nil && q.down:
			r.close()
		case r.conn != nil:
			if f.rings != nil && r.peer >= f.connector.job.Size {
				f.rings.Attach(r.peer, nil, r.memWhy)
			}
			l := &stream{peer: r.peer, conn: r.conn, seal: r.seal}
			if r.seal != nil {
				_ = r.conn.keepAlive(2 * f.limits.silence) // without it the failure of a host is detected later
			}
			q.link = l
			f.active = append(f.active, l)
			f.wg.Go(func() { f.read(l) })
			f.wg.Go(func() { f.write(l) })
		case r.err != nil && q.link != nil: // what has arrived is delivered first
			f.mu.Lock()
			q.link.err = r.err
			f.mu.Unlock()
		case r.err != nil:
			q.down = true
			s.Down(r.peer, r.err)
		default:
			q.asked = false
		}
	}
	return len(results)
}

// Lose reports that a peer has failed; the code that monitors the processes calls it. A later
// Poll delivers what has arrived from the peer, then Down. Callable from any goroutine.
func (f *streams) Lose(peer int, cause error) { f.connector.peerFailed(peer, cause) }

// receive delivers what has arrived from one peer.
func (f *streams) receive(s fabric.Sink, l *stream) (did int) {
	f.mu.Lock()
	l.at = append(l.at, l.in...)
	l.in = l.in[:0]
	err := l.err
	f.room.Broadcast()
	f.mu.Unlock()
	r := 0
	for did < turnMax {
		n, payload, e := f.next(l, l.at[r:])
		if e != nil {
			err = e
		}
		if n == 0 {
			break
		}
		if f.h.Kind != 0 { // else a keepalive
			s.Frame(l.peer, &f.h, payload)
		}
		r += n
		did++
	}
	l.at = l.at[:copy(l.at, l.at[r:])]
	f.mu.Lock()
	flushed := l.flushed
	f.mu.Unlock()
	if err == nil || err == io.EOF && l.heard && !flushed { // this process leaves next
		return did
	}
	l.last++
	if did == turnMax && l.last <= lastTurns {
		return did
	}
	f.release(l)
	if flushed && l.heard && f.connector.part(l.peer) {
		f.routes.At(l.peer).asked = false
		f.parted(l.peer)
		return did + 1
	}
	f.routes.At(l.peer).down = true
	s.Down(l.peer, fmt.Errorf("tcp: connection with %s: %w", f.connector.called(l.peer), err))
	return did + 1
}

// next decodes the frame at the start of b, the header to f.h. n is 0 if the frame is not
// whole.
func (f *streams) next(l *stream, b []byte) (n int, payload []byte, err error) {
	if l.seal != nil {
		return l.seal.Open(b, &f.h)
	}
	if len(b) < wire.HeaderSize {
		return 0, nil, nil
	}
	if err := f.h.Decode(b); err != nil {
		return 0, nil, err
	}
	n = wire.HeaderSize + int(f.h.Size)
	if n > len(b) {
		return 0, nil, nil
	}
	return n, b[wire.HeaderSize:n:n], nil
}

// read moves bytes from a connection to its buffer until it ends.
func (f *streams) read(l *stream) {
	b := make([]byte, wire.MaxPayload)
	for {
		n, err := l.conn.Read(b)
		f.mu.Lock()
		for len(l.in) >= bufferMax && !f.closing && !l.ended {
			f.room.Wait()
		}
		if !f.closing { // else discarded
			l.in = append(l.in, b[:n]...)
		}
		if err != nil {
			l.err = err
			l.ended = l.ended || err != io.EOF // else the writer may still have to send Leave
			f.room.Broadcast()
		}
		f.mu.Unlock()
		if f.armed.Load() {
			f.Wake()
		}
		if err != nil {
			if err != io.EOF {
				l.conn.Close()
			}
			return
		}
	}
}

// write moves what Send has accepted to a connection.
func (f *streams) write(l *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b []byte
	for !l.ended {
		if len(l.out) == 0 {
			if l.left {
				l.conn.CloseWrite()
				l.flushed = true
				f.Wake()
				return
			}
			if f.closing {
				l.conn.CloseWrite()
				l.conn.SetReadDeadline(time.Now().Add(closeWait))
				return
			}
			f.room.Wait()
			continue
		}
		b, l.out = l.out, b[:0]
		f.mu.Unlock()
		_, err := l.conn.Write(b)
		f.mu.Lock()
		if err != nil {
			l.ended = true
			l.conn.Close() // the reader reports it
		}
		if l.refused {
			l.refused = false
			f.Wake()
		}
	}
}

// Arm implements fabric.Fabric.
func (f *streams) Arm() { f.armed.Store(true) }

// Disarm implements fabric.Fabric.
func (f *streams) Disarm() { f.armed.Store(false) }

// Sleep implements fabric.Fabric.
func (f *streams) Sleep() {
	select {
	case <-f.bell:
	case <-f.connector.ctx.Done():
	}
}

// Wake implements fabric.Fabric.
func (f *streams) Wake() {
	select {
	case f.bell <- struct{}{}:
	default:
	}
}

// Close implements fabric.Fabric.
func (f *streams) Close() error {
	f.mu.Lock()
	before := f.closing
	f.closing = true
	f.room.Broadcast()
	f.mu.Unlock()
	if before {
		return nil
	}
	f.connector.close()
	for _, l := range f.active {
		l.conn.SetWriteDeadline(time.Now().Add(f.limits.linger))
	}
	f.wg.Wait()
	for _, l := range f.active {
		l.conn.Close()
	}
	return nil
}
