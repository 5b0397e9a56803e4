package mpi

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Layouts are the numbers of the layouts of the records that compiled code reads: those of CommDescriptor,
// MessageDescriptor, WinDescriptor, FileDescriptor and ShareType. abi/lib/fast_layout.h contains the layouts and
// their numbers. Code compiled for another layout must not read the record.
//
// C: none; MPI_Init and the first session come here.
func (internals) Layouts() shmfmt.Layouts {
	return shmfmt.Layouts{
		Slot:    shmfmt.LayoutNumber(coll.DescriptorLayout()),
		Message: shmfmt.LayoutNumber(p2p.DescriptorLayout()),
		Win:     shmfmt.LayoutNumber(rma.DescriptorLayout()),
		File:    shmfmt.LayoutNumber(file.DescriptorLayout()),
		Type:    shmfmt.LayoutNumber(dtype.DescriptorLayout()),
	}
}

// CommDescriptor is the address of a record outside of the Go heap, with the progress of this
// process in blocking collectives on the communicator. It exists for bindings for other languages, whose
// compiled code then does the shortest collectives itself: see Layouts. The address is valid until the
// communicator is freed, as long as the Comm is reachable. It is 0 in checking mode, if the
// members do not all share memory, and for a communicator that is still being made or has been
// freed.
//
// C: none; MPI_Barrier and others look at it.
func (internals) CommDescriptor(c *Comm) uintptr {
	if c.freed.Load() || c.w.SlowPath() {
		return 0
	}
	return c.w.Coll.Descriptor(c.core)
}

// MessageDescriptor is the address of a record outside of the Go heap, by which compiled code sends and
// receives short messages on the communicator itself. What CommDescriptor says of its record holds for this
// one, too. The address is 0 also if no other member is reached through shared memory.
//
// C: none; MPI_Send and others look at it.
func (internals) MessageDescriptor(c *Comm) uintptr {
	if c.freed.Load() || c.w.SlowPath() {
		return 0
	}
	return c.w.P2P.Descriptor(c.core, c, hints(c.hints.Load())&noAnyTag == 0)
}

// CloseMessages ends the use of the MessageDescriptor: compiled code does not find it any more. Receives that
// it has posted go on.
//
// C: none; MPI_Comm_free comes here.
func (internals) CloseMessages(c *Comm) { c.w.P2P.CloseDescriptor(c.core) }

// WakeLocal wakes a process of the node, by its number there, to which compiled code has sent a message, or,
// with room, from which it has received one and which waits for room. Code that uses a MessageDescriptor
// calls it when the records say that the process sleeps or waits. c is any communicator of this process.
//
// C: none; MPI_Send and others wake processes here.
func (internals) WakeLocal(c *Comm, local int, room bool) { c.w.P2P.Wake(local, room) }

// SentRequest is the request of a send that compiled code has made with a number, by the
// MessageDescriptor. It is complete.
//
// C: none; for bindings whose compiled code completes MPI_Isend by itself.
func (internals) SentRequest(c *Comm, number uint32) Request {
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	return newRequest(call.Isend, c, e.Sent(c.core, number))
}

// ReceivedRequest is the request of a receive that compiled code has posted with a number, by the
// MessageDescriptor; from then on that code leaves the request to this package. ok is false if the
// request has ended. c stands for a communicator that has been freed.
//
// C: none; for bindings whose compiled code completes MPI_Irecv by itself.
func (internals) ReceivedRequest(c *Comm, number uint32) (q Request, ok bool) {
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	r, owner := e.Received(c.core, number)
	if r == nil {
		return Request{}, false
	}
	if of, ok := owner.(*Comm); ok {
		c = of
	}
	return newRequest(call.Irecv, c, r), true
}

// Await waits until a word that the CommDescriptor refers to is n or more. Code that uses the
// CommDescriptor calls it if a collective that it has begun has to wait for long. Await returns
// the error of the collective if the word cannot reach n because a member has died.
//
// C: none; MPI_Barrier and others wait here.
func (internals) Await(c *Comm, word *atomic.Uint64, n uint64) error {
	k, err := c.w.Coll.Await(c.core, word, n)
	return c.done(k, err)
}

// Disagreement returns the error of a collective in which members state different things about what they
// give; nil if they do not contradict each other. Code that uses the CommDescriptor calls it in the
// collective that it has begun, when it has found that the words differ, as the last member to arrive or
// when that one has released it with an error.
//
// C: none; MPI_Allreduce and others report different lengths here.
func (internals) Disagreement(c *Comm, last bool) error {
	k, err := c.w.Coll.Disagreement(c.core, last)
	return c.done(k, err)
}

// Ring wakes the members that sleep. Code that uses the CommDescriptor calls it when the record
// says that members sleep.
//
// C: none; MPI_Barrier and others wake members here.
func (internals) Ring(c *Comm) { c.w.Coll.Ring(c.core) }

// Balance spreads the members over the cores of the node. Code that uses the CommDescriptor calls it
// in the turns in which members tell each other on which cores they are.
//
// C: none; MPI_Barrier and others do it here.
func (internals) Balance(c *Comm) { c.w.Proc.Node().Balance() }

// ShareType writes the size and the bounds of the type to a record outside of the Go heap, which
// compiled code in C reads, and lets that code commit the type there: see Layouts. ShareType returns
// false if the type has been freed, or if it is not committed and already has another record; then
// the record must not be read. UnshareType ends the use of the record.
//
// C: none; MPI_Type_size, MPI_Type_commit and others look at it.
func (internals) ShareType(d Datatype, record *shmfmt.Type) bool {
	t, err := d.engine()
	return err == nil && t.Share(record)
}

// ShareProgram lets compiled code in C pack and unpack elements of the type by means of a record
// from ShareType, if the type is committed, is simple, and has been used before. The caller
// makes sure that calls for one record, and UnshareType, do not run concurrently.
//
// C: none; MPI_Pack and MPI_Unpack look at it.
func (internals) ShareProgram(d Datatype, record *shmfmt.Type) {
	if t, err := d.engine(); err == nil {
		t.ShareProgram(record)
	}
}

// UnshareType ends the use of a record from ShareType; compiled code in C must not be able to
// reach the record any more. The type may have been freed.
//
// C: none; MPI_Type_free comes here.
func (internals) UnshareType(d Datatype, record *shmfmt.Type) { d.h.t.Unshare(record) }
