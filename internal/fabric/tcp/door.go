package tcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/wire"
)

// A door opens the connections of one process: it answers callers, dials peers,
// lets both prove the job secret, and settles that each pair has one connection.
//
// Both of a pair may dial at once. The connection that the lower index dialled
// stays. The lower one, called while it dials, answers Crossed; the higher one
// takes the call and gives up its own attempt, which has carried no frame,
// because a connection carries frames only after the verdict Accepted. The
// lower one's rule is decided under mu at the moment of the verdict: it accepts
// a call only while it does not dial, and it dials only while it has not
// accepted, so never two connections are accepted.
//
// Results go to the data path by take, which is told of them by news and wake.
type door struct {
	job    *boot.Job
	limits limits
	ln     *listener // nil in a job of one
	wake   func()

	ctx     context.Context // ends with close
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	places  chan int      // free places for callers; an index into guests
	refused atomic.Uint64 // callers that proved nothing

	news atomic.Bool // set after results grew or due was set, cleared by take before it looks
	due  atomic.Bool // set by beat, cleared by the data path when it looks at its connections

	mu      sync.Mutex
	addrs   []string
	peers   []peer
	guests  []guest
	turn    uint64 // numbers guests in order of arrival
	results []result
	beating bool // there are connections with other hosts, and beat is at work
}

// peer is how far the connection with one process has come.
type peer struct {
	standing standing
	attempt  context.Context // of the own attempts, nil when there are none
	giveUp   context.CancelFunc
}

type standing uint8

const (
	strange standing = iota
	dialling
	connected
	lost
)

// result is a connection made, or the reason why there will be none; with
// neither, the peer took back its call and may be dialled again.
type result struct {
	peer int
	conn *socket
	seal *wire.Sealed // nil between processes of one host
	err  error
}

// A sealer is an end of a handshake that went well.
type sealer interface{ Sealed() *wire.Sealed }

func newDoor(job *boot.Job, l limits, wake func()) (*door, string, error) {
	if job.Size < 1 || job.Rank < 0 || job.Rank >= job.Size {
		return nil, "", fmt.Errorf("tcp: process %d in a job of %d", job.Rank, job.Size)
	}
	d := &door{job: job, limits: l, wake: wake, peers: make([]peer, job.Size)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	if job.Size == 1 {
		return d, "", nil
	}
	err := l.inside(func() (err error) {
		d.ln, err = listen(job)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("tcp: process %d: %w", job.Rank, err)
	}
	d.guests = make([]guest, l.guests)
	d.places = make(chan int, l.guests)
	for i := range l.guests {
		d.places <- i
	}
	d.wg.Go(d.answer)
	return d, d.ln.addr(), nil
}

// start makes the addresses of all processes known.
func (d *door) start(addrs []string) error {
	if len(addrs) != d.job.Size {
		return fmt.Errorf("tcp: %d addresses for a job of %d processes", len(addrs), d.job.Size)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addrs = addrs
	return nil
}

// open starts to dial a peer unless that goes on already. It does not block.
func (d *door) open(to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &d.peers[to]
	if p.standing != strange || d.ctx.Err() != nil {
		return
	}
	if d.addrs == nil {
		d.lose(to, errors.New("tcp: Send before Start"))
		return
	}
	ctx, cancel := context.WithTimeout(d.ctx, d.limits.reach)
	p.standing, p.attempt, p.giveUp = dialling, ctx, cancel
	addr := d.addrs[to]
	d.wg.Go(func() {
		defer cancel()
		d.reach(ctx, to, addr)
	})
}

// take returns what has been settled since the last call.
func (d *door) take() []result {
	d.news.Store(false)
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.results
	d.results = nil
	return r
}

// announce adds a result, with mu held.
func (d *door) announce(r result) {
	d.results = append(d.results, r)
	d.news.Store(true)
	d.wake()
}

// lose gives a peer up, with mu held.
func (d *door) lose(p int, cause error) {
	d.peers[p].standing = lost
	d.announce(result{peer: p, err: cause})
}

// bury gives a peer up that is dead, as whoever watches processes learned it.
func (d *door) bury(p int, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peers[p].standing != lost {
		d.peers[p].drop()
		d.lose(p, cause)
	}
}

// admit decides over a caller that has proved to be from. Zero: it has a
// connection already, or was given up.
func (d *door) admit(from int) wire.Verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &d.peers[from]
	switch {
	case p.standing == dialling && d.job.Rank < from:
		return wire.Crossed
	case p.standing == strange || p.standing == dialling:
		p.standing = connected
		return wire.Accepted
	}
	return 0
}

// unsettle takes back an admission of which the caller could not be told.
func (d *door) unsettle(from int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peers[from].standing = strange
	d.peers[from].drop()
	d.announce(result{peer: from})
}

// settle hands a connection over to the data path.
func (d *door) settle(with int, conn *socket, by sealer) {
	r := result{peer: with, conn: conn}
	if far(d.job, with) {
		r.seal = by.Sealed()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peers[with].standing = connected
	d.peers[with].drop()
	if d.ctx.Err() != nil {
		conn.Close()
		return
	}
	if r.seal != nil && !d.beating {
		d.beating = true
		d.wg.Go(d.beat)
	}
	d.announce(r)
}

// beat has the data path look at its connections with other hosts every now and
// then, also while nobody polls.
func (d *door) beat() {
	tick := time.NewTicker(d.limits.beat)
	defer tick.Stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-tick.C:
			d.due.Store(true)
			d.news.Store(true)
			d.wake()
		}
	}
}

// drop ends the own attempts.
func (p *peer) drop() {
	if p.giveUp != nil {
		p.giveUp()
	}
	p.attempt, p.giveUp = nil, nil
}

// close ends all that goes on and waits for it.
func (d *door) close() {
	d.mu.Lock()
	d.cancel()
	d.mu.Unlock()
	if d.ln != nil {
		d.ln.Close()
	}
	d.wg.Wait()
	for _, r := range d.take() {
		if r.conn != nil {
			r.conn.Close()
		}
	}
}

// pair names a connection between this process and another.
func (d *door) pair(from, to int) wire.Pair {
	return wire.Pair{Secret: d.job.Secret, Job: d.job.ID, From: from, To: to}
}
