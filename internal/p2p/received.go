package p2p

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// # The queues of C
//
// C posts receives in a queue of its own (shmfmt.ReceiveQueue) while the table is empty, and completes them
// with frames of the rings. Short messages that match none of them it keeps in a second queue
// (shmfmt.UnexpectedQueue), where its later receives look first. The table is empty as long as a queue is not:
// Proc.Lock calls importQueues first of all, for whatever the lock is taken. So all code under the lock finds every
// posted receive and every unexpected message in the table, in the order of the posts and of the arrival.

// postingComm is a communicator on which C may post receives.
type postingComm struct {
	comm   *comm.Comm
	owner  any
	record *shmfmt.CommRecord
}

// importedReceive is a request of a receive that C has posted, with the owner of its communicator.
type importedReceive struct {
	r     *Request
	owner any
}

// makeQueues lets C post receives, and keep messages, from now on. Programs that have no use for the queues have none,
// since they take memory.
func (e *Engine) makeQueues() {
	if p, _ := e.p.Shared(); p.Requests.Receives == nil {
		p.Requests.Receives = offheap.Owned[shmfmt.ReceiveQueue](e)
		p.Requests.Receives.Init()
		p.Requests.Unexpected = offheap.Owned[shmfmt.UnexpectedQueue](e)
		p.Requests.Unexpected.Init()
	}
}

// importQueues moves what is in the queues of C to the table, in the same order.
func (e *Engine) importQueues() {
	p, _ := e.p.Shared()
	e.importUnexpected(p.Requests.Unexpected)
	e.importPosted(p.Requests.Receives)
}

// importUnexpected adds the messages that C has kept to the unexpected ones.
func (e *Engine) importUnexpected(q *shmfmt.UnexpectedQueue) {
	members := e.p.Node().Members()
	for rec := range q.All() {
		if planted.UnexpectedForgotten && rec == q.At(q.Next) {
			continue
		}
		h := wire.Header{Kind: wire.Eager, Size: rec.Size, Aux: rec.Aux, Arg: rec.Arg}
		m := e.newEagerMessage(match.Key{Ctx: rec.Ctx, Src: int32(members[rec.Word>>32]), Tag: int32(rec.Word)}, &h)
		copy(m.data, rec.Data[:])
		e.addUnexpected(m)
	}
	q.Imported()
}

// importPosted posts the receives that C has posted.
func (e *Engine) importPosted(q *shmfmt.ReceiveQueue) {
	for rec := range q.All() {
		c := e.posting[rec.Ctx] // it is there: C posts only as long as it is
		v := Envelope{Comm: c.comm, Ctx: rec.Ctx, Peer: int(rec.Source), Tag: rec.Tag, Code: dtype.Code(rec.Code)}
		if uint32(rec.Mask) == 0 {
			v.Tag = AnyTag
		}
		r := e.RecvInit(&v, mem.Of(unsafe.Slice((*byte)(rec.Buffer), rec.Room)))
		r.Active = true
		e.adopt(rec, r, c.owner)
		e.startRecv(r)
	}
	q.Imported()
}

// adopt makes r the request of a receive of C.
func (e *Engine) adopt(rec *shmfmt.ReceiveRecord, r *Request, owner any) {
	if e.imported == nil {
		e.imported = make([]importedReceive, shmfmt.ReceivesMost)
	}
	r.number = rec.Number
	e.imported[r.number%shmfmt.ReceivesMost] = importedReceive{r, owner}
}

// Received returns the request of the receive that C has posted with a number, and the owner of its
// communicator, nil if that has been freed. The request is nil if it has ended. After that C leaves the
// request to this package.
func (e *Engine) Received(c *comm.Comm, number uint32) (r *Request, owner any) {
	p, _ := e.p.Shared()
	if p == nil || p.Requests == nil || p.Requests.Receives == nil {
		return nil, nil
	}
	rec := p.Requests.Receives.Find(number)
	if rec == nil {
		return nil, nil
	}
	if rec.State == shmfmt.ReceiveComplete {
		if o := e.posting[rec.Ctx]; o != nil {
			c, owner = o.comm, o.owner
		}
		r := e.newRequest(c)
		r.ctx, r.tag, r.peer = rec.Ctx, rec.Tag, int32(e.p.Node().Members()[rec.Word>>32])
		r.node.Src = r.peer
		e.adopt(rec, r, owner)
		rec.State = shmfmt.ReceiveImported
		r.Status = Status{Source: int(rec.Source), Tag: rec.Tag, Bytes: uint64(rec.Bytes)}
		e.finish(r, nil)
	}
	i := e.imported[number%shmfmt.ReceivesMost]
	return i.r, i.owner
}

// releaseReceived frees the record of a receive that C has posted.
func (e *Engine) releaseReceived(r *Request) {
	p, _ := e.p.Shared()
	e.imported[r.number%shmfmt.ReceivesMost] = importedReceive{}
	q := p.Requests.Receives
	q.Release(q.Find(r.number))
	r.number = 0
}

// AllowAnyTag says whether C may receive messages with any tag in a context. It takes the lock.
func (e *Engine) AllowAnyTag(ctx uint64, allowed bool) {
	e.p.Lock()
	defer e.p.Unlock()
	if c := e.posting[ctx]; c != nil {
		c.allowAnyTag(allowed)
	}
}

func (c *postingComm) allowAnyTag(allowed bool) {
	c.record.AnyTag.Store(0)
	if allowed {
		c.record.AnyTag.Store(1)
	}
}

// CloseDescriptor ends the use of the Descriptor of a communicator: C does not find it any more. It takes
// the lock.
func (e *Engine) CloseDescriptor(c *comm.Comm) {
	e.p.Lock()
	defer e.p.Unlock()
	delete(e.posting, c.Ctx)
}
