package tcp

import (
	"fmt"
	"slices"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

var _ fabric.Fabric = (*Fabric)(nil)

// Fabric is the data path on Linux: raw non-blocking sockets under the engine's
// lock, an epoll set of its own to find the ready ones and to sleep on.
//
// Poll with a hint reads that peer's socket straight away, without asking epoll
// first: one system call a turn while a reply is awaited. Only every sweepEvery
// turns, or without a hint, it looks at all: by reading each while they are few,
// else by epoll_wait. What is read so all the time is not in the set (outside_linux.go).
type Fabric struct {
	door   *door
	set    *sys.Epoll
	sleep  sleeper
	limits limits

	// Under the engine's lock.
	links  []*link // by peer; nil: none yet, or down
	active []*link // those that are up
	asked  []bool  // the door was asked for a connection
	down   []bool
	turns  uint
	broken bool // some link failed in Send and waits for Poll to report it
	bufs   [][]byte

	outside []*link // of the active ones: not in set, see found
	arms    uint    // how often the fabric was armed

	pieces sys.Pieces
	run    run
	packed [packMax]byte // a small frame on its way out
}

const (
	// sweepEvery is how many hinted turns pass between looks at all sockets.
	sweepEvery = 32
	// fewLinks is up to how many connections a sweep reads each: an empty read
	// costs 0.35 us, an empty epoll_wait 0.18 us for all of them, but before a
	// read that finds something it comes on top.
	fewLinks = 1
)

// Listen opens the port of a process and answers its peers from then on. The
// address is for them to know, for Start.
func Listen(c Config) (*Fabric, string, error) {
	f := &Fabric{limits: c.limits.defaults()}
	if err := f.sleep.open(); err != nil {
		return nil, "", fmt.Errorf("tcp: %w", err)
	}
	f.set = f.sleep.set
	d, addr, err := newDoor(c.Job, f.limits, f.Wake)
	if err != nil {
		f.sleep.close()
		return nil, "", err
	}
	f.door = d
	f.links = make([]*link, c.Job.Size)
	f.outside = make([]*link, 0, outMost) // nothing is allocated while frames come
	f.asked = make([]bool, c.Job.Size)
	f.down = make([]bool, c.Job.Size)
	return f, addr, nil
}

// Start tells the addresses of all processes of the job, by index, before the first Send.
func (f *Fabric) Start(addrs []string) error { return f.door.start(addrs) }

// Refused is how many callers failed to prove that they belong to the job.
func (f *Fabric) Refused() uint64 { return f.door.refused.Load() }

// Name implements fabric.Fabric.
func (f *Fabric) Name() string { return "tcp" }

// EagerMax implements fabric.Fabric.
func (f *Fabric) EagerMax() int { return eagerMax }

// ChunkMax implements fabric.Fabric.
func (f *Fabric) ChunkMax() int { return chunkMax }

// Send implements fabric.Fabric: one system call.
func (f *Fabric) Send(to int, h *wire.Header, payload []byte) bool {
	l := f.links[to]
	if l == nil {
		if f.down[to] {
			return true
		}
		if !f.asked[to] {
			f.asked[to] = true
			f.door.open(to)
		}
		return false
	}
	return l.send(f, h, payload)
}

// Poll implements fabric.Fabric.
func (f *Fabric) Poll(s fabric.Sink, hint int) int {
	n := 0
	if f.door.news.Load() {
		n += f.adopt(s)
	}
	if f.broken {
		n += f.bury(s)
	}
	if hint >= 0 {
		if l := f.links[hint]; l != nil {
			f.turns++
			if f.turns%sweepEvery != 0 {
				return n + f.direct(s, l)
			}
		}
	}
	if len(f.active) <= fewLinks {
		for i := len(f.active) - 1; i >= 0; i-- { // backwards: receive may remove the one at hand
			n += f.direct(s, f.active[i])
		}
		return n
	}
	for i := len(f.outside) - 1; i >= 0; i-- {
		n += f.receive(s, f.outside[i])
	}
	for i := range f.set.Ready() {
		if l := f.links[f.set.Number(i)]; l != nil {
			n += f.receive(s, l)
		}
	}
	return n
}

// Lose tells that a peer is dead, as whoever watches processes learned it: there
// may be no connection that could tell. A later Poll delivers what has come from
// the peer, then Down. Callable from any goroutine.
func (f *Fabric) Lose(peer int, cause error) { f.door.bury(peer, cause) }

// receive takes what one connection has.
func (f *Fabric) receive(s fabric.Sink, l *link) int {
	n, err := l.receive(f, s)
	if err != nil {
		f.drop(s, l, err)
		n++
	}
	return n
}

// direct is receive of a connection without having asked which are ready.
func (f *Fabric) direct(s fabric.Sink, l *link) int {
	n := f.receive(s, l)
	if n > 0 {
		f.found(l)
	}
	return n
}

// adopt takes over what the door has settled, and looks at the connections with
// other hosts when that is due.
func (f *Fabric) adopt(s fabric.Sink) int {
	n := 0
	if f.door.due.CompareAndSwap(true, false) {
		f.beat()
	}
	for _, r := range f.door.take() {
		n++
		switch {
		case r.conn != nil && f.down[r.peer]:
			r.conn.Close()
		case r.conn != nil:
			l, err := newLink(r.peer, r.conn, r.seal, f.limits.buffer)
			if err == nil {
				if err = f.set.Add(l.fd, int32(l.peer)); err != nil {
					sys.CloseFD(l.fd)
				}
			}
			if err != nil {
				f.report(s, r.peer, fmt.Errorf("tcp: connection with process %d: %w", r.peer, err))
				continue
			}
			f.links[r.peer] = l
			f.active = append(f.active, l)
		case r.err != nil && f.links[r.peer] != nil: // what had come is delivered first
			f.links[r.peer].broken, f.broken = r.err, true
		case r.err != nil:
			f.report(s, r.peer, r.err)
		default:
			f.asked[r.peer] = false
		}
	}
	return n
}

// bury reports peers whose connection failed in Send, once all that they had
// sent before is delivered.
func (f *Fabric) bury(s fabric.Sink) int {
	f.broken = false
	n := 0
	for i := len(f.active) - 1; i >= 0; i-- {
		l := f.active[i]
		if l.broken == nil {
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
	f.release(l)
	f.report(s, l.peer, fmt.Errorf("tcp: connection with process %d: %w", l.peer, cause))
}

// release closes a connection and forgets it.
func (f *Fabric) release(l *link) {
	f.forget(l)
	sys.CloseFD(l.fd)
	l.abandon(f)
	f.links[l.peer] = nil
	f.active = slices.DeleteFunc(f.active, func(a *link) bool { return a == l })
}

// report tells that a peer is lost, once.
func (f *Fabric) report(s fabric.Sink, peer int, cause error) {
	if !f.down[peer] {
		f.down[peer] = true
		s.Down(peer, cause)
	}
}

// Close implements fabric.Fabric. What Send accepted is in the kernel already;
// but to close a socket in which something is unread throws away what the peer
// has not taken. So each stream is ended, and closed once the peer's kernel has
// everything; what still arrives is thrown away, because two that close at the
// same time must not wait for each other.
func (f *Fabric) Close() error {
	if f.sleep.shut() {
		return nil
	}
	f.door.close()
	for _, l := range f.active {
		sys.ShutdownWrite(l.fd)
	}
	waste := f.buffer()
	for end := time.Now().Add(f.limits.linger); ; {
		for i := len(f.active) - 1; i >= 0; i-- {
			l := f.active[i]
			n, err := sys.UnsentBytes(l.fd)
			for range 16 {
				n, errno := sys.Recv(l.fd, waste)
				if errno != 0 && !again(errno) {
					err = errno
				}
				if n <= 0 || errno != 0 {
					break
				}
			}
			// All is there, or nothing more ever will be. The end of the stream counts
			// as one byte, and takes 40 ms to be acknowledged by a peer who says nothing.
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

// buffer returns one in which a frame can be gathered, or a record sealed. There
// are never more than connections.
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
	f.putBack()
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
