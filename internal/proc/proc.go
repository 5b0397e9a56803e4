package proc

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// Proc is one MPI process.
type Proc struct {
	// rec has the lock, and what C reads of this process. It is outside of the Go heap.
	rec     *shmfmt.ProcessRecord
	threads threadQueue // used if policy.Threads

	boot   boot.Boot
	job    *boot.Job
	policy Policy

	node       *node.Node        // memory shared with peers on this node, nil if there is none
	rings      *shm.Fabric       // frames through that memory, and that shared with foreign processes; nil if there is none
	transports []*transport      // all fabrics
	far        fabric.Fabric     // to all other processes, nil if there is none
	others     others            // processes of other jobs
	met        atomic.Bool       // there have been such; stored by Meet
	ended      []int             // some of these, with which there is no connection any more
	near       []bool            // by index in the job: another process that shares the memory of the node
	ringed     []bool            // by local number: near, or a foreign process to which rings leads
	opening    opening           // to foreign processes of this node without a connection
	report     func(line string) // of Report
	peers      peers.Table[peer] // by local number
	sink       fabric.Sink
	onImport   func() // of OnImport
	work       []Worker
	busy       int // operations for which the workers are called at every poll

	arming          bool   // within arm
	pollerEvent     *Event // what the poller waits for, nil if nobody polls
	core            Core   // whether waiters have it for themselves
	serving         int    // services that are about to poll, or do
	parked          []*Event
	tasks           []func() // the oldest first
	takeoverPending bool     // a parked waiter was woken to take over as the poller, and nobody has polled since
	watched         int      // events in parked that watch a word
	queuedPeers     []int    // peers whose send queue is not empty
	serials         uint64   // of contexts that this process has made
	closed          bool
	stopped         chan struct{}        // closed when closed is set
	armingCalls     int                  // calls that armed since polling mode ended
	servicesWoken   bool                 // the services were woken, and none has polled since
	modeEntered     chan struct{}        // tells the watchdog that polling mode has begun; capacity 1
	note            *shmfmt.Note         // nil if nobody reads it
	noteMessages    *shmfmt.NoteMessages // like note
	inC             bool                 // see NameCallsInC

	unmatched         func() int // see OnUnmatched
	describeUnmatched func(text []byte) []byte
	saidUnmatched     bool      // the last note is not empty
	notedUnmatched    int       // number of messages when they were noted last; -1: not since a goroutine fell asleep
	sleepers          []sleeper // noted waits: parked ones, and pollers that have slept; the oldest first
	text              []byte    // scratch of describe
	services          sync.WaitGroup
	woken             int // parked goroutines that were woken and do not run yet
	freeParks         []*park
}

// Policy sets how to wait. It depends on how many processes share the cores.
//
// On a core that a stranger computes on, too, each way to wait gives something away (bench/loadedcore measures it, and
// docs/waiting.md has the figures of Linux 6.18):
//   - A poll gives away processor time, which the next computation lacks.
//   - A yield forfeits the rest of the time slice, 1.4 ms. The core is gone for 4 ms as soon as the process has had its share.
//   - A sleeper runs 13 us after it was woken if it has used the core less than the stranger, otherwise up to 4 ms after. Its
//     waker spends 7 us on the call. On an idle core a sleeper runs after 25 us.
//
// Therefore a waiter of OwnCore polls for 0.05 ms, two to three times what it takes to be woken in the good cases. It polls on
// while that costs nobody anything, until a yield or the clock tells that it does. Package waitsim simulates this policy and
// those rejected, and bounds what a wait costs by what it has to.
type Policy struct {
	Loads int // polls before the first yield
	// WordLoads replaces Loads for events that watch a word, which the caller has loaded a
	// few times already. With too few cores the process that will store the word is more
	// likely to wait for a core than to store it soon.
	WordLoads int
	Yields    int // polls, with a yield before each, before parking
	// WordYields replaces Yields for events that watch a word, unless it is 0.
	WordYields int
	Yield      func() // gives the core to another process
	// Often says that who waits for threads (Event.YieldOften) yields between polls, too.
	Often bool
	// Longer is for how long a waiter polls on after Loads, as long as nobody else computes on its core.
	Longer time.Duration
	// Slice is less than the time slices of the kernel, and more than what threads take that communicate: who was without
	// the core for so long, in a yield or between polls, has lost it to somebody who computes there.
	Slice time.Duration
	// Threads says that callers are locked to threads (runtime.LockOSThread), as all that come
	// from C are. See threadQueue.
	Threads bool
	// Fault is called by a service that accesses an unmapped address, and does not return.
	// If it is nil, the runtime ends the process.
	Fault func(address uintptr)
	// Leavers counts the threads whose calls a handler of the program wants to leave. Leave(false) reports whether the
	// calling thread is one. Leave(true), without a lock, does not return then. Nil: calls return.
	Leavers *atomic.Uint32
	Leave   func(now bool) bool
	// Watchdog is the part of the watchdog that is in C. Nil: a goroutine with a timer does all of it.
	Watchdog Watchdog
}

// leaving reports whether a thread of this process wants to leave its call.
func (y *Policy) leaving() bool { return y.Leavers != nil && y.Leavers.Load() != 0 } // pairs with the addition by abi/lib/jump.c

// Worker advances operations that need more than one frame.
type Worker interface {
	// Work does a bounded amount of work, and reports how much it did (0: nothing
	// could advance). The poller or a service calls it with the lock held, while
	// there is work (SetBusy).
	Work() int
}

// FailureObserver is a Worker with a peer-failure callback.
type FailureObserver interface {
	// PeerFailed is called when peer has failed, before the operations with it end. The
	// lock is held, and the caller may be in the middle of a poll.
	PeerFailed(peer int)
}

// peer is the state of the connection to one process. Its number is its index in the job, or for
// a process of another job what Meet has returned.
type peer struct {
	near  bool          // reached through memory: fab is rings
	fab   fabric.Fabric // nil for the process itself
	queue sendQueue
	down  error
}

// New returns the process of b.Job: node is the memory shared with the processes of this node,
// and far is the fabric to the others; either may be nil.
func New(b boot.Boot, node *node.Node, far fabric.Fabric, policy Policy) (*Proc, error) {
	job := b.Job()
	p := &Proc{
		boot: b, job: job, policy: policy, node: node, far: far,
		stopped: make(chan struct{}), modeEntered: make(chan struct{}, 1),
	}
	p.rec = offheap.Owned[shmfmt.ProcessRecord](p)
	p.rec.Slow = shmfmt.SlowInterrupt
	p.rec.Looks = int32(min(peekMax, policy.Loads))
	if policy.Longer > 0 { // the core is that of the caller alone
		p.rec.LooksQuiet = int32(min(quietMax, policy.Loads))
	}
	p.peers = peers.Make(job.Size, p.initPeer)
	p.threads.init(policy, p.rec)
	if node != nil {
		p.rings = shm.New(node)
		p.transports = append(p.transports, &transport{fab: p.rings})
		p.near = make([]bool, job.Size)
		for _, i := range node.Members() {
			p.near[i] = i != job.Rank
		}
		p.ringed = p.near
	}
	if far != nil {
		p.transports = append(p.transports, &transport{fab: far, sockets: true})
		p.rec.Watch.Elsewhere.Store(1)
	}
	p.shareArrivals()
	for i := range job.Size {
		if i != job.Rank && far == nil && !p.Near(i) {
			return nil, fmt.Errorf("proc: no fabric reaches process %d of %d", i, job.Size)
		}
	}
	return p, nil
}

// fabricTo returns the fabric that reaches a process, nil for the process itself and for what is
// no process.
func (p *Proc) fabricTo(peer int) fabric.Fabric {
	switch {
	case peer == p.job.Rank:
		return nil
	case p.Near(peer):
		return p.rings
	case p.shares(peer):
		return &p.opening
	}
	return p.far
}

// initPeer initialises the entry of a peer in the table.
func (p *Proc) initPeer(number int, e *peer) {
	e.near, e.fab = p.Near(number), p.fabricTo(number)
}

// Start starts delivery to sink; workers advance operations that need several frames.
func (p *Proc) Start(sink fabric.Sink, workers ...Worker) {
	p.sink, p.work = sink, workers
	for _, l := range p.transports {
		p.services.Add(1)
		go p.serve(l)
	}
	p.services.Add(1)
	go p.watchdog()
}

// LoseAll treats all peers as failed, so that pending calls of a rank that has returned end:
// after Stop nothing would wake them.
func (p *Proc) LoseAll(cause error) {
	p.Lock()
	defer p.Unlock()
	for i := range p.Known() {
		if i != p.job.Rank && p.DownCause(i) == nil && (i < p.job.Size || p.other(i) != nil) {
			p.sink.Down(i, cause)
		}
	}
	p.advance() // the workers end operations that need several frames
}

// Stop ends the services and closes the fabrics. Nothing may be pending.
func (p *Proc) Stop() error {
	p.Lock()
	p.closed = true
	p.stopWatchdog()
	var first error
	for _, l := range p.transports {
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

// Near reports whether another process is reached through memory.
func (p *Proc) Near(peer int) bool { return uint(peer) < uint(len(p.near)) && p.near[peer] }

// ThroughRings reports whether frames to a process travel through memory.
func (p *Proc) ThroughRings(peer int) bool { return uint(peer) < uint(len(p.ringed)) && p.ringed[peer] }

// Here reports whether a process shares the memory of the node: this one, or one that is near.
func (p *Proc) Here(peer int) bool { return p.Near(peer) || p.node != nil && peer == p.job.Rank }

// Node returns the memory shared with the processes of this node, nil if there is none.
func (p *Proc) Node() *node.Node { return p.node }

// SetBusy adds n to the number of operations for which the workers are called. If nobody
// polls, and nobody would poll before a frame arrives, it wakes the services.
func (p *Proc) SetBusy(n int) {
	p.Later(n)
	if n <= 0 || p.polling() || p.serving > 0 || p.pollingMode() {
		return
	}
	p.wakeServices()
}

// Later is SetBusy for operations that can wait until somebody polls: it wakes nobody.
func (p *Proc) Later(n int) {
	p.busy += n
	p.setSlow(shmfmt.SlowBusy, p.busy > 0)
}

// Slow returns the word of reasons why messages must not pass by the poller and the table: the bits of
// shmfmt.ProcessRecord. It is used under the lock.
func (p *Proc) Slow() *uint32 { return &p.rec.Slow }

// setSlow sets or clears a reason.
func (p *Proc) setSlow(reason uint32, on bool) {
	if on {
		p.rec.Slow |= reason
	} else {
		p.rec.Slow &^= reason
	}
}

// polling reports whether a goroutine is inside Wait as the poller.
func (p *Proc) polling() bool { return p.rec.Slow&shmfmt.SlowPolling != 0 }

// pollingMode reports whether calls do not arm. Then the watchdog checks whether they continue.
func (p *Proc) pollingMode() bool { return p.rec.Slow&shmfmt.SlowInterrupt == 0 }

// Shared returns the record of this process and the address of those of its peers, for code in C; nil
// where C must not use them. The callers of such a process are threads.
func (p *Proc) Shared() (process *shmfmt.ProcessRecord, peers unsafe.Pointer) {
	if p.rings == nil || p.node == nil || !p.policy.Threads {
		return nil, nil
	}
	return p.rec, p.rings.Records()
}

// EagerCredit returns the eager credit of a process to which messages travel through the memory of the
// node, where C finds it; nil for other processes.
func (p *Proc) EagerCredit(peer int) *shmfmt.EagerCredit {
	if !p.Near(peer) {
		return nil
	}
	return &p.rings.Record(peer).Credit
}

// EagerMax is the largest payload of an eager message to a peer, 0 if no fabric reaches it. That of a foreign process
// stays as it is before there is a connection.
func (p *Proc) EagerMax(to int) int {
	if f := p.fabricTo(to); f != nil {
		return f.EagerMax()
	}
	return 0
}

// ChunkMax is the payload of one frame of a long message to a peer.
func (p *Proc) ChunkMax(to int) int { return p.peers.At(to).fab.ChunkMax() }

// Reader returns what can read the peer's memory, nil if there is none.
func (p *Proc) Reader(from int) fabric.Reader {
	switch e := p.peers.At(from); {
	case !e.near:
	case from >= p.job.Size:
		if p.rings.CanRead(from) {
			return p.rings
		}
	case p.node.CanRead(from):
		return p.node
	}
	return nil
}

// DownCause returns why a peer has failed, nil if it has not.
func (p *Proc) DownCause(peer int) error {
	if e := p.peers.Find(peer); e != nil {
		return e.down
	}
	return nil
}

// SetDown records that the peer has failed, drops its send queue, calls the peer-failure
// callbacks, and wakes the waiters that watch a word, since the peer may have been the one to
// store it.
func (p *Proc) SetDown(peer int, cause error) {
	p.peers.At(peer).down = cause
	p.dropQueue(peer)
	if o := p.other(peer); o != nil && o.holds == 0 {
		p.ended = append(p.ended, peer)
	}
	for _, w := range p.work {
		if m, ok := w.(FailureObserver); ok {
			m.PeerFailed(peer)
		}
	}
	if planted.WatcherForgotten {
		return
	}
	if p.pollerEvent != nil && p.pollerEvent.word != nil {
		p.pollerEvent.Fire()
	}
	for _, e := range p.parked {
		if e.word != nil {
			e.Fire()
		}
	}
}

// Lose reports that a peer has failed; the code that monitors the processes calls it. Callable
// from any goroutine, without the lock.
func (p *Proc) Lose(peer int, cause error) {
	if p.Near(peer) {
		p.node.Lose(peer, cause)
	} else if f, ok := p.far.(interface{ Lose(int, error) }); ok {
		f.Lose(peer, cause)
	}
}

// Direct returns the fabric through memory if the caller may post the next frame to a peer on it
// instead of Send, otherwise nil. It inlines: it tests whether any peer has frames in its send queue,
// which costs less than finding the entry of this peer.
func (p *Proc) Direct(to int) *shm.Fabric {
	if p.rec.Slow&shmfmt.SlowQueued == 0 && p.ThroughRings(to) {
		return p.rings
	}
	return nil
}

// Send tries to send a frame to a peer. False means that it is refused: the caller must Push it.
func (p *Proc) Send(to int, h *wire.Header, payload []byte) bool {
	e := p.peers.At(to)
	if e.queue.count() != 0 {
		return false
	}
	if e.near {
		return p.rings.Post(to, h, payload) // Unlock, or the next poll, wakes the peer
	}
	return e.fab.Send(to, h, payload)
}

// SendRun tries to send several frames of one message to a peer, as fabric.Runner does. It sends
// none if the fabric is no Runner.
func (p *Proc) SendRun(to int, h *wire.Header, payload [][]byte) int {
	e := p.peers.At(to)
	if r, ok := e.fab.(fabric.Runner); ok && e.queue.count() == 0 {
		return r.SendRun(to, h, payload)
	}
	return 0
}

// SendSoon is Send of a short frame that may leave later: in SendHeld, or with the next frame to the peer. It
// reports whether the frame is accepted; the caller must call Send if not.
func (p *Proc) SendSoon(to int, h *wire.Header, payload []byte) bool {
	e := p.peers.At(to)
	if e.near || e.queue.count() != 0 {
		return false
	}
	f, ok := e.fab.(fabric.Holder)
	return ok && f.Hold(to, h, payload)
}

// SendHeld sends the frames to a peer that are held.
func (p *Proc) SendHeld(to int) {
	if f, ok := p.peers.At(to).fab.(fabric.Holder); ok {
		f.Release(to)
	}
}
