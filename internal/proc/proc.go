package proc

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// Proc is one MPI process.
type Proc struct {
	mu   sync.Mutex
	want atomic.Int32 // goroutines that wait for mu; the poller gives way when it is not 0
	line line         // of threads; unused while goroutines call

	boot   boot.Boot
	job    *boot.Job
	policy Policy

	node  *shm.Fabric // to peers on this node through memory, nil if there is none
	lanes []*lane     // all fabrics, with the state of their services
	peers []peer      // by index in the job
	sink  fabric.Sink
	work  []Worker
	busy  int // things to do for which the workers are called at every poll

	polling   bool   // a goroutine is inside Wait as the poller
	arming    bool   // within arm
	polled    *Event // what the poller waits for, nil if nobody polls
	serving   int    // services that are about to poll, or do
	parked    []*Event
	errands   []func() // the oldest first
	handed    bool     // a parked waiter was woken to poll, and nobody has polled since
	watched   int      // events in parked that watch a word
	activity  uint64   // counts the calls that polled
	turns     uint64   // counts polls
	backlogs  []int    // peers with a backlog
	contexts  uint64
	closed    bool
	stopped   chan struct{} // closed when closed is set
	calls     int           // that armed since the process was last hot
	stirred   bool          // the services were woken, and none has looked since
	hot       bool          // calls do not arm: the watch looks whether they go on
	heatedAt  uint64        // activity when hot was set
	heated    chan struct{} // tells the watch that hot was set; has room for one
	note      *shmfmt.Note  // nil if nobody reads it
	sleepers  []sleeper     // those in parked and those that poll after they had slept; the oldest first
	text      []byte        // scratch of describe
	services  sync.WaitGroup
	woken     int // parked goroutines that were woken and have not gone on yet
	freeParks []*park
}

// Policy says how to wait. It depends on how many processes share the cores.
type Policy struct {
	Loads int // polls before the first yield
	// WordLoads is the same for who watches a word, and has looked at it a few
	// times already. With too few cores the process that will store the word is
	// more likely to wait for a core than to be just about to.
	WordLoads int
	Yields    int // polls, with a yield before each, before parking
	// WordYields is the same for who watches a word; 0 stands for Yields.
	WordYields int
	Yield      func() // gives the core to another process
	// Threads: those who call are locked to threads (runtime.LockOSThread), as all are that
	// come from C. See line.
	Threads bool
	// Fault is called by a service that finds no memory at an address, and does not return. nil:
	// the runtime ends the process.
	Fault func(address uintptr)
}

// Worker advances what needs more than one frame.
type Worker interface {
	// Work does a bounded amount, and reports how much it did (0: nothing
	// could move). It is called with the lock held, by whoever polls, while
	// SetBusy says so.
	Work() int
}

// Mourner is a Worker that wants to know of deaths.
type Mourner interface {
	// Lost says that peer is gone. It is called with the lock held, deep inside,
	// before the operations with the peer end.
	Lost(peer int)
}

// peer is the way to one process of the job.
type peer struct {
	near    bool          // reached through memory
	fab     fabric.Fabric // nil for the process itself
	backlog backlog
	down    error
}

// New makes the process of b.Job with the given fabrics: node reaches the
// processes of this node and far the others; either may be nil.
func New(b boot.Boot, node *shm.Fabric, far fabric.Fabric, policy Policy) (*Proc, error) {
	job := b.Job()
	p := &Proc{
		boot: b, job: job, policy: policy, node: node, peers: make([]peer, job.Size),
		stopped: make(chan struct{}), heated: make(chan struct{}, 1),
	}
	p.line.init(policy)
	if node != nil {
		p.lanes = append(p.lanes, &lane{fab: node})
	}
	if far != nil {
		p.lanes = append(p.lanes, &lane{fab: far, sockets: true})
	}
	for i := range p.peers {
		switch {
		case i == job.Rank:
		case node != nil && node.LocalIndex(i) >= 0:
			p.peers[i].near, p.peers[i].fab = true, node
		case far != nil:
			p.peers[i].fab = far
		default:
			return nil, fmt.Errorf("proc: no fabric reaches process %d of %d", i, job.Size)
		}
	}
	return p, nil
}

// Start begins delivery to sink; workers advance what takes several frames.
func (p *Proc) Start(sink fabric.Sink, workers ...Worker) {
	p.sink, p.work = sink, workers
	for _, l := range p.lanes {
		p.services.Add(1)
		go p.serve(l)
	}
	p.services.Add(1)
	go p.watch(time.NewTimer(tick))
}

// Bereave tells the process that all its peers are gone, so that calls which it has left
// behind end: once it has stopped, nothing would wake them.
func (p *Proc) Bereave(cause error) {
	p.Lock()
	defer p.Unlock()
	for i := range p.peers {
		if i != p.job.Rank && p.peers[i].down == nil {
			p.sink.Down(i, cause)
		}
	}
	p.advance() // the workers end what takes several frames
}

// Stop ends the services and closes the fabrics. Nothing may be pending.
func (p *Proc) Stop() error {
	p.Lock()
	p.closed = true
	close(p.stopped)
	var first error
	for _, l := range p.lanes {
		if err := l.fab.Close(); err != nil && first == nil {
			first = err
		}
	}
	p.Unlock()
	p.services.Wait()
	return first
}

// Job returns what the process knows of its job.
func (p *Proc) Job() *boot.Job { return p.job }

// Boot returns the connection to the launcher.
func (p *Proc) Boot() boot.Boot { return p.boot }

// Near reports whether a process is reached through memory.
func (p *Proc) Near(peer int) bool { return p.peers[peer].near }

// Node returns the fabric through memory, nil if there is none.
func (p *Proc) Node() *shm.Fabric { return p.node }

const (
	// ContextStep is how many ids from its context on belong to a communicator:
	// package comm says what for.
	ContextStep = 8
	// FirstContext is the lowest context that NewContext returns. Below are those
	// of the communicators that exist from the start.
	FirstContext = 4 * ContextStep
)

// NewContext returns a context id that no other process of the job and no
// earlier call has returned: creating process and a local counter, which would
// take 15 years to run out if a context were made every 10 microseconds.
func (p *Proc) NewContext() uint64 {
	p.contexts++
	return uint64(p.job.Rank)<<48 + FirstContext + (p.contexts-1)*ContextStep
}

// ContextOf reports whether NewContext of a process could have returned ctx.
func ContextOf(ctx uint64, process int) bool {
	low := ctx & (1<<48 - 1)
	return ctx>>48 == uint64(process) && low >= FirstContext && low%ContextStep == 0
}

// Lock takes the engine's lock. A poller gives way.
func (p *Proc) Lock() {
	if !p.mu.TryLock() {
		p.queueUp()
	}
}

func (p *Proc) queueUp() {
	p.want.Add(1)
	if p.policy.Threads {
		p.line.lock(&p.mu)
	} else {
		p.mu.Lock()
	}
	p.want.Add(-1)
}

// Unlock releases the engine's lock.
func (p *Proc) Unlock() {
	p.mu.Unlock()
	if p.policy.Threads {
		p.line.next()
	}
}

// giveWay lets the goroutines that want the lock have it.
func (p *Proc) giveWay() {
	if p.policy.Threads {
		p.Unlock()
		p.policy.Yield()
		p.Lock()
		return
	}
	p.mu.Unlock()
	runtime.Gosched()
	p.mu.Lock()
}

// SetBusy adds n to the number of things for which the workers are called. If
// nobody polls, and nobody would before something arrives, the services begin to.
func (p *Proc) SetBusy(n int) {
	p.busy += n
	if n <= 0 || p.polling || p.serving > 0 || p.hot {
		return
	}
	p.stir()
}

// Later is SetBusy of things that can wait until somebody polls: it wakes nobody.
func (p *Proc) Later(n int) { p.busy += n }

// EagerMax is the largest payload that goes to a peer in one frame unasked.
func (p *Proc) EagerMax(to int) int { return p.peers[to].fab.EagerMax() }

// ChunkMax is the payload of one frame of a long message to a peer.
func (p *Proc) ChunkMax(to int) int { return p.peers[to].fab.ChunkMax() }

// Reader returns the means to read the peer's memory, nil if there is none.
func (p *Proc) Reader(from int) fabric.Reader {
	if e := &p.peers[from]; e.near && p.node.CanRead(from) {
		return p.node
	}
	return nil
}

// DownCause is not nil when the peer is known to be gone.
func (p *Proc) DownCause(peer int) error { return p.peers[peer].down }

// SetDown notes that the peer is gone, drops what was queued for it and wakes
// who watches a word that the peer may have had to move.
func (p *Proc) SetDown(peer int, cause error) {
	p.peers[peer].down = cause
	p.drop(peer)
	for _, w := range p.work {
		if m, ok := w.(Mourner); ok {
			m.Lost(peer)
		}
	}
	if planted.WatcherForgotten {
		return
	}
	if p.polled != nil && p.polled.word != nil {
		p.polled.Fire()
	}
	for _, e := range p.parked {
		if e.word != nil {
			e.Fire()
		}
	}
}

// Lose tells the process that a peer is gone, as whoever watches processes
// learned it. Callable from any goroutine, without the lock.
func (p *Proc) Lose(peer int, cause error) {
	e := &p.peers[peer]
	if e.near {
		p.node.Lose(peer, cause)
	} else if f, ok := e.fab.(interface{ Lose(int, error) }); ok {
		f.Lose(peer, cause)
	}
}

// Straight is the fabric through memory if the next frame to a peer may go there at once, without
// Send; nil if not. It is inlined.
func (p *Proc) Straight(to int) *shm.Fabric {
	if e := &p.peers[to]; e.near && e.backlog.count() == 0 {
		return p.node
	}
	return nil
}

// Send offers a frame to a peer; false means that it could not go now: Push it then.
func (p *Proc) Send(to int, h *wire.Header, payload []byte) bool {
	e := &p.peers[to]
	if e.backlog.count() != 0 {
		return false
	}
	if e.near { // the concrete branch, so that the path through memory inlines
		return p.node.Send(to, h, payload)
	}
	return e.fab.Send(to, h, payload)
}

// SendRun offers several frames of one message to a peer, as fabric.Runner says.
// It takes none where that is not to be had.
func (p *Proc) SendRun(to int, h *wire.Header, payload [][]byte) int {
	e := &p.peers[to]
	if r, ok := e.fab.(fabric.Runner); ok && e.backlog.count() == 0 {
		return r.SendRun(to, h, payload)
	}
	return 0
}
