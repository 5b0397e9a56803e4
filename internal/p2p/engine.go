// Package p2p is the semantics of point-to-point communication (MPI-5 chapter
// 3), written once over the fabric contract.
//
// # Protocols
//
// A short message travels in one Eager frame, at the cost of eager credit with
// the peer; a synchronous one asks for an Ack. A message that is long, or that
// finds no credit, is announced by a Ready frame and its payload stays with the
// sender: the receiver, once it has a matching receive, reads it from the
// sender's memory where the fabric can (one copy) and sends Ack, or else sends
// Clear and is sent Data frames. So the payload that a receiver must buffer for
// a peer is bounded by the credit, while envelopes keep flowing and a receive
// with a later tag is never blocked by messages before it.
//
// Every function is called with the engine's lock held unless it says that it
// takes the lock.
package p2p

import (
	"fmt"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// window is the eager credit with each peer in bytes: what a process buffers
	// at most for a peer whose messages it does not receive.
	window = 2 << 20
	// frameCost is what an eager message costs beside its payload, in bytes:
	// the record of an unexpected message.
	frameCost = 128
	// tiny is the longest payload in bytes that travels with its envelope even
	// without credit: what it takes is little beside the envelope's record, and
	// the send is complete only when it is matched.
	tiny = 256
	// unansweredMax is how many sends to a peer may wait for it to say that they
	// are matched, beside those that credit pays for: each costs the peer the
	// record of a message, and up to tiny bytes.
	unansweredMax = 4 << 20
)

// Engine is the point-to-point part of one process.
type Engine struct {
	p     *proc.Proc
	me    int32
	table *match.Table[Request, Message]
	peers []peer
	dead  []int32     // peers that are gone
	hdr   wire.Header // scratch: headers handed to a fabric must not escape

	requests []*Request // free ones
	messages []*Message
	buffers  buffers
	names    Names[Request]

	pulls   []*Request // receives that read from the sender's memory
	streams []*Request // sends that stream Data frames
	probes  []*probe
	waits   []*group // free ones
	scratch []*Request
	iov     [fabric.RunSlices][]byte // scratch: blocks of memory handed to a fabric
	limit   int                      // unansweredMax; less in tests
	self    int                      // bytes buffered of messages to itself
	taken   int                      // messages that a matched probe holds
	closing bool                     // nothing will be received any more

	attendants int     // requests that are told when they are waited for
	bsend      *Buffer // attached to the process, nil if none

	commBuffers map[uint64]*Buffer // attached to communicators, by context

	checkers []bool // processes that check types; nil if this one does not
	told     []told // by peers that check, beside them in peers: whose size counts
	claims   map[*Message]*claim
	aside    wire.Header // of Check frames

	other fabric.Sink // of kinds that are not of this package, nil if there is none
}

// peer is what the engine keeps for each process of the job.
//
// What a peer may cost is agreed: each side counts it, since only the one that
// sends can keep to it and only the one that receives can be relied on. Frames
// arrive in order, and what gives room travels in them: so the receiver never
// counts more than a correct sender did when it sent, and one that goes beyond
// has broken the rule (Refuse).
type peer struct {
	credit     int    // bytes of eager messages that may be sent now
	unanswered int    // sends that wait for Ack or Clear
	numbered   uint64 // eager messages of requests so far
	revokes    int    // of our messages the peer is asked for, without an answer yet
	answers    int    // to such questions of the peer, that wait for room on their way

	room  int // bytes of eager messages that the peer may still send: window, less what is held here and what is owed
	owed  int // bytes of eager messages consumed and not yet told
	asked int // sends of the peer that wait for our Ack or Clear

	refused bool     // the peer has broken a rule: it is about to be down
	eager   int      // longest message that is sent unasked
	placed  *Request // receive that the payload in arrival is placed into
	filling *Message // message that the payload in arrival is placed into
}

// New makes the engine of p. Start p with it as sink and worker.
func New(p *proc.Proc) *Engine {
	e := &Engine{
		p:     p,
		me:    int32(p.Job().Rank),
		table: match.New[Request, Message](rand.Uint64()),
		peers: make([]peer, p.Job().Size),
		limit: unansweredMax,

		commBuffers: make(map[uint64]*Buffer),
	}
	for i := range e.peers {
		e.peers[i].credit, e.peers[i].room = window, window
		if int32(i) == e.me {
			e.peers[i].eager = wire.MaxPayload
		} else {
			e.peers[i].eager = p.EagerMax(i)
		}
	}
	return e
}

// Proc returns the process.
func (e *Engine) Proc() *proc.Proc { return e.p }

// spend takes the credit for an eager message of n bytes, and reports false if
// there is not enough.
func (e *Engine) spend(to int32, n int) bool {
	q := &e.peers[to]
	if n > q.eager || q.credit < n+frameCost {
		return false
	}
	q.credit -= n + frameCost
	return true
}

// crowded returns an error if the peer of r has as many sends to answer as it
// takes without credit.
func (e *Engine) crowded(r *Request) error {
	if r.peer < 0 || e.peers[r.peer].unanswered < e.limit {
		return nil
	}
	return &class.Error{Class: class.NoMem, Text: fmt.Sprintf(
		"too many sends wait to be received by rank %d: %d", r.comm.RankOf(r.peer), e.peers[r.peer].unanswered)}
}

// consumed counts an eager message of n bytes that no longer needs room here,
// and tells the peer now and then.
func (e *Engine) consumed(from int32, n int) {
	q := &e.peers[from]
	q.owed += n + frameCost
	if q.owed >= window/2 {
		e.hdr = wire.Header{Kind: wire.Credit, Arg: uint64(q.owed)}
		q.room += q.owed
		q.owed = 0
		e.p.Queue(int(from), &e.hdr, nil, nil)
	}
}
