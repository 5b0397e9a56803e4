package p2p

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// BufferOverhead is what a buffered message takes of an attached buffer beside
// its payload, in bytes (MPI_BSEND_OVERHEAD of the ABI is an upper bound of it).
const BufferOverhead = 64

// Buffer is the room for messages in buffered mode (MPI-5, 3.6): of a
// communicator or of the process. The bytes are counted against what the user
// attached; the copies themselves come from the engine's own pool, so that the
// memory can be given back in any order.
type Buffer struct {
	mem  []byte // what the user attached; nil: as much as it takes
	used int
	next uint64   // number of the next message
	live []uint64 // numbers of the messages that are not yet sent, ascending
	wait []flush
}

// flush is a request that waits for all messages before a number.
type flush struct {
	r      *Request
	before uint64
}

// ProcessBuffer stands for the context of the buffer of the process.
const ProcessBuffer = 0

// Attach makes mem the buffer of ctx, a communicator's context or
// ProcessBuffer; nil means as much as it takes. It takes the lock.
func (e *Engine) Attach(ctx uint64, mem []byte) error {
	e.p.Lock()
	defer e.p.Unlock()
	if e.attached(ctx) != nil {
		return &class.Error{Class: class.Buffer, Text: "a buffer is attached already: detach it first"}
	}
	b := &Buffer{mem: mem}
	if ctx == 0 {
		e.bsend = b
	} else {
		e.commBuffers[ctx] = b
	}
	return nil
}

func (e *Engine) attached(ctx uint64) *Buffer {
	if ctx == ProcessBuffer {
		return e.bsend
	}
	return e.commBuffers[ctx]
}

// Detach waits until all messages of the buffer are sent and detaches it. It takes the lock.
func (e *Engine) Detach(ctx uint64) ([]byte, error) {
	e.p.Lock()
	defer e.p.Unlock()
	b := e.attached(ctx)
	if b == nil {
		return nil, &class.Error{Class: class.Buffer, Text: "no buffer is attached"}
	}
	r := e.Flush(nil, ctx)
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

// Abandon detaches the buffer of a communicator that is freed, if it has one;
// the messages in it are still sent. It takes the lock.
func (e *Engine) Abandon(ctx uint64) {
	e.p.Lock()
	delete(e.commBuffers, ctx)
	e.p.Unlock()
}

// Flush returns a request that completes when all messages now in the buffer
// are sent. Without a buffer it is complete at once.
func (e *Engine) Flush(c *comm.Comm, ctx uint64) *Request {
	r := e.NewRequest(c, "BufferFlush")
	b := e.attached(ctx)
	if b == nil || len(b.live) == 0 {
		e.finish(r, nil)
		return r
	}
	b.wait = append(b.wait, flush{r, b.next})
	return r
}

// startBuffered copies the message of r into the buffer and sends the copy; r
// is complete when that is done.
func (e *Engine) startBuffered(r *Request) {
	b := e.commBuffers[r.comm.Ctx]
	if b == nil {
		b = e.bsend
	}
	n := r.size() + BufferOverhead
	switch {
	case b == nil:
		e.finish(r, &class.Error{Class: class.Buffer, Text: "no buffer is attached for a buffered send"})
		return
	case b.mem != nil && b.used+n > len(b.mem):
		e.finish(r, &class.Error{Class: class.Buffer, Text: fmt.Sprintf(
			"attached buffer is full: %d of %d bytes used, %d more needed", b.used, len(b.mem), n)})
		return
	}
	if err := e.crowded(r); err != nil { // for the copy nobody would be told
		e.finish(r, err)
		return
	}
	b.used += n
	s := e.newRequest(r.comm)
	s.Send, s.mode, s.ctx, s.peer, s.tag = true, Standard, r.ctx, r.peer, r.tag
	e.sendCopy(s, r)
	s.autoFree = true
	s.buffer, s.number = b, b.next
	b.live = append(b.live, b.next)
	b.next++
	gen := s.Gen
	e.startSend(s)
	r.serial, r.remote = s.serial, 0
	if s.Gen == gen { // not complete and freed
		r.remote = s.name
	}
	e.finish(r, nil)
}

// sent takes message number k of n payload bytes out of the buffer.
func (e *Engine) sent(b *Buffer, k uint64, n int) {
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

// sendCopy makes a copy of the message of r that of the send s, which tells the same.
func (e *Engine) sendCopy(s, r *Request) {
	s.buf = e.buffers.get(r.size())
	s.mem, s.aux, s.typ, s.count = mem.Of(s.buf), r.aux, r.typ, r.count
	r.mem.Pack(s.buf, 0)
}

// SendrecvReplace starts sending m to a rank, and receiving into it by v; the request is
// complete when both are. What is sent tells what v does.
func (e *Engine) SendrecvReplace(v *Envelope, m mem.Mem, dest int, sendTag int32) *Request {
	r := e.RecvInit(v, m)
	to := *v
	to.Peer, to.Tag = dest, sendTag
	s := e.SendInit(&to, mem.Mem{})
	if dest != ProcNull { // else, if nothing is received either, no memory need be there
		e.sendCopy(s, r)
	}
	s.Active, r.Active = true, true
	e.startRecv(r)
	e.startSend(s)
	e.Join(r, s)
	return r
}
