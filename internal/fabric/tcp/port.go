package tcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/wire"
)

// A Port accepts clients that prove a secret, and gives the program a sealed stream to each. Clients
// call where the peers of the process do, and what bounds the cost of callers there bounds that of
// clients, too: who does not know the secret gets no answer.
type Port struct {
	d      *connector
	addr   string
	secret [32]byte
	ln     *listener  // its own, nil if clients call where peers do
	queue  chan *Call // clients that have proved the secret and wait to be accepted
	closed chan struct{}
	once   sync.Once
}

// waitingMax is how many clients of a port wait to be accepted. Later ones are turned away, and call
// again.
const waitingMax = 256

// callSilence is how long the other end's host may be silent. Its kernel answers also while a process is stopped,
// unless the process has left so much unread that its kernel takes no more.
const callSilence = 20 * time.Second

// The ends of a stream with a port, for wire.Between.
const (
	clientEnd = "client"
	portEnd   = "port"
)

// ErrNoPort says that nobody serves a port.
var ErrNoPort = errors.New("nobody serves this port")

// A Call is a sealed stream between a client and a process that serves a port.
type Call struct {
	*wire.Stream
	conn *socket
}

// newCall makes the stream of a connection whose handshake is complete.
func newCall(conn *socket, by sealer) *Call {
	_ = conn.hurry() // an error only means that the exchange takes longer
	_ = conn.limitSilence(callSilence)
	return &Call{wire.NewStream(conn, by.Sealed()), conn}
}

// Close ends the stream.
func (c *Call) Close() error { return c.conn.Close() }

// SetDeadline makes reads and writes fail from a time on; a zero time undoes it.
func (c *Call) SetDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// Interrupt makes reads and writes of the stream fail once ctx ends, until stop.
func (c *Call) Interrupt(ctx context.Context) (stop func()) { return interrupt(ctx, c.conn) }

func (d *connector) openPort(secret [32]byte, host string, port int) (*Port, error) {
	p := &Port{d: d, secret: secret, queue: make(chan *Call, waitingMax), closed: make(chan struct{})}
	if host != "" || port != 0 {
		if host == "" {
			host = d.ln.host
		}
		a, err := address.Parse(host)
		if err != nil {
			return nil, err
		}
		err = d.limits.inside(func() (err error) {
			p.ln, err = listenAt(host, a, port)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("tcp: port %d at %s: %w", port, host, err)
		}
		p.addr = p.ln.addr()
	} else {
		p.addr = d.ln.addr()
	}
	d.abroad.invite(wire.Between(secret, clientEnd, portEnd), visitor{port: p})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ports = append(d.ports, p)
	if p.ln != nil {
		d.wg.Go(func() { d.answer(p.ln) })
	}
	return p, nil
}

// Addr is the address of the port.
func (p *Port) Addr() string { return p.addr }

// called puts a client into the queue.
func (p *Port) called(conn *socket, h *wire.Acceptor) {
	c := newCall(conn, h)
	select {
	case <-p.closed:
		conn.Close()
		return
	default:
	}
	select {
	case p.queue <- c:
	default:
		conn.Close()
		return
	}
	select {
	case <-p.closed: // perhaps after Close has emptied the queue
		p.turnAway()
	default:
	}
}

// Accept waits for a client, until ctx ends or the port is closed.
func (p *Port) Accept(ctx context.Context) (*Call, error) {
	select {
	case c := <-p.queue:
		return c, nil
	case <-p.closed:
		return nil, fmt.Errorf("the port has been closed: %w", ErrNoPort)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Crowded calls crowded each time that the interval has passed and clients wait to be accepted, until ctx ends.
func (p *Port) Crowded(ctx context.Context, interval time.Duration, crowded func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if len(p.queue) > 0 {
				crowded()
			}
		case <-ctx.Done():
			return
		}
	}
}

// Close ends the port. Clients that wait are turned away.
func (p *Port) Close() {
	p.once.Do(func() {
		d := p.d
		d.abroad.dismiss(func(g guest) bool { return g.port == p })
		d.mu.Lock()
		for i, o := range d.ports {
			if o == p {
				d.ports = append(d.ports[:i], d.ports[i+1:]...)
				break
			}
		}
		d.mu.Unlock()
		close(p.closed)
		if p.ln != nil {
			p.ln.Close()
		}
		p.turnAway()
	})
}

// turnAway closes the connections of clients that wait.
func (p *Port) turnAway() {
	for {
		select {
		case c := <-p.queue:
			c.Close()
		default:
			return
		}
	}
}

// closePorts closes all ports.
func (d *connector) closePorts() {
	for {
		d.mu.Lock()
		var p *Port
		if len(d.ports) > 0 {
			p = d.ports[0]
		}
		d.mu.Unlock()
		if p == nil {
			return
		}
		p.Close()
	}
}

// callTries is how often a client calls a port that closes the connection without an answer: its slots
// for callers may be in use. Whoever does not serve the port never answers.
const callTries = 4

func (d *connector) callPort(ctx context.Context, addr string, secret [32]byte) (*Call, error) {
	pair := wire.Between(secret, clientEnd, portEnd)
	pause := firstPause
	for try := 1; ; try++ {
		conn, h, err := d.dialAs(ctx, d.job.Rank, addr, pair)
		if err == nil {
			return newCall(conn, h), nil
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, syscall.ECONNREFUSED):
			return nil, fmt.Errorf("%w: no process listens at %s", ErrNoPort, addr)
		case errors.Is(err, wire.ErrRefused):
			return nil, fmt.Errorf("%w: the process at %s does not know its secret", ErrNoPort, addr)
		case errors.Is(err, wire.ErrVersion):
			return nil, err
		case try == callTries:
			return nil, fmt.Errorf("%w: the process at %s does not answer: %w", ErrNoPort, addr, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(8*pause, lastPause)
		}
	}
}
