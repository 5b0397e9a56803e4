package tcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// errLeft ends a connection that both processes have left.
var errLeft = errors.New("both processes have left the connection")

var _ fabric.Fabric = (*Fabric)(nil)

// Fabric is the data path on Linux: raw non-blocking sockets under the engine's lock, and an
// epoll set of its own to find the ready ones and to sleep on.
//
// Poll with a hint reads that peer's socket directly, without epoll: one system call a turn
// while a reply is awaited. Every sweepEvery turns, or without a hint, it polls all sockets:
// by a read of each while they are few, otherwise by epoll_wait. A socket that is read
// directly all the time is detached from the set (detached_linux.go).
type Fabric struct {
	connector *connector
	set       *sys.Epoll
	sleep     sleeper
	limits    limits

	// Under the engine's lock.
	routes peers.Table[route[link]]
	active []*link // established links
	turns  uint
	broken bool // a link is broken and Poll has not reported it yet
	bufs   [][]byte
	parted func(peer int) // Config.Parted
	rings  Rings          // Config.Rings

	holding    []*link // of the active ones: with held frames, see held_linux.go
	delivering bool    // the frames of a read are being delivered
	calls      uint    // system calls that write, for tests

	detached []*link // of the active ones: not in set, see countFind
	arms     uint    // how often the fabric was armed

	pieces sys.Pieces
	run    run
	packed [packMax]byte // a small frame on its way out
}

const (
	// sweepEvery is after how many turns with a hint Poll polls all sockets.
	sweepEvery = 32
	// fewLinks is up to how many connections a sweep reads each one directly. An empty
	// read costs 0.35 us. An empty epoll_wait costs 0.18 us for all of them, but if a
	// connection is ready it costs that in addition to the read.
	fewLinks = 1
)

// Listen opens the port of a process and accepts its peers from then on. The peers need the
// address for Start.
func Listen(c Config) (*Fabric, string, error) {
	f := &Fabric{limits: c.limits.defaults(), parted: c.Parted, rings: c.Rings}
	if err := f.sleep.open(); err != nil {
		return nil, "", fmt.Errorf("tcp: %w", err)
	}
	f.set = f.sleep.set
	d, addr, err := newConnector(&c, f.limits, f.Wake)
	if err != nil {
		f.sleep.close()
		return nil, "", err
	}
	f.connector = d
	f.routes = peers.Make[route[link]](c.Job.Size, nil)
	f.detached = make([]*link, 0, detachedMax) // so that polling does not allocate
	return f, addr, nil
}

// Start sets the addresses of all processes of the job, by index. It, or StartLookup, is called
// before the first Send.
func (f *Fabric) Start(addrs []string) error { return f.connector.start(addrs) }

// StartLookup sets the function by which the fabric finds the address of a process that it is to
// reach, until Start is called.
func (f *Fabric) StartLookup(l Lookup) { f.connector.startLookup(l) }

// Refused is how many callers failed to prove that they belong to the job.
func (f *Fabric) Refused() uint64 { return f.connector.refused.Load() }

// Name implements fabric.Fabric.
func (f *Fabric) Name() string { return "tcp" }

// EagerMax implements fabric.Fabric.
func (f *Fabric) EagerMax() int { return eagerMax }

// ChunkMax implements fabric.Fabric.
func (f *Fabric) ChunkMax() int { return chunkMax }

// Send implements fabric.Fabric: one system call.
func (f *Fabric) Send(to int, h *wire.Header, payload []byte) bool {
	r := f.routes.At(to)
	if l := r.link; l != nil {
		if l.left { // a new connection follows
			return false
		}
		if !l.send(f, h, payload) {
			return false
		}
		if h.Kind == wire.Leave && f.connector.abroad.has(to) {
			l.left = true
			f.endLeft(l)
		}
		return true
	}
	if h.Kind == wire.Leave && f.connector.abroad.has(to) {
		return r.down || f.leaveNone(to)
	}
	f.Reach(to)
	return r.down
}

// leaveNone leaves a process of another job to which there is no connection: it ends attempts to open one. It reports
// false if the peer may have accepted one, which is to be left then.
func (f *Fabric) leaveNone(to int) bool {
	if !f.connector.abandon(to) {
		return false
	}
	f.routes.At(to).asked = false
	f.parted(to)
	return true
}

// Reach opens the connection with a peer if there is none, so that this process learns of the peer's
// failure.
func (f *Fabric) Reach(to int) {
	if r := f.routes.At(to); r.link == nil && !r.down && !r.asked {
		r.asked = true
		f.connector.open(to)
	}
}

// Introduce makes a process of another job known by its local number.
func (f *Fabric) Introduce(number int, r Remote) { f.connector.introduce(number, r) }

// Connected reports whether there is a connection with a peer, or one is being opened.
func (f *Fabric) Connected(to int) bool {
	r := f.routes.At(to)
	return r.link != nil || !r.down && f.connector.connecting(to)
}

// Forget ends what the fabric knows of a process of another job, and attempts to open a connection with it. It
// reports false, and does nothing, if there is a connection that is not lost, or if the peer may have accepted one.
func (f *Fabric) Forget(number int) bool {
	r := f.routes.At(number)
	if r.link != nil || !f.connector.forget(number, r.down) {
		return false
	}
	f.routes.Forget(number)
	return true
}

// Place returns the address at which processes of other jobs reach this one: for a process at an address of
// another host, or, for nil, as far as is known.
func (f *Fabric) Place(from address.IP) (string, error) { return f.connector.place(from) }

// OpenPort opens a port at which clients prove secret. host is the IP address at which it listens and
// port the number, if they are not "" and 0; otherwise it is where the process listens.
func (f *Fabric) OpenPort(secret [32]byte, host string, port int) (*Port, error) {
	return f.connector.openPort(secret, host, port)
}

// CallPort calls a port at an address. It waits until the process that serves the port has proved the
// secret, but not until it accepts.
func (f *Fabric) CallPort(ctx context.Context, addr string, secret [32]byte) (*Call, error) {
	return f.connector.callPort(ctx, addr, secret)
}

// Left records that a peer sends no more frames on the connection on which its Leave has arrived.
func (f *Fabric) Left(from int) {
	if l := f.routes.At(from).link; l != nil {
		l.heard = true
		f.endLeft(l)
	}
}

// endLeft ends a connection that both processes have left, at the next Poll: the caller may be using
// it.
func (f *Fabric) endLeft(l *link) {
	if l.left && l.heard && l.broken == nil {
		l.broken, f.broken = errLeft, true
	}
}

// Poll implements fabric.Fabric.
func (f *Fabric) Poll(s fabric.Sink, hint int) int {
	n := 0
	if f.connector.news.Load() {
		n += f.adopt(s)
	}
	if f.broken {
		n += f.reportBroken(s)
	}
	if len(f.holding) > 0 {
		n += f.sendBlocked()
	}
	if hint >= 0 {
		if q := f.routes.Find(hint); q != nil && q.link != nil {
			f.turns++
			if f.turns%sweepEvery != 0 {
				return n + f.direct(s, q.link)
			}
		}
	}
	if len(f.active) <= fewLinks {
		for i := len(f.active) - 1; i >= 0; i-- { // backwards: receive may remove the current one
			n += f.direct(s, f.active[i])
		}
		return n
	}
	for i := len(f.detached) - 1; i >= 0; i-- {
		n += f.receive(s, f.detached[i])
	}
	for i := range f.set.Ready() {
		if l := f.routes.At(int(f.set.Number(i))).link; l != nil {
			n += f.receive(s, l)
		}
	}
	return n
}

// Lose reports that a peer has failed. The code that monitors the processes calls it, since
// there may be no connection that shows the failure. A later Poll delivers what has arrived
// from the peer, then Down. Callable from any goroutine.
func (f *Fabric) Lose(peer int, cause error) { f.connector.peerFailed(peer, cause) }

// receive delivers what has arrived on one connection.
func (f *Fabric) receive(s fabric.Sink, l *link) int {
	n, err := l.receive(f, s)
	if err != nil {
		f.drop(s, l, err)
		n++
	}
	return n
}

// direct is receive of a connection that epoll has not reported as ready.
func (f *Fabric) direct(s fabric.Sink, l *link) int {
	n := f.receive(s, l)
	if n > 0 {
		f.countFind(l)
	}
	return n
}

// adopt takes over the results of the connector, and checks the connections with other hosts
// when that is due.
func (f *Fabric) adopt(s fabric.Sink) int {
	n := 0
	if f.connector.due.CompareAndSwap(true, false) {
		f.beat()
	}
	for _, r := range f.connector.take() {
		n++
		q := f.routes.At(r.peer)
		switch {
		case r.conn != nil && q.down:
			r.close()
		case r.conn != nil:
			l, err := newLink(r.peer, r.conn, r.seal, f.limits.buffer)
			if err == nil {
				err = f.set.Add(l.fd, int32(l.peer))
				if err != nil {
					sys.CloseFD(l.fd)
				}
			}
			if err != nil {
				r.close()
				f.report(s, r.peer, fmt.Errorf("tcp: connection with %s: %w", f.connector.called(r.peer), err))
				continue
			}
			q.link = l
			f.active = append(f.active, l)
			if f.rings != nil && r.peer >= f.connector.job.Size {
				l.mem = r.mem != nil
				f.rings.Attach(r.peer, r.mem, r.memWhy)
			}
		case r.err != nil && q.link != nil: // what has arrived is delivered first
			q.link.broken, f.broken = r.err, true
		case r.err != nil:
			f.report(s, r.peer, r.err)
		default:
			q.asked = false
		}
	}
	return n
}

// reportBroken reports the peers of broken links, after it has delivered all that they had
// sent before.
func (f *Fabric) reportBroken(s fabric.Sink) int {
	f.broken = false
	n := 0
	for i := len(f.active) - 1; i >= 0; i-- {
		l := f.active[i]
		if l.broken == nil {
			continue
		}
		if l.broken == errLeft && l.held != nil && !l.flush(f) { // the peer waits for Leave
			f.broken = true
			continue
		}
		got, err := l.receive(f, s)
		n += got
		l.last++
		switch {
		case err != nil || got == 0 || l.last > lastTurns:
			f.drop(s, l, l.broken)
			n++
		default:
			f.broken = true
		}
	}
	return n
}

// drop ends a connection and reports its peer.
func (f *Fabric) drop(s fabric.Sink, l *link, cause error) {
	if l.mem && !planted.MemoryUndrained {
		f.rings.Drain(l.peer, s)
	}
	f.release(l)
	if l.left && l.heard && f.connector.part(l.peer) {
		f.routes.At(l.peer).asked = false
		f.parted(l.peer)
		return
	}
	f.report(s, l.peer, fmt.Errorf("tcp: connection with %s: %w", f.connector.called(l.peer), cause))
}

// release closes a connection and removes it.
func (f *Fabric) release(l *link) {
	f.removeFromSet(l)
	sys.CloseFD(l.fd)
	l.abandon(f)
	if l.mem {
		f.rings.Detach(l.peer)
	}
	f.routes.At(l.peer).link = nil
	f.active = slices.DeleteFunc(f.active, func(a *link) bool { return a == l })
}

// report calls Down for a peer, once.
func (f *Fabric) report(s fabric.Sink, peer int, cause error) {
	if q := f.routes.At(peer); !q.down {
		q.down = true
		s.Down(peer, cause)
	}
}

// Close implements fabric.Fabric. What Send accepted is in the kernel already, or held. But closing a
// socket with unread data discards what the peer has not read yet. Therefore Close ends each
// stream first, and closes it when the peer's kernel has everything. It discards what still
// arrives, because two processes that close at the same time must not wait for each other.
func (f *Fabric) Close() error {
	if f.sleep.shut() {
		return nil
	}
	f.connector.close()
	for _, l := range f.active {
		l.finish(f)
	}
	waste := f.buffer()
	for end := time.Now().Add(f.limits.linger); ; {
		for i := len(f.active) - 1; i >= 0; i-- {
			l := f.active[i]
			n, err := sys.UnsentBytes(l.fd)
			if l.held != nil {
				n += len(l.held)
				l.finish(f)
			}
			for range 16 {
				n, errno := sys.Recv(l.fd, waste)
				if errno != 0 && !again(errno) {
					err = errno
				}
				if n <= 0 || errno != 0 {
					break
				}
			}
			// Everything is acknowledged, or nothing more ever will be. The end of the stream
			// counts as one byte, and a peer that sends nothing acknowledges it after 40 ms.
			if n <= 1 || err != nil || l.broken != nil {
				f.release(l)
			}
		}
		if len(f.active) == 0 || time.Now().After(end) {
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	for len(f.active) > 0 {
		f.release(f.active[0])
	}
	f.bufs = nil
	return f.sleep.close()
}

// buffer returns a buffer in which to gather a frame or to seal a record. There are never
// more buffers than connections.
func (f *Fabric) buffer() []byte {
	if last := len(f.bufs) - 1; last >= 0 {
		b := f.bufs[last]
		f.bufs = f.bufs[:last]
		return b
	}
	return make([]byte, wire.RecordMax)
}

// Arm implements fabric.Fabric.
func (f *Fabric) Arm() {
	f.reattach()
	if !planted.HeldAsleep {
		f.sendAnswers()
	}
	for _, l := range f.active {
		if l.blocked && !l.watched {
			l.watch(f, true)
		}
	}
	f.sleep.arm()
}

// Disarm implements fabric.Fabric.
func (f *Fabric) Disarm() { f.sleep.disarm() }

// Sleep implements fabric.Fabric.
func (f *Fabric) Sleep() { f.sleep.sleep() }

// Wake implements fabric.Fabric.
func (f *Fabric) Wake() { f.sleep.wake() }
