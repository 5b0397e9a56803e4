package tcp

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/wire"
)

var _ fabric.Fabric = (*streams)(nil)

// streams is the data path for every platform Go knows: two goroutines per
// connection copy between the socket and bounded queues, which Send fills and
// Poll empties. It costs a copy and two changes of goroutine per frame.
type streams struct {
	door   *door
	limits limits
	bell   chan struct{} // capacity 1: a ring is never lost and never blocks
	armed  atomic.Bool   // stored by Arm before its caller polls; loaded by tell after the queues changed
	wg     sync.WaitGroup

	asked []bool // under the engine's lock, as all of Send and Poll

	mu      sync.Mutex // guards what the goroutines share, down to the end
	room    sync.Cond  // something was taken from a queue, or put into one, or closing
	links   []*stream  // by peer; nil: none yet
	down    []bool
	queue   []delivery
	closing bool
}

// stream is one connection.
type stream struct {
	conn    net.Conn
	out     []byte // accepted by Send, not yet with the kernel
	spare   []byte // the buffer that out is swapped with
	refused bool   // a Send waits for room
	unread  int    // bytes of this peer in the queue
	wrote   bool   // the writer has ended
}

// delivery is a frame that has arrived, or with cause the end of a peer.
type delivery struct {
	from    int
	h       wire.Header
	payload []byte
	cause   error
}

const (
	// queueMax is how many bytes wait in either direction of a connection.
	queueMax = 512 << 10
	// turnMax is how many frames one Poll delivers.
	turnMax = 64
	// farewell is how long Close waits for the end of a peer's stream: to close
	// before it could throw away what the peer has not taken.
	farewell = 200 * time.Millisecond
)

func listenStreams(c Config) (*streams, string, error) {
	f := &streams{limits: c.limits.defaults(), bell: make(chan struct{}, 1)}
	f.room.L = &f.mu
	d, addr, err := newDoor(c.Job, f.limits, f.Wake)
	if err != nil {
		return nil, "", err
	}
	f.door = d
	f.asked, f.links, f.down = make([]bool, c.Job.Size), make([]*stream, c.Job.Size), make([]bool, c.Job.Size)
	return f, addr, nil
}

// Start tells the addresses of all processes of the job, by index, before the first Send.
func (f *streams) Start(addrs []string) error { return f.door.start(addrs) }

// Refused is how many callers failed to prove that they belong to the job.
func (f *streams) Refused() uint64 { return f.door.refused.Load() }

// Name implements fabric.Fabric.
func (f *streams) Name() string { return "tcp" }

// EagerMax implements fabric.Fabric.
func (f *streams) EagerMax() int { return eagerMax }

// ChunkMax implements fabric.Fabric.
func (f *streams) ChunkMax() int { return chunkMax }

// Send implements fabric.Fabric.
func (f *streams) Send(to int, h *wire.Header, payload []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.links[to]
	switch {
	case f.down[to]:
		return true
	case l == nil:
		if !f.asked[to] {
			f.asked[to] = true
			f.door.open(to)
		}
		return false
	case len(l.out) >= queueMax:
		l.refused = true
		return false
	}
	var b [wire.HeaderSize]byte
	h.Encode(b[:])
	l.out = append(append(l.out, b[:]...), payload...)
	f.room.Broadcast()
	return true
}

// Poll implements fabric.Fabric.
func (f *streams) Poll(s fabric.Sink, _ int) int {
	if f.door.news.Load() {
		f.adopt()
	}
	n := 0
	for ; n < turnMax; n++ {
		f.mu.Lock()
		if len(f.queue) == 0 {
			f.mu.Unlock()
			break
		}
		d := f.queue[0]
		f.queue[0] = delivery{}
		f.queue = f.queue[1:]
		lost := f.down[d.from]
		f.down[d.from] = lost || d.cause != nil
		if l := f.links[d.from]; l != nil && d.cause == nil {
			l.unread -= len(d.payload) + wire.HeaderSize
			f.room.Broadcast()
		}
		f.mu.Unlock()
		switch {
		case lost:
		case d.cause != nil:
			s.Down(d.from, d.cause)
		default:
			s.Frame(d.from, &d.h, d.payload)
		}
	}
	return n
}

// adopt takes over what the door has settled.
func (f *streams) adopt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.door.take() {
		switch {
		case r.conn != nil:
			l := &stream{conn: r.conn}
			f.links[r.peer] = l
			f.wg.Go(func() { f.read(r.peer, l) })
			f.wg.Go(func() { f.write(l) })
		case r.err != nil:
			f.queue = append(f.queue, delivery{from: r.peer, cause: r.err})
		default:
			f.asked[r.peer] = false
		}
	}
}

// tell rings if the process sleeps, after a queue has changed.
func (f *streams) tell() {
	if f.armed.Load() {
		f.Wake()
	}
}

// read moves frames from a connection to the queue until it ends.
func (f *streams) read(from int, l *stream) {
	var head [wire.HeaderSize]byte
	var err error
	for {
		d := delivery{from: from}
		if _, err = io.ReadFull(l.conn, head[:]); err != nil {
			break
		}
		if err = d.h.Decode(head[:]); err != nil {
			break
		}
		d.payload = make([]byte, d.h.Size)
		if _, err = io.ReadFull(l.conn, d.payload); err != nil {
			break
		}
		f.mu.Lock()
		for l.unread >= queueMax && !f.closing {
			f.room.Wait()
		}
		if !f.closing {
			f.queue = append(f.queue, d)
			l.unread += wire.HeaderSize + len(d.payload)
		}
		f.mu.Unlock()
		f.tell()
	}
	f.mu.Lock()
	f.queue = append(f.queue, delivery{from: from, cause: fmt.Errorf("tcp: connection with process %d: %w", from, err)})
	l.out, l.wrote = nil, true
	f.room.Broadcast()
	f.mu.Unlock()
	l.conn.Close()
	f.tell()
}

// write moves what Send has accepted to a connection.
func (f *streams) write(l *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !l.wrote {
		if len(l.out) == 0 {
			if f.closing {
				l.conn.(*net.TCPConn).CloseWrite()
				l.conn.SetReadDeadline(time.Now().Add(farewell))
				l.wrote = true
				break
			}
			f.room.Wait()
			continue
		}
		out := l.out
		l.out, l.spare = l.spare[:0], nil
		f.mu.Unlock()
		_, err := l.conn.Write(out)
		f.mu.Lock()
		l.spare = out
		if err != nil {
			l.conn.Close() // the reader reports it
			l.wrote = true
		}
		if l.refused {
			l.refused = false
			f.tell()
		}
	}
}

// Arm implements fabric.Fabric.
func (f *streams) Arm() { f.armed.Store(true) }

// Disarm implements fabric.Fabric.
func (f *streams) Disarm() { f.armed.Store(false) }

// Sleep implements fabric.Fabric.
func (f *streams) Sleep(idle time.Duration) {
	var limit <-chan time.Time
	if idle > 0 {
		limit = time.After(idle)
	}
	select {
	case <-f.bell:
	case <-f.door.ctx.Done():
	case <-limit:
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
	f.door.close()
	for _, l := range f.links {
		if l != nil {
			l.conn.SetWriteDeadline(time.Now().Add(f.limits.linger))
		}
	}
	f.wg.Wait()
	f.queue = nil
	return nil
}
