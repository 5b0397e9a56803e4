package p2p

import (
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// creditMax is the eager credit with each peer in bytes. It bounds what a process
	// buffers for a peer whose messages it does not receive.
	creditMax = 2 << 20
	// messageOverhead is the credit that an eager message costs in addition to its
	// payload, in bytes: the size of the record of an unexpected message.
	messageOverhead = 128
	// uncreditedMax is the longest payload in bytes that travels with its envelope
	// without credit. It is small compared with the record of the envelope, and the
	// send completes only when it is matched.
	uncreditedMax = 256
	// unansweredMax is how many sends to a peer may wait for an answer that they are
	// matched, not counting those that credit pays for. Each costs the peer the
	// record of a message and up to uncreditedMax bytes.
	unansweredMax = 4 << 20
)

// Engine is the point-to-point part of one process.
type Engine struct {
	p     *proc.Proc
	me    int32
	table *match.Table[Request, Message]
	peers peers.Table[peer] // by local number
	dead  []int32           // peers that have failed
	hdr   wire.Header       // scratch: headers handed to a fabric must not escape

	requests []*Request // free list
	messages []*Message
	buffers  buffers
	handles  HandleTable[Request]

	pulls           []*Request // receives that read from the sender's memory
	assistances     []assistance
	assisted        bool       // senders on the node are asked to assist
	streams         []*Request // sends that stream Data frames
	probes          []*probe
	freeAnyWaits    []*anyWait
	scratch         []*Request
	iov             [fabric.RunSlices][]byte // scratch: blocks of memory handed to a fabric
	unansweredLimit int                      // unansweredMax; less in tests
	selfBuffered    int                      // bytes buffered of messages to this process itself
	heldByProbes    int                      // messages that a matched probe holds
	draining        bool                     // the program receives nothing any more but in sessions
	shuns           shuns
	refusals        bool // messages with Refuses may be among the unexpected messages
	onRefusal       func(from int32, ctx uint64, tag int32, r *Refusal) bool

	observers int     // requests that have a WaitObserver
	guards    guards  // in checking mode
	bsend     *Buffer // attached to the process, nil if none

	commBuffers map[uint64]*Buffer // attached to communicators, by context

	posting  map[uint64]*postingComm // communicators on which C may post receives, by context; nil if there are none
	imported []importedReceive       // by the index of the record; nil before the first

	checkers   peers.Set              // processes that check types; nil if this one does not
	peerClaims peers.Table[peerClaim] // in checking mode only: a field of peer would enlarge it for all
	claims     map[*Message]*claim
	locator    callsite.Locator            // in checking mode
	comms      func(ctx uint64) *comm.Comm // see FindComm; nil in tests
	checkHdr   wire.Header                 // of Check frames

	oneSided    fabric.Sink // receives the frames of one-sided communication; may be nil
	partitioned fabric.Sink // receives those of partitioned communication; may be nil
}

// peer is what the engine keeps for each process that it exchanges frames with.
//
// Both sides count what a peer may cost: the sender to stay within the limit, the
// receiver because it must not rely on the sender. Frames arrive in order, and the
// frames that return credit are among them. Therefore the receiver never counts more
// than a correct sender did when it sent. A peer that exceeds its limit has broken the
// protocol (Refuse).
type peer struct {
	*shmfmt.EagerCredit
	own           shmfmt.EagerCredit // of a process that shares no memory
	unanswered    int                // sends that wait for Ack or Clear
	openRevokes   int                // Revoke frames to the peer that it has not answered
	queuedAnswers int                // answers to Revoke frames of the peer, in its send queue
	repaid        int                // bytes of eager messages that are held, and whose credit is returned

	peerUnanswered int // sends of the peer that wait for our Ack or Clear

	refused       bool     // the peer has broken the protocol and is about to be down
	placedRecv    *Request // receive into which the fabric is placing a payload
	placedMessage *Message // message into which the fabric is placing a payload

	pulling *Request // receive that reads from its memory; others wait for that one
	use     uint32   // how often it has been asked to assist
}

// New returns the engine of p. It is the sink and a worker of p.Start.
func New(p *proc.Proc) *Engine {
	e := &Engine{
		p:               p,
		me:              int32(p.Job().Rank),
		table:           match.New[Request, Message](rand.Uint64()),
		unansweredLimit: unansweredMax,
		assisted:        len(p.Job().Local) <= p.Job().Cores,

		commBuffers: make(map[uint64]*Buffer),
	}
	p.OnImport(e.importQueues)
	e.table.Tell(p.Slow(), shmfmt.SlowPosted, shmfmt.SlowUnexpected)
	p.OnUnmatched(e.table.Unexpected, e.appendUnmatched)
	e.peers = peers.Make(p.Known(), e.initPeer)
	return e
}

// initPeer initialises what the engine keeps for a process.
func (e *Engine) initPeer(number int, q *peer) {
	q.EagerCredit = e.p.EagerCredit(number)
	if q.EagerCredit == nil {
		q.EagerCredit = &q.own
	}
	q.Credit, q.Allowance = creditMax, creditMax
	q.EagerMax = e.p.EagerMax(number)
	if int32(number) == e.me {
		q.EagerMax = wire.MaxPayload
	}
}

// Proc returns the process.
func (e *Engine) Proc() *proc.Proc { return e.p }

// takeCredit takes the credit for an eager message of n bytes. It reports false if
// there is not enough.
func (q *peer) takeCredit(n int) bool {
	if n > q.EagerMax || q.Credit < n+messageOverhead {
		return false
	}
	q.Credit -= n + messageOverhead
	return true
}

// checkUnanswered returns an error if as many sends to the peer of r wait for an answer
// as the peer accepts without credit.
func (e *Engine) checkUnanswered(r *Request) error {
	if r.peer < 0 || e.peers.At(int(r.peer)).unanswered < e.unansweredLimit {
		return nil
	}
	return class.Errorf(class.NoMem,
		"too many sends wait to be received by rank %d: %d", r.comm.RankOf(r.peer), e.peers.At(int(r.peer)).unanswered)
}

// returnCredit counts the credit of an eager message of n bytes whose record is free
// again. It returns credit to the peer in batches of half of creditMax.
func (e *Engine) returnCredit(q *peer, from int32, n int) {
	q.CreditOwed += n + messageOverhead
	if q.CreditOwed >= creditMax/2 {
		e.sendCredit(q, from)
	}
}

// sendCredit is the part of returnCredit that is seldom: without it returnCredit inlines.
func (e *Engine) sendCredit(q *peer, from int32) {
	e.hdr = wire.Header{Kind: wire.Credit, Arg: uint64(q.CreditOwed)}
	q.Allowance += q.CreditOwed
	q.CreditOwed = 0
	e.p.Queue(int(from), &e.hdr, nil, nil)
}
