package part

import (
	"slices"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// Recv is a receive in partitions. The block counts the bytes of each partition that have arrived, by
// frames or by the sender's own copies. If the block is shared, the sender writes to it.
type Recv struct {
	round atomic.Uint64 // the current round, or the last one; stored by Begin
	ended atomic.Uint64 // the last round that is complete; stored by finishRecv
	block shmfmt.Partitions
	parts int
	size  int // bytes of a partition

	e       *Engine
	request *p2p.Request
	node    match.Node[Recv]
	comm    *comm.Comm
	peer    int32 // local number, or p2p.ProcNull
	tag     int32
	mem     mem.Mem
	code    dtype.Code
	memory  store.Block     // of block, if it is shared
	stage   store.Block     // see stage.go; set by match
	fetched []atomic.Uint64 // by partition; see stage.go

	// The lock guards all fields below.
	active   bool // a round is in progress
	matched  bool
	freed    bool   // by the program; the receive still takes its turn in matching
	watched  bool   // in Engine.watching
	handle   uint64 // of this receive, for the sender
	remote   uint64 // the sender's handle
	received int    // bytes of frames in this round
	next     int    // partition that polls fetch next
	err      error  // why this round and each later one fails
}

// blockMax is the largest control block in bytes that is shared with the sender.
const blockMax = 1 << 20

// RecvInit returns the inactive request of a receive into m in a number of partitions of equal
// size. The source of v is a rank or p2p.ProcNull.
func (e *Engine) RecvInit(v *p2p.Envelope, m mem.Mem, parts int) *p2p.Request {
	e.start()
	r := &Recv{e: e, comm: v.Comm, peer: p2p.ProcNull, tag: v.Tag, mem: m, code: v.Code, parts: parts, size: m.Len() / max(parts, 1)}
	if v.Peer >= 0 {
		r.peer = v.Comm.Members[v.Peer]
	}
	r.handle = e.recvs.Add(r)
	r.makeBlock()
	r.request = e.messages.NewPartitioned(v, false, call.PrecvInit, r)
	r.request.About = r
	if r.peer < 0 {
		return r.request
	}
	r.node.Key = match.Key{Ctx: v.Ctx, Src: r.peer, Tag: v.Tag}
	r.node.Owner = r
	if m := e.table.Post(&r.node); m != nil {
		e.peers.At(int(r.peer)).announced--
		e.match(r, &m.Owner.offer)
	}
	return r.request
}

// makeBlock makes the block, in memory that the sender maps if it is on the node.
func (r *Recv) makeBlock() {
	size := shmfmt.PartitionsSize(int64(r.parts))
	if r.mem.Len() > 0 && r.peer >= 0 && r.e.p.Near(int(r.peer)) && size <= blockMax {
		if m, err := r.e.mem.Alloc(size, shmfmt.Line); err == nil && m.Off >= 0 {
			r.memory = m
		}
	}
	b := r.memory.Mem
	if b == nil {
		words := make([]uint64, size/8)
		b = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	}
	r.block, _ = shmfmt.OpenPartitions(b, int64(r.parts)) // it is as long as it has to be, and aligned
}

// shared reports whether the block is in memory that the sender maps.
func (r *Recv) shared() bool { return r.memory.Mem != nil }

// match pairs r with a send.
func (e *Engine) match(r *Recv, o *offer) {
	r.matched, r.remote = true, o.name
	if r.freed {
		e.recvs.Remove(r.handle)
		e.tellFailure(r.peer, o.name, 0, class.Errorf(class.Request, "rank %d has freed the receive that matches before it was started", r.comm.Rank))
		return
	}
	if err := r.compare(o); err != nil {
		e.failRecv(r, err)
		e.tellFailure(r.peer, o.name, 0, err)
		return
	}
	w := r.where(o)
	e.tell(r.peer, wire.Header{Kind: wire.PartMatch, Name: o.name, Arg: r.handle}, w.append(nil))
	if r.active {
		r.open()
	}
}

// where says where the sender of o can write to. It is zero if the sender has to send frames.
func (r *Recv) where(o *offer) (w where) {
	if !r.shared() {
		return w
	}
	w = where{parts: uint64(r.parts), block: uint64(r.memory.Off) + 1}
	b, contiguous := r.mem.Bytes()
	if contiguous {
		w.addr = uint64(uintptr(unsafe.Pointer(&b[0])))
		if off, ok := r.e.mem.Find(b); ok {
			w.buffer = uint64(off) + 1
			return w
		}
	}
	if r.staged(o) {
		w.buffer = uint64(r.stage.Off) + 1
	} else if !contiguous {
		w = where{}
	}
	return w
}

// compare returns an error if a send and r are not of the same length, or not of the same elements.
func (r *Recv) compare(o *offer) error {
	from, to := r.comm.RankOf(r.peer), r.comm.Rank
	total, code := uint64(r.mem.Len()), dtype.Code(o.code)
	if o.total != total {
		c := class.Count
		if o.total > total {
			c = class.Truncate
		}
		return class.Errorf(c, "rank %d sends %d bytes in %d partitions, rank %d receives %d bytes in %d partitions", from, o.total, o.parts, to, total, r.parts)
	}
	if total > 0 && code.Differs(r.code) {
		return class.Errorf(class.Type, "rank %d sends %s, rank %d receives %s", from, code.Describe(int64(total)), to, r.code.Describe(int64(total)))
	}
	return nil
}

// Begin implements p2p.Starter.
func (r *Recv) Begin() {
	e := r.e
	r.active, r.received, r.next = true, 0, 0
	r.round.Add(1)
	switch {
	case r.peer == p2p.ProcNull:
		e.finishRecv(r, nil)
		return
	case r.err != nil:
		e.finishRecv(r, r.err)
		return
	}
	if cause := e.p.DownCause(int(r.peer)); cause != nil {
		e.failRecv(r, gone(r.comm, r.peer, cause))
		return
	}
	if r.matched {
		r.open()
	}
}

// open lets the sender write.
func (r *Recv) open() {
	e, round := r.e, r.round.Load()
	if b, ok := r.mem.Bytes(); ok && r.tests() && !sys.WritableEnds(b) {
		e.refuseMemory(r, b)
		return
	}
	if r.shared() || r.peer == e.me {
		e.watch(r)
	}
	r.block.Open(round)
	if r.block.Direct() && r.peer != e.me {
		e.node.Ring(e.node.LocalIndex(int(r.peer)))
		return
	}
	e.tell(r.peer, wire.Header{Kind: wire.PartStart, Name: r.remote, Arg: round}, nil)
}

// tests reports whether the memory of r is tested before the bytes of a frame are written to it: whether a socket
// fills it.
func (r *Recv) tests() bool { return !r.e.p.Here(int(r.peer)) && r.peer != r.e.me }

// canWrite reports whether n bytes of a frame can be written to the memory of r from byte at on. The receive and
// its send have failed if not.
func (e *Engine) canWrite(r *Recv, at, n int) bool {
	b, contiguous := r.mem.Bytes()
	if !contiguous || !r.tests() || sys.Writable(b[at:at+n]) {
		return true
	}
	e.refuseMemory(r, b)
	return false
}

// refuseMemory fails r, whose buffer b cannot be written, and its send.
func (e *Engine) refuseMemory(r *Recv, b []byte) {
	err := class.Errorf(class.Buffer, "the %d bytes at %p of the receive buffer of rank %d cannot be written", len(b), unsafe.SliceData(b), r.comm.Rank)
	e.failRecv(r, err)
	e.tellFailure(r.peer, r.remote, 0, err)
}

// watch has every poll look whether the sender has completed the round of r in memory.
func (e *Engine) watch(r *Recv) {
	r.watched = true
	e.watching = append(e.watching, r)
	e.p.Later(1) // and not SetBusy: the sender rings when it has completed the round
}

// workRecvs completes the receives whose senders have written everything.
func (e *Engine) workRecvs() (n int) {
	for i := 0; i < len(e.watching); {
		r := e.watching[i]
		finished := r.block.Finished() == r.round.Load() // before fetchSome: the last partitions may be in the stage
		moved, all := r.fetchSome()
		n += moved
		if all && finished {
			e.finishRecv(r, nil) // takes it out of the list
			n++
			continue
		}
		i++
	}
	return n
}

// finishRecv completes the request of the current round.
func (e *Engine) finishRecv(r *Recv, err error) {
	if !r.active {
		return
	}
	r.active = false
	if r.watched {
		r.watched = false
		i := slices.Index(e.watching, r)
		e.watching = slices.Delete(e.watching, i, i+1)
		e.p.Later(-1)
	}
	st := &r.request.Status
	if r.peer == p2p.ProcNull {
		st.Source, st.Tag = p2p.ProcNull, p2p.AnyTag
	} else {
		st.Source, st.Tag = r.comm.RankOf(r.peer), r.tag
		if err == nil {
			st.Bytes = uint64(r.mem.Len())
		}
	}
	if err == nil {
		r.ended.Store(r.round.Load()) // pairs with the load in Arrived
	}
	e.messages.Finish(r.request, err)
}

// failRecv ends the current round, and every later one, with an error.
func (e *Engine) failRecv(r *Recv, err error) {
	if r.err == nil {
		r.err = err
	}
	e.finishRecv(r, err)
}

// Arrived reports whether partition i of the current round is in the buffer, or whether there is no
// current round. The caller does not hold the lock. False may mean that the request has failed.
func (r *Recv) Arrived(i int) bool {
	round := r.round.Load()
	if r.ended.Load() == round { // pairs with the store in finishRecv
		return true
	}
	if !r.arrived(i, round) || !r.fetch(i, round) {
		return false
	}
	if r.fetched != nil && r.block.Finished() == round { // see stage.go
		r.e.p.Lock()
		r.e.workRecvs()
		r.e.p.Unlock()
	}
	return true
}

// arrived reports whether partition i of a round is in the buffer, or in the stage.
func (r *Recv) arrived(i int, round uint64) bool {
	return r.size > 0 && r.block.Arrived(i) >= round*uint64(r.size)
}

// Parts is the number of partitions.
func (r *Recv) Parts() int { return r.parts }

// Free frees a receive that is not active. If it has not matched yet, it still takes its turn.
func (r *Recv) Free() {
	e := r.e
	if r.peer < 0 || r.matched || r.err != nil {
		e.recvs.Remove(r.handle)
	} else {
		r.freed = true
	}
	for _, b := range []*store.Block{&r.memory, &r.stage} {
		if b.Mem != nil && r.err == nil { // after an error the sender may still write to it
			_ = e.mem.Free(b.Mem) // it is a live block
			*b = store.Block{}
		}
	}
	e.messages.FreePartitioned(r.request)
}

// Awaits implements proc.Awaiter.
func (r *Recv) Awaits() int32 { return max(r.peer, shmfmt.AwaitsUnknown) }

// AppendAbout implements proc.About.
func (r *Recv) AppendAbout(b []byte) []byte {
	b = r.comm.AppendCall(b, call.PrecvInit)
	if r.peer >= 0 {
		b = strconv.AppendInt(append(b, " from "...), int64(r.comm.RankOf(r.peer)), 10)
	}
	b = strconv.AppendInt(append(b, " tag "...), int64(r.tag), 10)
	arrived, round := 0, r.round.Load()
	for i := range r.parts {
		if r.arrived(i, round) {
			arrived++
		}
	}
	b = strconv.AppendInt(append(b, ", "...), int64(arrived), 10)
	b = strconv.AppendInt(append(b, " of "...), int64(r.parts), 10)
	return append(b, " partitions arrived"...)
}
