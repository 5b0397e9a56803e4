package tcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// A connector opens the connections of one process: it accepts callers, dials peers,
// runs the handshake in which both prove the job secret, and ensures that each pair has
// one connection.
//
// Both processes of a pair may dial at once. The connection that the lower index dialled
// stays: the lower one answers a call with Crossed while it dials, and the higher one
// accepts the call and cancels its own attempt. That attempt has carried no frame, because
// a connection carries frames only after the verdict Accepted. The lower one decides under
// mu when it sends the verdict: it accepts a call only while it does not dial, and dials
// only if it has not accepted. Therefore two connections are never accepted.
//
// take hands results to the data path; news and wake notify it.
type connector struct {
	job    *boot.Job
	limits limits
	ln     *listener // nil in a job of one that has not met another
	wake   func()
	shares bool // Config.Rings is not nil

	ctx     context.Context // ends with close
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	slots   chan int      // free slots for callers; an index into callers
	refused atomic.Uint64 // callers that proved nothing

	news atomic.Bool // set after results grew or due was set, cleared by take before it looks
	due  atomic.Bool // set by beat, cleared by the data path when it looks at its connections

	mu      sync.Mutex
	addrs   []string      // of all processes, nil before start
	lookup  Lookup        // finds addresses before start
	known   chan struct{} // closed when either is set
	peers   peers.Table[peer]
	abroad  abroad // processes of other jobs
	ports   []*Port
	wide    []*listener // of a job that listens on the loopback address, for processes of other hosts
	callers []caller
	turn    uint64 // numbers callers in order of arrival
	results []result
	beating bool // there are connections with other hosts, and beat runs
}

// peer is the state of the connection with one process.
type peer struct {
	state   connState
	attempt context.Context // of the own attempts, nil when there are none
	giveUp  context.CancelFunc
	proved  bool // an own attempt has sent its proof, and has no verdict: the process may have accepted the call
}

// isFree reports whether the own attempts can be given up so that the process never takes this one for connected.
func (p *peer) isFree() bool { return !p.proved || planted.AbandonedAfterProof }

type connState uint8

const (
	unconnected connState = iota
	dialling
	connected
	lost
)

// route is what the data path keeps of one process; L is its connection.
type route[L any] struct {
	link  *L   // nil if there is none
	asked bool // the connector has been asked for one
	down  bool // Down was called
}

// result is a new connection, or the reason why there is none; with neither, the call of
// the peer has failed, and the peer may be dialled again.
type result struct {
	peer int
	conn *socket
	seal *wire.Sealed // nil between processes of one host
	err  error

	// Of a connection with a process of another job:
	mem    *pair.Memory // for its frames, nil if there is none
	memWhy error        // why there is none
}

// close closes a connection that nobody uses.
func (r *result) close() {
	if r.conn != nil {
		r.conn.Close()
	}
	if r.mem != nil {
		r.mem.Close()
	}
}

// A sealer is either end of a successful handshake.
type sealer interface{ Sealed() *wire.Sealed }

// newConnector opens the port of a process. That of a job of one listens only if Config.Alone is set.
func newConnector(c *Config, l limits, wake func()) (*connector, string, error) {
	job := c.Job
	if job.Size < 1 || job.Rank < 0 || job.Rank >= job.Size {
		return nil, "", fmt.Errorf("tcp: process %d in a job of %d", job.Rank, job.Size)
	}
	d := &connector{job: job, limits: l, wake: wake, shares: c.Rings != nil, peers: peers.Make[peer](job.Size, nil), known: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.callers = make([]caller, l.callers)
	d.slots = make(chan int, l.callers)
	for i := range l.callers {
		d.slots <- i
	}
	if job.Size == 1 && !c.Alone {
		return d, "", nil
	}
	err := l.inside(func() (err error) {
		d.ln, err = listen(job)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("tcp: process %d: %w", job.Rank, err)
	}
	d.wg.Go(func() { d.answer(d.ln) })
	if job.Key != nil {
		return d, d.ln.addr() + KeyMark + wire.PublicKey(job.Key), nil
	}
	return d, d.ln.addr(), nil
}

// addressOf returns the address of a process, "" if it has to be looked up. mu is held.
func (d *connector) addressOf(to int) string {
	if to >= d.job.Size {
		return d.abroad.find(to).Addr
	}
	if d.addrs != nil {
		return d.addrs[to]
	}
	return ""
}

// find returns the address of a process, which it waits for. That is no attempt to reach the
// process, so it has no limit of time.
func (d *connector) find(ctx context.Context, to int) (string, error) {
	addr, err := d.lookup(ctx, to)
	if err != nil {
		return "", fmt.Errorf("tcp: address of process %d: %w", to, err)
	}
	return addr, nil
}

// startLookup sets the function that finds addresses until start is called.
func (d *connector) startLookup(l Lookup) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookup = l
	d.know()
}

// know lets handshakes find addresses. mu is held.
func (d *connector) know() {
	select {
	case <-d.known:
	default:
		close(d.known)
	}
}

// start sets the addresses of all processes.
func (d *connector) start(addrs []string) error {
	if len(addrs) != d.job.Size {
		return fmt.Errorf("tcp: %d addresses for a job of %d processes", len(addrs), d.job.Size)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addrs = addrs
	d.know()
	return nil
}

// open starts to dial a peer, unless it does so already. It does not block.
func (d *connector) open(to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers.At(to)
	if p.state != unconnected || d.ctx.Err() != nil {
		return
	}
	addr := d.addressOf(to)
	if addr == "" && (d.lookup == nil || to >= d.job.Size) {
		d.lose(to, errors.New("tcp: Send before Start"))
		return
	}
	ctx, cancel := context.WithCancel(d.ctx)
	p.state, p.attempt, p.giveUp = dialling, ctx, cancel
	d.wg.Go(func() {
		defer cancel()
		if addr == "" {
			var err error
			addr, err = d.find(ctx, to)
			if err != nil {
				d.fail(ctx, to, "an unknown address", err)
				return
			}
		}
		limited, end := context.WithTimeout(ctx, d.limits.reach)
		defer end()
		d.dialLoop(limited, ctx, to, addr)
	})
}

// take returns the results since the last call.
func (d *connector) take() []result {
	d.news.Store(false)
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.results
	d.results = nil
	return r
}

// announce adds a result, with mu held.
func (d *connector) announce(r result) {
	d.results = append(d.results, r)
	d.news.Store(true)
	d.wake()
}

// lose marks a peer as lost, with mu held.
func (d *connector) lose(p int, cause error) {
	d.peers.At(p).state = lost
	d.announce(result{peer: p, err: cause})
}

// peerFailed marks a failed peer as lost. The code that monitors the processes calls it.
func (d *connector) peerFailed(p int, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peers.At(p).state != lost {
		d.peers.At(p).drop()
		d.lose(p, cause)
	}
}

// admit decides about a caller that has proved to be process from. Zero means that it has a
// connection already, or is lost.
func (d *connector) admit(who visitor) wire.Verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.is(who) {
		return 0
	}
	p := d.peers.At(who.peer)
	switch {
	case p.state == dialling && d.first(who.peer):
		return wire.Crossed
	case p.state == unconnected || p.state == dialling:
		p.state = connected
		return wire.Accepted
	}
	return 0
}

// revokeAdmission undoes an admission whose verdict could not be sent to the caller.
func (d *connector) revokeAdmission(who visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.is(who) {
		return
	}
	d.peers.At(who.peer).state = unconnected
	d.peers.At(who.peer).drop()
	d.announce(result{peer: who.peer})
}

// established hands a connection to the data path, unless the attempts to open it have been given up. calls says that
// this process has opened it.
func (d *connector) established(with visitor, conn *socket, by sealer, attempt context.Context, calls bool) {
	r := result{peer: with.peer, conn: conn}
	if with.sealed {
		r.seal = by.Sealed()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.is(with) || attempt.Err() != nil {
		r.close()
		return
	}
	d.peers.At(with.peer).state = connected
	d.peers.At(with.peer).drop()
	if with.peer >= d.job.Size && !with.sealed {
		d.mu.Unlock()
		d.share(&r, calls)
		d.mu.Lock()
	}
	if d.ctx.Err() != nil || !d.is(with) {
		r.close()
		return
	}
	if r.seal != nil && !d.beating {
		d.beating = true
		d.wg.Go(d.beat)
	}
	d.announce(r)
}

// beat makes the data path check its connections with other hosts at regular intervals,
// also while nobody polls.
func (d *connector) beat() {
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

// drop cancels the attempts of this process.
func (p *peer) drop() {
	if p.giveUp != nil {
		p.giveUp()
	}
	p.attempt, p.giveUp, p.proved = nil, nil, false
}

// close ends all goroutines and waits for them.
func (d *connector) close() {
	d.mu.Lock()
	d.cancel()
	d.mu.Unlock()
	if d.ln != nil {
		d.ln.Close()
	}
	d.closePorts()
	d.mu.Lock()
	for _, ln := range d.wide {
		ln.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
	for _, r := range d.take() {
		r.close()
	}
}

// KeyMark is between the address of a process and its public key, in a job without a secret.
const KeyMark = "/"

// pair identifies a connection between this process and another. address is that of the other one.
func (d *connector) pair(from, to int, address string) (wire.Pair, error) {
	p := wire.Pair{Secret: d.job.Secret, Job: d.job.ID, From: from, To: to}
	var err error
	if d.job.Key != nil {
		_, key, _ := strings.Cut(address, KeyMark)
		p.Secret, err = wire.PairSecret(d.job.Key, key)
		if err != nil {
			err = fmt.Errorf("%w: %w", wire.ErrRefused, err)
		}
	}
	return p, err
}

// acceptFrom identifies the connection of a caller that claims to be a process. In a job without a
// secret that needs the address of the process.
func (d *connector) acceptFrom(ctx context.Context, from int) (wire.Pair, error) {
	if d.job.Key == nil {
		return d.pair(0, d.job.Rank, "")
	}
	if from < 0 || from >= d.job.Size {
		return wire.Pair{}, wire.ErrRefused
	}
	select {
	case <-d.known:
	case <-ctx.Done():
		return wire.Pair{}, ctx.Err()
	}
	d.mu.Lock()
	addr := d.addressOf(from)
	d.mu.Unlock()
	if addr == "" {
		var err error
		addr, err = d.find(ctx, from)
		if err != nil {
			return wire.Pair{}, err
		}
	}
	return d.pair(0, d.job.Rank, addr)
}
