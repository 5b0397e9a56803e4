package p2p

import (
	"fmt"
	"strconv"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/proc"
)

// Mode is the communication mode of a send (MPI-5, 3.4).
type Mode uint8

// The modes. Ready mode is Standard.
const (
	Standard Mode = iota
	Synchronous
	Buffered
)

// AnySource and AnyTag are the wildcards in arguments of receives and probes;
// communication with ProcNull does nothing.
const (
	AnySource = -1
	ProcNull  = -3
	AnyTag    = match.AnyTag
)

// Status is the outcome of a completed operation.
type Status struct {
	Source    int // rank in the communicator of the request
	Tag       int32
	Bytes     uint64
	Cancelled bool
	Code      dtype.Code // what Recv is to receive
	Err       error
}

type phase uint8

const (
	phaseEager  phase = iota // the whole message is in the backlog, or gone
	phaseReady               // announced; the payload waits here for Clear or Ack
	phaseStream              // Data frames are on their way
	phasePull                // a receive that reads the sender's memory
	phaseFill                // a receive that is being filled by Data frames
	phaseRevoke              // asks the peer for a message back
)

// Request is an operation. It is used under the engine's lock, pooled, and told
// from its earlier lives by Gen.
type Request struct {
	proc.Event
	Gen    uint32
	engine *Engine
	comm   *comm.Comm
	node   match.Node[Request] // receives: in the table of posted receives

	Send       bool
	Persistent bool
	Active     bool // started and not yet waited for
	autoFree   bool // nobody will wait: free it when it is complete
	mode       Mode
	phase      phase
	what       string // names an operation that is neither send nor receive
	peer       int32  // job index; for receives of AnySource -1 until matched
	tag        int32
	aux        uint32 // Aux of the envelope: of a send what it tells, of a receive what that is compared with
	told       uint32 // Aux of the envelope that a receive has got
	ctx        uint64
	mem        mem.Mem // the message, or the room for it
	token      [8]byte // payload of a Ready frame: address of the message

	name   uint64 // own name while a peer may use it, 0 if none
	remote uint64 // the peer's name for its half; of a buffered send the name of its copy
	serial uint64 // of a send: number of its eager message, 0 if that is named
	addr   uint64 // where the payload is in the sender's memory
	need   uint64 // bytes to move
	moved  uint64 // bytes moved so far, or handed to the backlog
	queued bool   // a frame of this send is in the backlog

	starter   Starter   // of a persistent request that is neither send nor receive
	attendant Attendant // the starter, if it is one; else nil
	again     bool      // the attendant begins again

	buf    []byte // of the engine, which takes it back at the end: a copy of the message, or of a stage of it
	staged uint64 // of a stream: where in the message buf begins

	typ   *dtype.Type // of its elements, in checking mode; nil if it is not known
	count int64       // of those

	parts  int8    // operations that have to complete before this request does
	whole  Whole   // what this request is a part of
	buffer *Buffer // attached buffer that holds this message
	number uint64  // the message's number in it
	Status Status
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
		r.Gen = 1
	}
	r.comm = c
	r.Active = true
	r.parts = 1
	r.Status.Source, r.Status.Tag = AnySource, AnyTag
	return r
}

// Free returns a request to the pool: the handle is no longer valid.
func (e *Engine) Free(r *Request) {
	// Field by field, since clearing the whole struct costs more than a match.
	// What is not reset here is set by SendInit or RecvInit, or by the protocol
	// that uses it.
	r.Gen++
	r.Reset()
	r.Also(nil)
	r.Send, r.Persistent, r.Active, r.autoFree = false, false, false, false
	if r.attendant != nil {
		r.attendant = nil
		e.attendants--
	}
	r.aux, r.told = 0, 0
	r.mem, r.typ, r.whole, r.starter, r.what = mem.Mem{}, nil, nil, nil, ""
	r.Status.Bytes, r.Status.Cancelled, r.Status.Err = 0, false, nil
	e.requests = append(e.requests, r)
}

// Release frees the request now or, if it is active, when it completes (MPI_Request_free).
func (e *Engine) Release(r *Request) {
	if r.attendant != nil && r.Active {
		r.attendant.Leave()
	}
	if r.Active && !r.Done() {
		r.autoFree = true
		return
	}
	e.Free(r)
}

// Whole is an operation made of several requests.
type Whole interface {
	// PartDone is called, with the lock held, when one of them is complete. It
	// must not start communication at once: it is called from deep inside.
	PartDone(part *Request)
}

// Starter is an operation made of several requests that can be started again and
// again: what a persistent request of NewRequest stands for.
type Starter interface {
	// Begin starts it. It is called with the lock held.
	Begin()
}

// Attendant is a Starter that does something when the program looks for the end of its
// request, in a test or wait. Its methods are called with the lock held.
type Attendant interface {
	Starter
	// Attend says that a test or wait begins, or has been begun again, of the request,
	// which is active and not complete.
	Attend()
	// Taken says that a test or wait has found the request complete, with the error err.
	// It returns the error that is to be told, and whether the request begins again.
	Taken(err error) (failed error, again bool)
	// Renews reports whether the request may be started again when it is complete, without
	// a test or wait.
	Renews() bool
	// Leave says that nobody will look for the end of the request, which is active. It may
	// complete it.
	Leave()
}

// PartDone implements Whole.
func (r *Request) PartDone(part *Request) { r.engine.finish(r, part.Status.Err) }

// Filled is how many bytes a receive got, and the length of its buffer.
func (r *Request) Filled() (got, want int) { return int(r.Status.Bytes), r.size() }

// NewRequest returns an active request that Finish completes; what names the
// operation that it stands for.
func (e *Engine) NewRequest(c *comm.Comm, what string) *Request {
	r := e.newRequest(c)
	r.peer = -1
	r.what = what
	return r
}

// SetPersistent makes a request of NewRequest inactive, and persistent: Start
// begins s, which Finish ends.
func (e *Engine) SetPersistent(r *Request, s Starter) {
	r.Persistent, r.Active, r.starter = true, false, s
	if a, ok := s.(Attendant); ok {
		r.attendant = a
		e.attendants++
	}
}

// SetStarter notes whose request this is, which is not persistent: Starter returns it.
func (e *Engine) SetStarter(r *Request, s Starter) { r.starter = s }

// Starter is what SetPersistent or SetStarter was given.
func (r *Request) Starter() Starter { return r.starter }

// AppendAbout implements proc.About.
func (r *Request) AppendAbout(b []byte) []byte {
	if r.what != "" { // and perhaps neither peer nor communicator
		return r.comm.AppendOn(append(b, r.what...))
	}
	peer, tag := r.Arguments()
	if r.Send {
		return appendOperation(b, "Send", r.comm, " to ", peer, tag)
	}
	return appendOperation(b, "Recv", r.comm, " from ", peer, tag)
}

// appendOperation describes an operation with a peer, or with any if that is negative.
func appendOperation(b []byte, what string, c *comm.Comm, to string, peer int, tag int32) []byte {
	b = c.AppendOn(append(b, what...))
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

// SetWhole makes an active request part of w: it frees itself when complete. It
// reports false if the request is complete already; then w is not told, and the
// request has been freed.
func (e *Engine) SetWhole(r *Request, w Whole) (pending bool, err error) {
	if r.Done() {
		err = r.Status.Err
		e.Free(r)
		return false, err
	}
	r.autoFree, r.whole = true, w
	return true, nil
}

// Orphan undoes SetWhole: nobody is told when the request is complete, and it
// still frees itself. It reports false if somebody has been told.
func (e *Engine) Orphan(r *Request) bool {
	was := r.whole != nil
	r.whole = nil
	return was
}

// finish completes one operation of r.
func (e *Engine) finish(r *Request, err error) {
	if err != nil && r.Status.Err == nil {
		r.Status.Err = err
	}
	if r.parts--; r.parts > 0 {
		return
	}
	if b := r.buffer; b != nil {
		r.buffer = nil
		e.sent(b, r.number, r.size())
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
		e.Free(r)
	}
}

// truncated is the error of a message of size bytes that meets a buffer of room bytes.
func truncated(size uint64, room int) error {
	return &class.Error{Class: class.Truncate, Text: truncation(size, room)}
}

func truncation(size uint64, room int) string {
	return fmt.Sprintf("message truncated: %d bytes into a %d-byte buffer", size, room)
}

// envelope fills the status of a matched receive.
func (r *Request) envelope(from, tag int32, size uint64) {
	r.peer = from
	s := &r.Status
	s.Source = r.comm.RankOf(from)
	s.Tag = tag
	s.Bytes = size
	if room := r.size(); size > uint64(room) {
		s.Bytes = uint64(room)
		s.Err = truncated(size, room)
	}
	if s.Source < 0 {
		r.engine.intruder(from)
		s.Err = &class.Error{Class: class.Intern, Text: "the message comes from a process that is not in the communicator"}
	}
}
