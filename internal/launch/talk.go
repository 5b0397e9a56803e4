//go:build unix

package launch

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
)

// Launcher and agent exchange frames (package frame) over standard input and output of the
// agent, which ssh connects. The agent first sends agentMagic, which the launcher searches
// for, since shells may print text before it, and then a Hello. Hello and its framing must not
// change in later versions.
//
//	agent                                    launcher
//	Hello    version, versions of boot,
//	         build (may be missing)     ->
//	                                    <-   Plan     the share of the job
//	Ready    addresses, cores           ->
//	                                    <-   Reach    addresses of the other hosts
//	Reached  what could not be reached  ->
//	                                    <-   Start
//
// From then on the agent reports events (reporter) and the launcher sends requests. The
// last one is Finish, which the agent answers with Done when nothing of the job is left on
// its host. Either may send Trouble instead of the next step, and end. Both send Beats. At
// most streamCredit bytes of a stream are sent that the receiver has not consumed, so that
// a stream that nobody reads delays nothing else.

// Kinds of frames from the agent.
const (
	kindHello uint8 = 1 + iota
	kindReady
	kindReached
	kindTrouble // status, text
	kindStarted
	kindFailed
	kindJoined
	kindExchanged
	kindFinalized
	kindAborted
	kindLinkEnded
	kindEnded
	kindOutput
	kindOutputEnd
	kindInputTaken
	kindShown
	kindDone
	kindOther // library; a rank is a program of another MPI
	kindInit  // after a session
	kindInUse
	kindPublished
	kindLookup
	kindName // verb, service, port
	kindWant // index of a program, offset: see push.go
	kindSpawn
	kindGiveUp
	kindLooked // an answer to kindLook: see lookFrame
)

// Kinds of frames to the agent.
const (
	kindPlan uint8 = 64 + iota
	kindReach
	kindStart
	kindSignal
	kindOver
	kindTable
	kindNoExchange // because a rank of another host has finalized
	kindInput
	kindInputEnd
	kindOutputTaken
	kindShow // what the ranks wait for
	kindFinish
	kindFound // an answer to kindLookup
	kindNamed // an answer to kindName
	kindPiece // an answer to kindWant
	kindSpawned
	kindLook // at the ranks, for -watch
)

// kindBeat goes both ways. It says how late the timer of the sender was, in milliseconds.
const kindBeat uint8 = 128

const (
	// agentVersion is the version of the frames between launcher and agent.
	agentVersion = 7
	// agentMagic marks the start of the agent's frames.
	agentMagic = "\x00halo-agent\x00\n"
	// bannerLimit is the greatest length in bytes of text before agentMagic.
	bannerLimit = 64 << 10

	// beatInterval is the interval of heartbeats of either side.
	beatInterval = 500 * time.Millisecond
	// silence is how long nothing may arrive before the other side counts as lost, if timers of both sides are in
	// time. Together with the interval it is the bound of promise F4 after a cut cable.
	silence = 2 * time.Second
	// lateFactor is how much later than a timer a heartbeat may be, as a multiple: launcher, ssh, sshd and agent need a
	// core one after the other, and memory that may have to be read from a disk.
	lateFactor = 20
	// lateMost bounds for how late a timer counts.
	lateMost = beatInterval

	// streamCredit is how many bytes of a stream may be sent and not consumed.
	streamCredit = 64 << 10
	// piece is the largest number of bytes of a stream in one frame.
	piece = 16 << 10
)

// An outbox writes frames in the order in which they are sent, without making
// the sender wait.
type outbox struct {
	to io.Writer

	mu     sync.Mutex
	queue  []byte
	moving bool
	more   chan struct{}
	broken bool
}

func newOutbox(to io.Writer) *outbox {
	o := &outbox{to: to, more: make(chan struct{}, 1)}
	go o.run()
	return o
}

// beat sends heartbeats until the outbox is closed. They do not depend on what else this process does.
func (o *outbox) beat() {
	var late lateness
	for range time.Tick(beatInterval) {
		if o.closed() {
			return
		}
		late.tick(time.Now())
		o.send(frame.New(kindBeat).U32(uint32(late.worst.Milliseconds())).Bytes())
	}
}

// closed reports whether close was called, or nothing can be written any more.
func (o *outbox) closed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

// lateness measures how late a timer is that ticks every beatInterval. It is late on a host whose cores other processes
// use.
type lateness struct {
	last  time.Time
	worst time.Duration // of the last ticks; the older one is, the less it counts
}

func (l *lateness) tick(now time.Time) {
	l.worst -= l.worst / 8
	if !l.last.IsZero() {
		l.worst = max(l.worst, min(now.Sub(l.last)-beatInterval, lateMost))
	}
	l.last = now
}

func (o *outbox) send(frame []byte) {
	o.mu.Lock()
	if !o.broken {
		o.queue = append(o.queue, frame...)
	}
	o.mu.Unlock()
	o.wake()
}

func (o *outbox) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *outbox) run() {
	for range o.more {
		for {
			o.mu.Lock()
			batch := o.queue
			o.queue = nil
			o.moving = len(batch) > 0
			broken := o.broken
			o.mu.Unlock()
			if broken {
				return
			}
			if len(batch) == 0 {
				break
			}
			if _, err := o.to.Write(batch); err != nil { // the reader will detect the end as well
				o.close()
			}
		}
	}
}

// flush waits until everything has been written, or some time has passed.
func (o *outbox) flush(timeout time.Duration) {
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		o.mu.Lock()
		done := o.broken || len(o.queue) == 0 && !o.moving
		o.mu.Unlock()
		if done {
			return
		}
	}
}

// close drops the frames that are left and all later ones.
func (o *outbox) close() {
	o.mu.Lock()
	o.broken, o.queue = true, nil
	o.mu.Unlock()
	o.wake()
}

// liveness measures for how long nothing has arrived from the other side.
type liveness struct {
	heard   atomic.Int64 // time of the last arrival, as UnixNano; stored by the reader, loaded by age
	told    atomic.Int64 // how late the other side's timer was, in milliseconds; stored by the reader, loaded by limit
	own     lateness     // of the calls of since
	excused time.Time    // when since was called late
}

func (p *liveness) beat() { p.heard.Store(time.Now().UnixNano()) }

// take takes a heartbeat.
func (p *liveness) take(beat []byte) {
	b := frame.Body{Left: beat}
	p.told.Store(int64(b.U32()))
}

// limit returns for how long the other side may be silent.
func (p *liveness) limit() time.Duration {
	told := time.Duration(p.told.Load()) * time.Millisecond
	return silence + lateFactor*min(max(p.own.worst, told), lateMost)
}

// since returns how long nothing has arrived while this process was running. It must be called
// every beatInterval; a longer gap shows that this process itself was stopped, and counts as
// one interval.
func (p *liveness) since() time.Duration {
	now := time.Now()
	if now.Sub(p.own.last) > 2*beatInterval {
		p.excused = now
	}
	p.own.tick(now)
	return min(p.age(), now.Sub(p.excused))
}

// age returns how long nothing has arrived.
func (p *liveness) age() time.Duration { return time.Duration(time.Now().UnixNano() - p.heard.Load()) }

// livenessReader reports every read to a liveness.
type livenessReader struct {
	from io.Reader
	*liveness
}

func (r livenessReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if n > 0 {
		r.beat()
	}
	return n, err
}

// words makes a frame of numbers followed by a text.
func words(kind uint8, text string, numbers ...int) []byte {
	w := frame.New(kind)
	for _, n := range numbers {
		w.U32(uint32(int32(n)))
	}
	return w.Rest(text).Bytes()
}
