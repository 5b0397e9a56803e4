package p2p

import (
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Short messages from C
//
// A call from C to Go takes longer than a short message. So the C library itself sends and receives the
// shortest messages between processes of a node. It does what Send and recvNext do, in the same records
// (shmfmt.ProcessRecord and PeerRecord), under the engine's lock. It takes the lock only if it is free.
//
// There is one owner of matching at a time. C receives only while nothing is posted or unexpected in
// the table: what recvNext would, the next frame of a peer, or frames for the queues of C
// (received.go). In all other cases C has changed nothing and calls Go: if the lock is held, without credit
// or room, for long messages and other layouts, for errors, if a frame is not what a correct peer sends, and if the
// message does not arrive soon. C looks for it for longer as long as nothing else arrives (abi/lib/quiet.c). It also returns
// and collects credit. So C waits for nothing but that frame, and raises no errors.

// Descriptor returns the address of the record by which code in C sends and receives messages of c. It
// returns 0 if C must leave all of them to this package: if no other member is reached through memory of
// the node, or if types are checked. The address is valid as long as c is reachable, and at least until
// CloseDescriptor. Received returns the owner, which says what c is in a layer above. It takes the lock.
func (e *Engine) Descriptor(c *comm.Comm, owner any, anyTag bool) uintptr {
	if c.Inter != nil || e.checkers != nil {
		return 0
	}
	process, peers := e.p.Shared()
	if peers == nil {
		return 0
	}
	near := func(m int32) bool { return e.p.Near(int(m)) }
	if !slices.ContainsFunc(c.Members, near) {
		return 0
	}
	// The record and the numbers of the members are one block, which is freed with c.
	const size = int(unsafe.Sizeof(shmfmt.CommRecord{}))
	block := unsafe.Pointer(unsafe.SliceData(offheap.OwnedBytes(c, size+4*len(c.Members))))
	rec, locals := (*shmfmt.CommRecord)(block), unsafe.Slice((*int32)(unsafe.Add(block, size)), len(c.Members))
	for r, m := range c.Members {
		locals[r] = -1
		if near(m) {
			locals[r] = int32(e.p.Node().LocalIndex(int(m)))
		}
	}
	e.p.Lock()
	defer e.p.Unlock()
	armed := &e.p.Node().Control().Door(e.p.Node().Me()).Armed
	if process.Requests == nil {
		process.Requests = offheap.Owned[shmfmt.RequestRecords](e)
		process.Requests.Peers, process.Requests.Armed = peers, armed
		e.posting = map[uint64]*postingComm{}
	}
	rec.Ctx, rec.Process, rec.Peers, rec.Locals = c.Ctx, process, peers, unsafe.Pointer(unsafe.SliceData(locals))
	rec.Armed = armed
	posting := &postingComm{c, owner, rec}
	posting.allowAnyTag(anyTag)
	e.posting[c.Ctx] = posting
	return uintptr(unsafe.Pointer(rec))
}

// Sent returns the request of a send that C has made with a number. It is complete. If the send is one of
// the last it can be cancelled.
func (e *Engine) Sent(c *comm.Comm, number uint32) *Request {
	r := e.newRequest(c)
	r.Send, r.mode, r.phase, r.peer, r.sequence = true, Standard, phaseEager, ProcNull, 0
	if process, _ := e.p.Shared(); process != nil && process.Requests != nil {
		if s := &process.Requests.Recent[number%shmfmt.SentMost]; s.Number == number && number != 0 {
			r.peer, r.tag, r.ctx, r.sequence = int32(e.p.Node().Members()[s.Peer]), s.Tag, s.Ctx, s.Sequence
		}
	}
	e.finish(r, nil)
	return r
}

// Wake wakes a process of the node, by its local index, to which C has sent a message, or, with room, which
// waits for room in its ring to this process. C calls it when the records say that the process sleeps or
// waits.
func (e *Engine) Wake(local int, room bool) {
	if room {
		e.p.Node().RingUnarmed(local)
	} else {
		e.p.Node().Ring(local)
	}
}

// DescriptorLayout lists the offsets in the records of messages, and the constants of the protocol that C
// uses.
func DescriptorLayout() []shmfmt.Field {
	return append(shmfmt.MessageRecordLayout(), []shmfmt.Field{
		{Name: "MESSAGE_EAGER", Value: int64((&wire.Header{Kind: wire.Eager}).Word0())}, // word 0 of a frame without payload
		{Name: "MESSAGE_CREDIT", Value: int64((&wire.Header{Kind: wire.Credit}).Word0())},
		{Name: "MESSAGE_HEADER", Value: wire.HeaderSize},
		{Name: "MESSAGE_OVERHEAD", Value: messageOverhead},
		{Name: "MESSAGE_CREDIT_MAX", Value: creditMax},
		{Name: "MESSAGE_CREDIT_DUE", Value: creditMax / 2},
		{Name: "CODE_FLOATING", Value: int64(dtype.Floating)},
		{Name: "CODE_COMPLEX", Value: int64(dtype.Complex)},
		{Name: "CODE_EXTENDED", Value: int64(dtype.Extended)},
		{Name: "MESSAGE_TURNS", Value: proc.SocketTurns},
		{Name: "MESSAGE_WANT_EVERY", Value: shm.WantEvery},
		{Name: "MESSAGE_SPIN_LOOKS", Value: shm.SpinPeeks},
	}...)
}
