package mpi

import (
	"math"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/part"
)

// PsendInit makes a request for a send whose memory becomes ready in partitions: equal parts of
// buf, which goroutines fill one by one. Start begins a round; then Pready says of each partition
// that it may go. The request is complete when all partitions have been sent, and inactive until
// the next Start once the program has waited for it.
//
// The receive is one of PrecvInit, never another one. The number of partitions may differ there,
// but the elements and their number must be the same. Sends and receives of one communicator,
// source and tag match in the order in which they were made.
//
// Cost: on a node Pready copies the partition to the receive buffer, without a lock and without a
// call of the receiver. Memory of AllocMem is faster than other memory there. Between nodes,
// partitions that are ready at the same time travel together.
//
// C: MPI_Psend_init, section 4.2.1.
func PsendInit[T any](c *Comm, buf []T, partitions, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.partitioned(call.PsendInit, m, e, len(buf), partitions, dest, tag)
}

// PrecvInit makes a request for a receive in partitions; see PsendInit. Each Start allows the
// sender to write one more message to buf, and Parrived says which partitions are there. source and
// tag are no wildcards.
//
// C: MPI_Precv_init, section 4.2.1.
func PrecvInit[T any](c *Comm, buf []T, partitions, source, tag int) Request {
	m, e := dataOf(c, buf)
	return c.partitioned(call.PrecvInit, m, e, len(buf), partitions, source, tag)
}

// PsendInit is the function PsendInit for a Buffer, whose elements are divided into partitions.
//
// C: MPI_Psend_init, section 4.2.1.
func (c *Comm) PsendInit(b Buffer, partitions, dest, tag int) Request {
	m, e := b.sent(c)
	return c.partitioned(call.PsendInit, m, e, int(b.b.Count()), partitions, dest, tag)
}

// PrecvInit is the function PrecvInit for a Buffer, whose elements are divided into partitions.
//
// C: MPI_Precv_init, section 4.2.1.
func (c *Comm) PrecvInit(b Buffer, partitions, source, tag int) Request {
	m, e := b.received(c)
	return c.partitioned(call.PrecvInit, m, e, int(b.b.Count()), partitions, source, tag)
}

// partitioned makes the request of call k for a message of count elements.
func (c *Comm) partitioned(k call.Number, m mem.Mem, of signature, count, partitions, peer, tag int) Request {
	if err := c.checkMessage(k, m, peer, tag, k.Is(call.Source)); err != nil {
		return Request{err: err}
	}
	bad := func(cl Class, format string, args ...any) Request {
		e := newError(cl, k, c, format, args...)
		e.Peer, e.Tag, e.receive = peer, tag, k.Is(call.Source)
		return Request{err: e.raised()}
	}
	switch {
	case peer == AnySource:
		return bad(ErrRank, "a partitioned receive names its source")
	case tag == AnyTag:
		return bad(ErrTag, "a partitioned receive names its tag")
	case partitions < 0 || partitions > math.MaxInt32:
		return bad(ErrArg, "%d partitions", partitions)
	case partitions == 0 && count > 0 || partitions > 0 && count%partitions != 0:
		return bad(ErrCount, "%d elements in %d partitions", count, partitions)
	}
	e := c.w.P2P
	e.Proc().Lock()
	var v p2p.Envelope
	c.setEnvelope(&v, k, of, peer, engineTag(tag))
	var r *p2p.Request
	var err error
	if k.Is(call.Source) {
		r = c.w.Part.RecvInit(&v, m, partitions)
	} else {
		r, err = c.w.Part.SendInit(&v, m, partitions)
	}
	if err != nil {
		e.Proc().Unlock()
		return Request{err: describe(err, k, c, peer, tag).raised()}
	}
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}

// Pready says that a partition of a send of PsendInit, which has been started, is ready: the
// program does not change it until the request is complete. Any number of goroutines may call it at
// the same time, each for other partitions; it does not wait.
//
// C: MPI_Pready, section 4.2.1.
func (q Request) Pready(partition int) error {
	return q.ready(call.Pready, partition, partition)
}

// PreadyRange is Pready for the partitions low to high, both included. They travel together.
//
// C: MPI_Pready_range, section 4.2.1.
func (q Request) PreadyRange(low, high int) error { return q.ready(call.PreadyRange, low, high) }

// PreadyList is Pready for the partitions of a list. It stops at the first error.
//
// C: MPI_Pready_list, section 4.2.1.
func (q Request) PreadyList(partitions []int) error {
	for lo := 0; lo < len(partitions); {
		hi := lo + 1
		for hi < len(partitions) && partitions[hi] == partitions[hi-1]+1 {
			hi++
		}
		if err := q.ready(call.PreadyList, partitions[lo], partitions[hi-1]); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// ready marks the partitions low to high of a send.
func (q Request) ready(k call.Number, low, high int) error {
	if err := q.unusable(k); err != nil {
		return raise(err)
	}
	s, ok := q.r.Starter().(*part.Send)
	if !ok {
		return fail(ErrRequest, k, q.c, "request of %v is no partitioned send", q.call())
	}
	if err := s.Ready(low, high+1); err != nil {
		return raise(q.describePartition(err, k))
	}
	return nil
}

// unusable returns an error if the request cannot be one of a partitioned send or receive. It takes
// no lock.
func (q *Request) unusable(k call.Number) *Error {
	switch {
	case q.err != nil:
		return q.err
	case q.r == nil:
		return newError(ErrRequest, k, nil, "request is null")
	case q.stale():
		return newError(ErrRequest, k, q.c, "request of %v is stale: it was freed through another copy", q.call())
	}
	return nil
}

// describePartition describes an error of the engine in a call for one of the partitions.
func (q *Request) describePartition(err error, k call.Number) *Error {
	e := q.c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	peer, tag := q.r.Arguments()
	return describe(err, k, q.c, peer, publicTag(tag))
}

// Parrived reports whether a partition of a receive of PrecvInit is in the buffer, where the program
// may use it at once. It is true if the request is null or inactive. It does not complete the
// request, and makes progress. Several goroutines may call it at the same time.
//
// C: MPI_Parrived, section 4.2.2.
func (q Request) Parrived(partition int) (bool, error) {
	const k = call.Parrived
	if q.r == nil && q.err == nil {
		return true, nil
	}
	if err := q.unusable(k); err != nil {
		return false, raise(err)
	}
	r, ok := q.r.Starter().(*part.Recv)
	if !ok {
		return false, fail(ErrRequest, k, q.c, "request of %v is no partitioned receive", q.call())
	}
	if uint(partition) >= uint(r.Parts()) {
		return false, fail(ErrArg, k, q.c, "partition %d of a request of %d", partition, r.Parts())
	}
	if r.Arrived(partition) {
		return true, nil
	}
	e, err := q.begin(k)
	if e == nil {
		return false, raise(err)
	}
	done := e.Test(q.r)
	active, failed := q.r.Active, q.r.Status.Err
	e.Proc().Unlock()
	switch {
	case !active || r.Arrived(partition):
		return true, nil
	case done && failed != nil:
		return false, raise(q.describePartition(failed, k))
	}
	return false, nil
}

// freePartitioned frees a request that is not active.
func (q *Request) freePartitioned() {
	q.r.Starter().(interface{ Free() }).Free()
}

// partitioned reports whether the call makes requests of partitioned communication.
func partitioned(k call.Number) bool { return k == call.PsendInit || k == call.PrecvInit }
