package link

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// Host is the owner of a Link. The lock of the process is held when the Link calls it.
type Host interface {
	// Target returns a process as a target of a window, nil if it was never used as one.
	Target(process int, window uint64) *Target
	// EpochDone says that an epoch in one frame is over at its target, which had the lock at once.
	EpochDone(t *Target)
}

// Link is what one process sends to targets by frames. The lock of the process guards all of it, and is held in all
// calls. Those that wait release it meanwhile.
type Link struct {
	p        *proc.Proc
	messages *p2p.Engine
	host     Host

	peers      peers.Table[peer]
	queues     []*Channel // with operations in their queue
	names      p2p.HandleTable[Operation]
	hdr        wire.Header                       // scratch: headers handed to a fabric must not escape
	runs       [operation.RunsMax]operation.Runs // scratch
	iov        [1][]byte                         // scratch: memory handed to a fabric
	pool       []*Operation                      // for reuse
	pages      [][]byte                          // of pageSize, for reuse
	parked     []*markWaiter                     // for reuse
	coalescing []*Channel                        // with a coalesced frame that is being filled
	spare      []*bundle                         // for reuse
	delayed    []*Channel                        // whose flush is delayed, so that others join it
}

// peer is the state of frames to a process.
type peer struct {
	requests int  // without an answer yet
	stuck    bool // a frame of a queue is in the send queue of the process
	refused  bool // it has broken a rule, and is about to be down
}

// New returns the link of a process.
func New(p *proc.Proc, messages *p2p.Engine, host Host) *Link {
	return &Link{p: p, messages: messages, host: host, peers: peers.Make[peer](p.Known(), nil)}
}

// Target is the frames to one member of a window. The owner of the Link embeds it.
type Target struct {
	Rank    int   // changes when members of the window come and go
	Process int32 // its local number

	link    *Link
	window  uint64 // the id
	dynamic bool   // so only the target knows which memory there is

	main   Channel    // see Channel
	others []*Channel // of views with a channel of their own, by number - 1; nil until first used
	epoch  epoch
}

// Open makes t, which is zero but for its rank and process, a target of a window.
func (l *Link) Open(t *Target, window uint64, dynamic bool) {
	t.link, t.window, t.dynamic, t.main.target = l, window, dynamic, t
}

// Window returns the id of the window of t.
func (t *Target) Window() uint64 { return t.window }

// Refuse takes down a peer that has broken a rule.
func (l *Link) Refuse(from int, format string, args ...any) {
	l.peers.At(from).refused = true
	l.messages.Refuse(from, "%s", fmt.Sprintf(format, args...))
}

// Refused reports whether a peer has broken a rule, or is down: its frames are ignored.
func (l *Link) Refused(from int) bool { return l.peers.At(from).refused }

// Lost ends what is under way to a process that has died, but for what LoseTarget ends.
func (l *Link) Lost(process int) {
	*l.peers.At(process) = peer{refused: true}
	for i := 0; i < len(l.queues); i++ {
		c := l.queues[i]
		if int(c.target.Process) != process {
			continue
		}
		clear(c.queue)
		c.queue, c.first, c.listed = c.queue[:0], 0, false
		l.queues = slices.Delete(l.queues, i, i+1)
		l.p.SetBusy(-1)
		i--
	}
	for i := 0; i < len(l.coalescing); i++ {
		if c := l.coalescing[i]; int(c.target.Process) == process {
			l.Release(c) // it is dropped
			i--
		}
	}
}

// LoseTarget ends all operations on a target that has died. It follows Lost.
func (l *Link) LoseTarget(t *Target) {
	cause := l.p.DownCause(int(t.Process))
	for c := range t.Channels {
		for c.oldest != nil {
			l.finish(c.oldest, Gone(t.Rank, cause))
		}
		c.notify()
	}
}

// Forget drops the state of a process that has died.
func (l *Link) Forget(process int) { l.peers.Forget(process) }

// Gone is the error of an operation with a rank that has died.
func Gone(rank int, cause error) error {
	return class.Errorf(class.ProcFailed, "rank %d has failed: %w", rank, cause)
}
