package histories_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/halo-mpi/halo/mpi"
)

// An exchange is one message between two layouts, with the calls that move it.
type exchange struct {
	*pair
	src, dst int
	way      way
	send     int // form; less than blockingSends for blocking ones
	recv     recvWay
	arrival  arrival
	lateSend bool // the program waits for the request only at its end
	lateRecv bool
	anybody  bool // receive from any source
	seed     uint64
}

// way is the calls that move a message.
type way int

const (
	oneWay    way = iota // a send and a receive
	freedSend            // the request of the send is freed at once
	sendrecv             // both sides call Sendrecv; the message in the other direction is bytes
	isendrecv            // or its nonblocking form
	replaces             // the receiver calls SendrecvReplace
	ireplaces            // or its nonblocking form
	exchangeWays
)

type recvWay int

const (
	blockingRecv recvWay = iota
	nonblockingRecv
	persistentRecv
	matchedRecv
	matchedIrecv
	polledRecv
	probedRecv
	recvWays
)

// arrival is whether the send or the receive comes first.
type arrival int

const (
	whatever   arrival = iota
	expected           // the receive is posted before the message is sent
	unexpected         // the message is sent before the receive is posted
	arrivals
)

// newExchange makes a random exchange between two ranks, or of one rank with itself.
func newExchange(r *rand.Rand) *exchange {
	x := &exchange{src: r.IntN(2), dst: r.IntN(2), send: r.IntN(blockingSends + laterSends), recv: recvWay(r.IntN(int(recvWays))),
		arrival: arrival(r.IntN(int(arrivals))), lateSend: r.IntN(2) == 0, lateRecv: r.IntN(2) == 0,
		anybody: r.IntN(5) == 0, seed: r.Uint64()}
	if r.IntN(3) == 0 {
		x.way = way(r.IntN(int(exchangeWays)))
	}
	if r.IntN(4) > 0 && x.src == x.dst {
		x.dst = 1 - x.src
	}
	size := r.Int64N(1 << (2 + r.IntN(11)))
	switch k := r.IntN(40); {
	case k < 4:
		limits := []int64{8 << 10, 16<<10 - 40, 64<<10 - 128, 64 << 10}
		size = limits[r.IntN(len(limits))] + int64(r.IntN(5)) - 2
	case k < 6:
		limits := []int64{200_000, 256 << 10, 1 << 20, 1<<20 + 70_000}
		size = limits[r.IntN(len(limits))] + int64(r.IntN(5)) - 2
	}
	x.pair = newPair(r, size)
	return x
}

// legal is x with forms that are correct in a program: ready mode only if the receive is posted,
// and no call that waits for a later one.
func (x exchange) legal() exchange {
	switch {
	case x.way >= sendrecv:
		x.arrival = whatever
	case x.arrival == expected:
		if x.recv != nonblockingRecv && x.recv != persistentRecv {
			x.recv = nonblockingRecv
		}
	case x.send%blockingSends == 3:
		x.send -= 3 // ready mode becomes standard
	}
	if x.send < blockingSends && x.send != 2 && (x.arrival == unexpected || x.src == x.dst && x.arrival == whatever) {
		x.send += blockingSends
	}
	if x.way == freedSend {
		x.send = blockingSends + x.send%blockingSends
		x.lateSend = true
	}
	return x
}

func (x *exchange) String() string {
	send, recv, _ := x.halves()
	l := x.legal()
	return fmt.Sprintf("from %d, form %d: %v\nto %d, form %d: %v\nway %d, arrival %d, late %v %v, from anybody %v, seed %#x",
		x.src, l.send, &send, x.dst, l.recv, &recv, x.way, l.arrival, l.lateSend, x.lateRecv, x.anybody, x.seed)
}

// smaller are exchanges that are one step simpler.
func (x *exchange) smaller() (out []*exchange) {
	with := func(change func(*exchange)) {
		c := *x
		change(&c)
		if c != *x {
			out = append(out, &c)
		}
	}
	with(func(c *exchange) { c.way = oneWay })
	with(func(c *exchange) { c.src, c.dst = 0, 1 })
	with(func(c *exchange) { c.lateSend, c.lateRecv, c.anybody = false, false, false })
	with(func(c *exchange) { c.arrival = whatever })
	with(func(c *exchange) { c.send = 0 })
	with(func(c *exchange) { c.recv = blockingRecv })
	for _, p := range x.pair.smaller() {
		with(func(c *exchange) { c.pair = p })
	}
	return out
}

// delivery is an exchange with memory on both sides: one pending message.
type delivery struct {
	exchange
	tag          int
	from, to     *placed
	sent, before []byte // memory of both at the beginning
	data         []byte // of the message
	back         []byte // memory of the sender for the message in the other direction
	reply        []byte // that message as it is sent
}

// deliver makes the memory; it returns nil if the pair is impossible.
func (x *exchange) deliver(tag int) (*delivery, error) {
	send, recv, ok := x.halves()
	if !ok {
		return nil, nil
	}
	r := rand.New(rand.NewPCG(x.seed, 3))
	d := &delivery{exchange: x.legal(), tag: tag}
	var err error
	d.from, err = send.lay(r)
	if err != nil {
		return nil, err
	}
	d.to, err = recv.lay(r)
	if err != nil {
		return nil, err
	}
	d.sent, d.before, d.data = bytes.Clone(d.from.mem), bytes.Clone(d.to.mem), d.from.data()
	switch {
	case d.way >= replaces:
		d.reply = d.to.data()
		if d.src == d.dst { // the rank receives what it sends
			d.data = d.reply
		}
	case d.way >= sendrecv:
		d.reply = payload(r.IntN(2*len(d.data)+10), x.seed)
	}
	d.back = make([]byte, len(d.reply))
	return d, nil
}

// settled checks the sender's memory at the end, and overwrites it.
func (d *delivery) settled(err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("send: %w", err)
	case !bytes.Equal(d.from.mem, d.sent):
		return errors.New("the sender's memory has changed")
	case !bytes.Equal(d.back, d.reply) && d.src != d.dst:
		return errors.New("what comes back is wrong")
	}
	if d.way != freedSend { // otherwise the message may not have left yet
		clear(d.from.mem)
	}
	return nil
}

// received checks the receiver's memory.
func (d *delivery) received(st mpi.Status, err error) error {
	room := d.to.count * d.to.m.Size()
	n := min(int64(len(d.data)), room)
	if int64(len(d.data)) > room != errors.Is(err, mpi.ErrTruncate) || int64(len(d.data)) <= room && err != nil {
		return fmt.Errorf("%d bytes into %d: %v", len(d.data), room, err)
	}
	if st.Source != d.src || st.Tag != d.tag || st.Bytes() != n || st.Cancelled() {
		return fmt.Errorf("status is %+v, %d bytes, want source %d tag %d bytes %d", st, st.Bytes(), d.src, d.tag, n)
	}
	if err := d.to.holds(d.before, d.data[:n]); err != nil {
		return fmt.Errorf("receive of %d bytes with room for %d: %w", len(d.data), room, err)
	}
	return nil
}

// later is what has to be done when a request is complete.
type later struct {
	x    *exchange
	r    mpi.Request
	late bool // wait only at the end of the program
	done func(mpi.Status, error) error
}

func (l *later) wait() error {
	st, err := l.r.Wait()
	if err := l.done(st, err); err != nil {
		return err
	}
	if !l.r.IsNull() { // a persistent request
		return l.r.Free()
	}
	return nil
}

// run does one rank's part. The caller waits for the results at the end.
func (d *delivery) run(c *mpi.Comm) (late []later, err error) {
	if d.way >= sendrecv {
		return nil, d.runBoth(c)
	}
	type part struct {
		rank int
		run  func(*mpi.Comm) (*later, error)
	}
	parts := []part{{d.src, d.runSend}, {d.dst, d.runRecv}}
	if d.arrival == expected {
		parts[0], parts[1] = parts[1], parts[0]
	}
	var now []later
	for i, p := range parts {
		if i == 1 && d.arrival != whatever && d.src != d.dst {
			if err := c.Barrier(); err != nil {
				return nil, err
			}
		}
		if p.rank != c.Rank() {
			continue
		}
		switch l, err := p.run(c); {
		case err != nil:
			return nil, err
		case l != nil && l.late:
			late = append(late, *l)
		case l != nil:
			now = append(now, *l)
		}
	}
	for _, l := range now {
		if err := l.wait(); err != nil {
			return nil, err
		}
	}
	return late, nil
}

func (d *delivery) runSend(c *mpi.Comm) (*later, error) {
	if d.send < blockingSends {
		return nil, d.settled(d.from.send(c, d.send, d.dst, d.tag))
	}
	r := d.from.isend(c, d.send-blockingSends, d.dst, d.tag)
	if d.way == freedSend {
		return nil, r.Free()
	}
	return &later{&d.exchange, r, d.lateSend, func(_ mpi.Status, err error) error { return d.settled(err) }}, nil
}

func (d *delivery) runRecv(c *mpi.Comm) (l *later, err error) {
	source := d.src
	if d.anybody {
		source = mpi.AnySource
	}
	var st mpi.Status
	var m mpi.Message
	switch d.recv {
	case blockingRecv:
		st, err = d.to.recv(c, source, d.tag)
	case nonblockingRecv:
		return &later{&d.exchange, d.to.irecv(c, source, d.tag), d.lateRecv, d.received}, nil
	case persistentRecv:
		return &later{&d.exchange, d.to.recvInit(c, source, d.tag), d.lateRecv, d.received}, nil
	case matchedRecv, matchedIrecv:
		m, st, err = c.Mprobe(source, d.tag)
		if err != nil || st.Bytes() != int64(len(d.data)) {
			return nil, fmt.Errorf("Mprobe finds %d bytes of %d, %w", st.Bytes(), len(d.data), err)
		}
		if d.recv == matchedIrecv {
			return &later{&d.exchange, d.to.imrecv(&m), d.lateRecv, d.received}, nil
		}
		st, err = d.to.mrecv(&m)
	case polledRecv:
		for found := false; !found; {
			m, _, found, err = c.Improbe(source, d.tag)
			if err != nil {
				return nil, err
			}
		}
		st, err = d.to.mrecv(&m)
	case probedRecv:
		if _, err := c.Probe(source, d.tag); err != nil {
			return nil, err
		}
		st, err = d.to.recv(c, source, d.tag)
	}
	return nil, d.received(st, err)
}

// runBoth does an exchange with a message in the other direction.
func (d *delivery) runBoth(c *mpi.Comm) error {
	from, to, back, reply := d.from.buf(), d.to.buf(), rawBytes(d.back), rawBytes(d.reply)
	blocking := d.way == sendrecv || d.way == replaces
	exchange := func(send mpi.Buffer, recv mpi.Buffer, peer int) (mpi.Status, error) {
		if blocking {
			return c.Sendrecv(send, peer, d.tag, recv, peer, d.tag)
		}
		r := c.Isendrecv(send, peer, d.tag, recv, peer, d.tag)
		return r.Wait()
	}
	replace := func(peer int) (mpi.Status, error) {
		if blocking {
			return c.SendrecvReplace(to, peer, d.tag, peer, d.tag)
		}
		r := c.IsendrecvReplace(to, peer, d.tag, peer, d.tag)
		return r.Wait()
	}
	switch {
	case c.Rank() == d.src && d.src != d.dst:
		_, err := exchange(from, back, d.dst)
		return d.settled(err)
	case c.Rank() != d.dst:
		return nil
	case d.way >= replaces:
		return d.received(replace(d.src))
	case d.src == d.dst:
		return d.received(exchange(from, to, d.src))
	}
	return d.received(exchange(reply, to, d.src))
}
