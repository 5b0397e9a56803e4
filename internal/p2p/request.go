package p2p

import (
	"cmp"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Mode is the communication mode of a send (MPI-5, 3.4).
type Mode uint8

// The modes. Ready mode is Standard with another name.
const (
	Standard Mode = iota
	Ready
	Synchronous
	Buffered

	// Modes of a receive that completes together with a send: see Join.
	exchanges
	replaces
)

// call is the blocking call of a mode.
func (m Mode) call() call.Number {
	switch m {
	case Ready:
		return call.Rsend
	case Synchronous:
		return call.Ssend
	case Buffered:
		return call.Bsend
	case exchanges:
		return call.Sendrecv
	case replaces:
		return call.SendrecvReplace
	}
	return call.Send
}

// AnySource and AnyTag are the wildcards in arguments of receives and probes;
// communication with ProcNull does nothing.
const (
	AnySource = -1
	ProcNull  = -3
	AnyTag    = match.AnyTag
)

// noPeer is the peer of a request that is neither send nor receive.
const noPeer = -4

// Status is the outcome of a completed operation.
type Status struct {
	Source    int // rank in the communicator of the request
	Bytes     uint64
	Err       error
	Tag       int32
	Cancelled bool
	Code      dtype.Code // what Recv is to receive
}

type phase uint8

const (
	phaseEager  phase = iota // send: the whole message is sent or in the send queue
	phaseReady               // send: announced; the payload waits here for Clear or Ack
	phaseStream              // send: Data frames are on their way
	phasePull                // receive: reads the sender's memory
	phaseFill                // receive: Data frames fill the buffer
	phaseRevoke              // question to the peer whether a send can be cancelled
)

// Request is an operation. It is used under the engine's lock and pooled; Gen
// distinguishes its lives. The requests of NewReusable are an exception to both.
type Request struct {
	// The fields that a short message uses come first, in four cache lines: 64 requests in
	// flight then fit into the first-level cache, together with their slots in the table and the ring.
	comm   *comm.Comm
	node   match.Node[Request] // receives: in the table of posted receives
	mem    mem.Mem             // the message, or the receive buffer
	Status Status

	Send        bool
	Persistent  bool
	Active      bool // started and not yet waited for
	autoFree    bool // nobody will wait for it: free it when it is complete
	reusable    bool // see NewReusable
	mode        Mode
	phase       phase
	parts       int8  // operations that have to complete before this request does
	peer        int32 // job index; for receives of AnySource, and for requests OfMembers, -1 until matched; or noPeer, or ProcNull
	tag         int32
	aux         uint32        // Aux of the envelope that a send sends, or that a receive expects
	receivedAux uint32        // Aux of the envelope that a receive has matched
	number      uint32        // of a receive that C has posted; 0 of others
	Gen         atomic.Uint32 // stored with Publish32 under the lock; of a reusable request without
	ctx         uint64
	sequence    uint64      // of a send: number of its eager message, 0 if a handle identifies it
	buf         []byte      // from the engine's pool: a copy of the message, or the part of it that is packed
	buffer      *Buffer     // attached buffer that holds this message
	whole       Whole       // the operation of which this request is a part
	checked     *checked    // what checking mode keeps; nil without it
	operation   call.Number // of the program; None of a send or receive whose mode tells it
	on          *comm.Comm  // in texts, in place of comm; nil for comm itself
	proc.Event

	engine       *Engine
	readyPayload [8]byte      // payload of a Ready frame: address of the message
	starter      Starter      // of a persistent request that is neither send nor receive
	observer     WaitObserver // the starter, if it implements the interface; else nil
	handle       uint64       // handle for the peer, 0 if the peer has none
	remoteHandle uint64       // the peer's handle of its request; of a buffered send the handle of its copy
	addr         uint64       // of a receive: address of the payload in the sender's memory; of a send: see tested
	need         uint64       // bytes to move
	moved        uint64       // bytes moved so far, or in the send queue
	queued       bool         // a frame of this send is in the send queue
	discards     bool         // the rest of the message is discarded, since the buffer cannot be written
	restart      bool         // Take starts the request again
	blocking     bool         // a blocking call waits for it, whose program has no handle

	Told   uint32         // Gen when the program has learned that it is complete, by a call that leaves it active
	use    uint32         // of pieces
	pieces *shmfmt.Pieces // of a message that the sender may assist with, else nil

	staged         uint64 // of a stream: offset of buf in the message
	bufferSequence uint64 // number of the message in buffer
}

// checked is what checking mode keeps of a request of the program.
type checked struct {
	typ     *dtype.Type   // of the elements; nil if it is not known
	count   int64         // of the elements
	at      callsite.Call // of the program
	guarded bool          // Start guards the memory
	guard   *bufferGuard  // nil once the program has learned that the request is complete
}

// place returns the place of the program's call for r, "" if it is not known.
func (e *Engine) place(r *Request) string {
	if r.checked == nil {
		return ""
	}
	return e.locator.Portable(&r.checked.at)
}

// newRequest returns a request of one operation, active and not complete.
func (e *Engine) newRequest(c *comm.Comm) *Request {
	var r *Request
	if n := len(e.requests); n > 0 {
		r = e.requests[n-1]
		e.requests = e.requests[:n-1]
	} else {
		r = &Request{engine: e}
		r.About = r
		r.node.Owner = r
		r.Gen.Store(1)
	}
	r.comm = c
	r.Active = true
	r.parts = 1
	r.Status.Source, r.Status.Tag = AnySource, AnyTag
	return r
}

// Free returns a request to the pool. The caller must not use it any more.
func (e *Engine) Free(r *Request) {
	// The fields are reset one by one: clearing the whole struct costs more than a
	// match. SendInit, RecvInit or the protocol sets the fields that are not reset here.
	shmfmt.Publish32(&r.Gen, r.Gen.Load()+1)
	r.Reset()
	r.Also(nil)
	r.Send, r.Persistent, r.Active, r.autoFree, r.mode = false, false, false, false, Standard
	if r.operation != call.None { // others have no starter
		e.freeOperation(r)
	}
	if r.number != 0 {
		e.releaseReceived(r)
	}
	r.aux, r.receivedAux = 0, 0
	r.mem, r.checked, r.whole = mem.Mem{}, nil, nil
	r.Status.Bytes, r.Status.Cancelled, r.Status.Err = 0, false, nil
	e.requests = append(e.requests, r)
}

// freeOperation is the part of Free for requests of NewRequest.
func (e *Engine) freeOperation(r *Request) {
	if r.observer != nil {
		r.observer = nil
		e.observers--
	}
	r.YieldOften(false)
	r.starter, r.operation, r.on = nil, call.None, nil
}

// Release frees the request now or, if it is active, when it completes (MPI_Request_free).
func (e *Engine) Release(r *Request) {
	if r.observer != nil && r.Active {
		r.observer.Abandoned()
	}
	if r.Active && !r.Done() {
		r.autoFree = true
		return
	}
	e.dropGuard(r)
	e.Free(r)
}

// Whole is an operation made of several requests.
type Whole interface {
	// PartDone is called, with the lock held, when one of them is complete. It must not
	// start communication: the caller may be in the middle of a frame or of a poll.
	PartDone(part *Request)
}

// Starter is an operation that a persistent request of NewRequest stands for. It can be
// started repeatedly.
type Starter interface {
	// Begin starts the operation. It is called with the lock held.
	Begin()
}

// WaitObserver is a Starter that observes the tests and waits of its request. Its
// methods are called with the lock held.
type WaitObserver interface {
	Starter
	// WaitStarted is called when a test or wait of the request starts or is repeated.
	// The request is active and not complete.
	WaitStarted()
	// WaitFinished is called when a test or wait has found the request complete, with
	// the error err. It returns the error for the program, and whether the request
	// starts again.
	WaitFinished(err error) (failed error, again bool)
	// Restartable reports whether a complete request may be started again without a
	// test or wait.
	Restartable() bool
	// Abandoned is called when the program frees the active request: no test or wait
	// follows. It may complete the request.
	Abandoned()
}

// PartDone implements Whole.
func (r *Request) PartDone(part *Request) { r.engine.finish(r, part.Status.Err) }

// Filled returns how many bytes a receive got, and the length of its buffer.
func (r *Request) Filled() (got, want int) { return int(r.Status.Bytes), r.size() }

// NewRequest returns an active request, which Finish completes. what is the call that it stands for.
func (e *Engine) NewRequest(c *comm.Comm, what call.Number) *Request {
	r := e.newRequest(c)
	r.peer = noPeer
	r.operation = what
	return r
}

// SetPersistent makes a request of NewRequest persistent and inactive. Start begins s,
// and Finish completes the request.
func (e *Engine) SetPersistent(r *Request, s Starter) {
	r.Persistent, r.Active, r.starter = true, false, s
	if a, ok := s.(WaitObserver); ok {
		r.observer = a
		e.observers++
	}
}

// NewPartitioned returns an inactive persistent request for a send or receive in partitions,
// which s does.
func (e *Engine) NewPartitioned(v *Envelope, send bool, what call.Number, s Starter) *Request {
	r := e.NewRequest(v.Comm, what)
	r.Send, r.ctx, r.tag = send, v.Ctx, v.Tag
	if v.Peer >= 0 {
		r.peer = v.Comm.Members[v.Peer]
	} else {
		r.peer = int32(v.Peer)
	}
	r.node.Src = r.peer
	r.YieldOften(true) // several threads of the sender may make partitions ready
	e.SetPersistent(r, s)
	return r
}

// FreePartitioned is Free of a request of NewPartitioned.
func (e *Engine) FreePartitioned(r *Request) {
	r.About = r
	e.Free(r)
}

// SetStarter sets what Starter returns, for a request that is not persistent.
func (e *Engine) SetStarter(r *Request, s Starter) { r.starter = s }

// Starter returns the argument of SetPersistent or SetStarter.
func (r *Request) Starter() Starter { return r.starter }

// Left implements proc.Leaver.
func (r *Request) Left() {
	if r.blocking {
		r.blocking, r.autoFree = false, true
	}
}

// AppendAbout implements proc.About.
func (r *Request) AppendAbout(b []byte) []byte {
	if r.operation != call.None && (r.peer < 0 || r.comm == nil) {
		return cmp.Or(r.on, r.comm).AppendOn(r.engine.p.AppendCall(b, r.operation))
	}
	what, to := r.mode.call(), " to "
	if !r.Send {
		to = " from "
		if r.mode < exchanges {
			what = call.Recv
		}
	}
	peer, tag := r.Arguments()
	b = appendOperation(b, cmp.Or(r.operation, what), r.comm, to, peer, tag)
	if r.engine.checkers != nil {
		b = r.engine.appendPlace(b, r)
	}
	return b
}

// PartOf says that an operation is a part of another call of the program. It is no message from any source.
func (r *Request) PartOf(by call.Number) { r.operation = by }

// On says which communicator texts name in place of that of a request of NewRequest.
func (r *Request) On(c *comm.Comm) { r.on = c }

// OfMembers says that the members of its communicator complete a request of NewRequest.
func (r *Request) OfMembers() { r.peer = AnySource }

// Awaits implements proc.Awaiter.
func (r *Request) Awaits() int32 {
	switch {
	case r.peer >= 0:
		return r.peer
	case r.peer == AnySource:
		return r.comm.Awaits()
	}
	return shmfmt.AwaitsUnknown
}

// appendOperation appends a description of an operation. A negative peer is any peer.
func appendOperation(b []byte, what call.Number, c *comm.Comm, to string, peer int, tag int32) []byte {
	b = c.AppendCall(b, what)
	if peer >= 0 {
		b = strconv.AppendInt(append(b, to...), int64(peer), 10)
	}
	if tag != AnyTag {
		b = strconv.AppendInt(append(b, " tag "...), int64(tag), 10)
	}
	return b
}

// Finish completes a request of NewRequest.
func (e *Engine) Finish(r *Request, err error) { e.finish(r, err) }

// SetWhole makes an active request a part of w, and has it freed when it is complete. It
// reports false if the request is complete already: then w.PartDone is not called, and
// SetWhole frees the request.
func (e *Engine) SetWhole(r *Request, w Whole) (pending bool, err error) {
	if r.Done() {
		err = r.Status.Err
		e.Free(r)
		return false, err
	}
	r.autoFree, r.whole = true, w
	return true, nil
}

// ClearWhole undoes SetWhole: no PartDone is called when the request is complete, and
// the request is still freed then. It reports false if PartDone was called already.
func (e *Engine) ClearWhole(r *Request) bool {
	was := r.whole != nil
	r.whole = nil
	return was
}

// finish completes one operation of r.
func (e *Engine) finish(r *Request, err error) {
	if err != nil && r.Status.Err == nil {
		r.Status.Err = err
	}
	r.parts--
	if r.parts > 0 {
		return
	}
	if b := r.buffer; b != nil {
		r.buffer = nil
		e.releaseBuffered(b, r.bufferSequence, r.size())
	}
	if r.buf != nil {
		e.buffers.put(r.buf)
		r.buf = nil
	}
	if w := r.whole; w != nil {
		r.whole = nil
		w.PartDone(r)
	}
	r.Fire()
	if r.autoFree {
		e.dropGuard(r) // the program will not wait for r
		e.Free(r)
	}
}

// truncated is the error of a message of size bytes in a receive buffer of room bytes.
func truncated(size uint64, room int) error {
	return &class.Error{Class: class.Truncate, Text: truncation(size, room)}
}

func truncation(size uint64, room int) string {
	return fmt.Sprintf("message truncated: %d bytes into a %d-byte buffer", size, room)
}

// setEnvelope sets the status of a receive that has matched a message.
func (r *Request) setEnvelope(from, tag int32, size uint64) {
	r.peer = from
	s := &r.Status
	s.Source, s.Tag, s.Bytes = r.comm.RankOf(from), tag, size
	if s.Source < 0 || size > uint64(r.size()) {
		r.wrongEnvelope(size)
	}
}

// wrongEnvelope is the part of setEnvelope for messages that do not fit, or come from no member.
func (r *Request) wrongEnvelope(size uint64) {
	s := &r.Status
	if room := r.size(); size > uint64(room) {
		s.Bytes = uint64(room)
		s.Err = truncated(size, room)
	}
	if s.Source < 0 {
		r.engine.refuseNonMember(r.peer)
		s.Err = class.Errorf(class.Intern, "the message comes from a process that is not in the communicator")
	}
}
