package p2p

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/hot"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Receives that C has posted
//
// C posts receives in a queue of its own (shmfmt.ReceiveQueue) while the table is empty, and completes them
// with frames of the rings. The queue and the table never both contain receives: Proc.Lock calls
// importPosted first of all, so that all code under the lock finds every posted receive in the table, in the
// order of the posts. It does not matter for what the lock is taken.

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

// letPost lets C post receives from now on. Before the first Irecv there is no queue, which takes memory.
func (e *Engine) letPost() {
	if p, _ := e.p.Shared(); p.Requests.Receives == nil {
		p.Requests.Receives = hot.Owned[shmfmt.ReceiveQueue](e)
		p.Requests.Receives.Init()
	}
}

// importPosted posts the receives that C has posted, in the same order.
func (e *Engine) importPosted() {
	p, _ := e.p.Shared()
	q := p.Requests.Receives
	for rec := range q.All() {
		c := e.posting[rec.Ctx] // it is there: C posts only as long as it is
		v := Envelope{Comm: c.comm, Ctx: rec.Ctx, Peer: int(rec.Source), Tag: rec.Tag}
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
