package p2p

import (
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// BufferOverhead is the space that a buffered message takes in an attached buffer in
// addition to its payload, in bytes. MPI_BSEND_OVERHEAD of the ABI is an upper bound.
const BufferOverhead = 64

// Buffer is an attached buffer for messages in buffered mode (MPI-5, 3.6), of a
// communicator or of the process. Only the bytes are counted against it: the copies are
// in buffers of the engine's pool, which can be freed in any order.
type Buffer struct {
	mem  []byte // attached by the user; nil: without limit
	used int
	next uint64   // number of the next message
	live []uint64 // numbers of the messages that are not yet sent, ascending
	wait []bufferFlush
}

// bufferFlush is a request that waits for all messages before a number.
type bufferFlush struct {
	r      *Request
	before uint64
}

// ProcessBuffer is the context argument that means the buffer of the process.
const ProcessBuffer = 0

// Attach makes mem the buffer of ctx: a communicator's context, that of a session
// (comm.Comm.Session), or ProcessBuffer. A nil mem has no limit. It takes the lock.
func (e *Engine) Attach(ctx uint64, mem []byte) error {
	e.p.Lock()
	defer e.p.Unlock()
	if e.bufferOf(ctx) != nil {
		return class.Errorf(class.Buffer, "a buffer is attached already: detach it first")
	}
	b := &Buffer{mem: mem}
	if ctx == 0 {
		e.bsend = b
	} else {
		e.commBuffers[ctx] = b
	}
	return nil
}

func (e *Engine) bufferOf(ctx uint64) *Buffer {
	if ctx == ProcessBuffer {
		return e.bsend
	}
	return e.commBuffers[ctx]
}

// Detach waits until all messages of the buffer are sent and detaches it. It takes the lock.
func (e *Engine) Detach(ctx uint64) ([]byte, error) {
	e.p.Lock()
	defer e.p.Unlock()
	b := e.bufferOf(ctx)
	if b == nil {
		return nil, class.Errorf(class.Buffer, "no buffer is attached")
	}
	r := e.Flush(nil, ctx)
	r.operation = call.CommDetachBuffer
	if ctx == ProcessBuffer {
		r.operation = call.BufferDetach
	}
	e.Wait(r)
	err := r.Status.Err
	e.Free(r)
	if ctx == 0 {
		e.bsend = nil
	} else {
		delete(e.commBuffers, ctx)
	}
	return b.mem, err
}

// Abandon detaches the buffer of a freed communicator, if it has one. The messages in
// it are still sent. It takes the lock.
func (e *Engine) Abandon(ctx uint64) {
	e.p.Lock()
	delete(e.commBuffers, ctx)
	e.p.Unlock()
}

// Flush returns a request that completes when all messages now in the buffer are sent.
// Without a buffer the request is complete.
func (e *Engine) Flush(c *comm.Comm, ctx uint64) *Request {
	r := e.NewRequest(c, call.CommFlushBuffer)
	if ctx == ProcessBuffer {
		r.operation = call.BufferFlush
	}
	b := e.bufferOf(ctx)
	if b == nil || len(b.live) == 0 {
		e.finish(r, nil)
		return r
	}
	b.wait = append(b.wait, bufferFlush{r, b.next})
	return r
}

// startBuffered copies the message of r and starts a send of the copy. Then r is
// complete.
func (e *Engine) startBuffered(r *Request) {
	b := e.commBuffers[r.comm.Ctx]
	if b == nil && r.comm.Session != 0 {
		b = e.commBuffers[r.comm.Session]
	}
	if b == nil {
		b = e.bsend
	}
	n := r.size() + BufferOverhead
	switch {
	case b == nil:
		e.finish(r, class.Errorf(class.Buffer, "no buffer is attached for a buffered send"))
		return
	case b.mem != nil && b.used+n > len(b.mem):
		e.finish(r, class.Errorf(class.Buffer,
			"attached buffer is full: %d of %d bytes used, %d more needed", b.used, len(b.mem), n))
		return
	}
	if err := e.checkUnanswered(r); err != nil { // nobody would see an error of the copy
		e.finish(r, err)
		return
	}
	b.used += n
	s := e.newRequest(r.comm)
	s.Send, s.mode, s.ctx, s.peer, s.tag = true, Standard, r.ctx, r.peer, r.tag
	e.copyMessage(s, r)
	s.autoFree = true
	s.buffer, s.bufferSequence = b, b.next
	b.live = append(b.live, b.next)
	b.next++
	gen := s.Gen.Load()
	e.startSend(s)
	r.sequence, r.remoteHandle = s.sequence, 0
	if s.Gen.Load() == gen { // else it is complete and freed
		r.remoteHandle = s.handle
	}
	e.finish(r, nil)
}

// releaseBuffered removes message number k, with n bytes of payload, from the buffer.
func (e *Engine) releaseBuffered(b *Buffer, k uint64, n int) {
	b.used -= n + BufferOverhead
	if i, ok := slices.BinarySearch(b.live, k); ok {
		b.live = slices.Delete(b.live, i, i+1)
	}
	for i := 0; i < len(b.wait); i++ {
		if f := b.wait[i]; len(b.live) == 0 || b.live[0] >= f.before {
			b.wait = slices.Delete(b.wait, i, i+1)
			i--
			e.finish(f.r, nil)
		}
	}
}

// copyMessage makes a copy of the message of r the message of the send s, with the same
// description of the elements.
func (e *Engine) copyMessage(s, r *Request) {
	s.buf = e.buffers.get(r.size())
	s.mem, s.aux = mem.Of(s.buf), r.aux
	if c := r.checked; c != nil {
		s.checked = &checked{typ: c.typ, count: c.count, at: c.at}
	}
	r.mem.Pack(s.buf, 0)
}

// SendrecvReplace starts sending m to rank dest and receiving into m as v says. The
// request is complete when both are. The message sent has the elements that v describes.
func (e *Engine) SendrecvReplace(v *Envelope, m mem.Mem, dest int, sendTag int32) *Request {
	r := e.RecvInit(v, m)
	to := *v
	to.Peer, to.Tag = dest, sendTag
	s := e.SendInit(&to, mem.Mem{})
	if dest != ProcNull { // else m may be invalid memory, if the source is ProcNull too
		e.copyMessage(s, r)
	}
	s.Active, r.Active = true, true
	e.startRecv(r)
	e.startSend(s)
	e.Join(r, s)
	r.mode = replaces
	return r
}
