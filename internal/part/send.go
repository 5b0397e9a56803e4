package part

import (
	"encoding/binary"
	"strconv"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// Send is a send in partitions.
//
// The fields of the first groups are used without the lock. A partition belongs to the goroutine
// that marks it. That goroutine either moves it, if the round is open, or leaves it in the words
// of waiting. What is there belongs to whoever takes it out: another goroutine that finds the round
// open, or a poll. So each partition is moved once, and left reaches 0 once in a round.
//
// No partition is forgotten. Who leaves one sets its bit, then early, and then looks whether the
// round is open. Who opens the round, or finds it open, looks at early and then at the bits. A
// goroutine may be late: it may look when the round that it has marked a partition for is over, and
// the next one has begun. Therefore the words and early hold the number of their round.
type Send struct {
	round  atomic.Uint64          // the current round, or the last one; stored by Begin
	direct atomic.Pointer[direct] // how to reach the receiver's buffer; nil if frames do, or if it is not known yet
	framed atomic.Uint64          // with frames, the round that the receiver has started
	early  atomic.Uint64          // the round for which waiting is not empty; see leave
	kicked atomic.Bool            // a goroutine waits for the lock, and will send what is in waiting
	broken atomic.Bool            // err is set

	marked  []atomic.Uint64 // of each partition the last round in which it was ready
	waiting []atomic.Uint64 // the round in the upper half, and a bit for each of 32 partitions

	_    [64]byte
	left atomic.Int64 // partitions of this round that are not moved yet; in a cache line of its own
	_    [56]byte

	e       *Engine
	request *p2p.Request
	comm    *comm.Comm
	peer    int32 // local number, or p2p.ProcNull
	tag     int32
	mem     mem.Mem
	parts   int // as the program has said; a send without partitions has one, which is ready at the start
	size    int // bytes of a partition

	// All below is under the lock.
	active  bool // a round is in progress
	matched bool
	listed  bool   // in Engine.working
	handle  uint64 // of this send, for the receiver
	remote  uint64 // the receiver's handle
	err     error  // why each round fails

	queue  []uint32 // bits of partitions that are taken out of waiting, and not moved yet
	lo, hi int      // partitions that are being moved
	at     int      // byte of the message that is next
	tested int      // the bytes of these partitions before this one can be read
	frame  []byte   // packed bytes of a frame
	queued bool     // a frame is in the send queue
}

// partsWord is the number of partitions in a word of Send.waiting.
const partsWord = 32

// SendInit returns the inactive request of a send of m in a number of partitions of equal size.
func (e *Engine) SendInit(v *p2p.Envelope, m mem.Mem, parts int) (*p2p.Request, error) {
	e.start()
	n := max(parts, 1)
	s := &Send{e: e, comm: v.Comm, peer: p2p.ProcNull, tag: v.Tag, mem: m, parts: parts, size: m.Len() / n}
	s.marked = make([]atomic.Uint64, n)
	s.waiting = make([]atomic.Uint64, (n+partsWord-1)/partsWord)
	s.queue = make([]uint32, len(s.waiting))
	if v.Peer >= 0 {
		s.peer = v.Comm.Members[v.Peer]
		q := e.peers.At(int(s.peer))
		if q.unmatched == unmatchedMax {
			return nil, class.Errorf(class.NoMem, "%d partitioned sends to rank %d have no receive yet, the limit is that", unmatchedMax, v.Peer)
		}
		q.unmatched++
	}
	s.handle = e.sends.Add(s)
	s.request = e.messages.NewPartitioned(v, true, call.PsendInit, s)
	s.request.About = s
	if s.peer >= 0 && e.p.DownCause(int(s.peer)) == nil {
		payload := binary.LittleEndian.AppendUint64(nil, uint64(parts))
		e.tell(s.peer, wire.Header{Kind: wire.PartInit, Ctx: v.Ctx, Tag: v.Tag, Aux: uint32(v.Code), Arg: uint64(m.Len()), Name: s.handle}, payload)
	}
	return s.request, nil
}

// Begin implements p2p.Starter.
func (s *Send) Begin() {
	e := s.e
	s.active = true
	s.left.Store(int64(len(s.marked)))
	round := s.round.Add(1)
	switch {
	case s.peer == p2p.ProcNull:
		e.finishSend(s, nil)
		return
	case s.err != nil:
		e.finishSend(s, s.err)
		return
	}
	if cause := e.p.DownCause(int(s.peer)); cause != nil {
		e.failSend(s, gone(s.comm, s.peer, cause))
		return
	}
	if s.direct.Load() != nil {
		e.list(s, true)
	}
	if s.parts == 0 {
		s.mark(0, round)
		s.leave(0, 1, round)
		e.push(s)
	}
	// The calls of a sender need not poll: partitions move without the lock, and the request is
	// complete when the program waits. A poll tells that the process calls; in interrupt mode each
	// start of the receiver would ring.
	if s.direct.Load() != nil && !e.p.Polling() && !planted.StartUnpolled {
		e.p.Progress(int(s.peer))
	}
}

// finishSend completes the request of the current round.
func (e *Engine) finishSend(s *Send, err error) {
	if !s.active {
		return
	}
	s.active = false
	e.list(s, false)
	e.messages.Finish(s.request, err)
}

// failSend ends the current round, and every later one, with an error.
func (e *Engine) failSend(s *Send, err error) {
	if s.err == nil {
		s.err = err
		s.broken.Store(true)
	}
	s.lo, s.hi = 0, 0
	e.finishSend(s, err)
}

// Free frees a send that is not active. Goroutines may still be in Ready, about to find that their
// partition has been moved.
func (s *Send) Free() {
	s.e.sends.Remove(s.handle)
	s.e.messages.FreePartitioned(s.request)
}

// Awaits implements proc.Awaiter.
func (s *Send) Awaits() int32 { return max(s.peer, shmfmt.AwaitsUnknown) }

// AppendAbout implements proc.About.
func (s *Send) AppendAbout(b []byte) []byte {
	b = s.comm.AppendCall(b, call.PsendInit)
	if s.peer >= 0 {
		b = strconv.AppendInt(append(b, " to "...), int64(s.comm.RankOf(s.peer)), 10)
	}
	b = strconv.AppendInt(append(b, " tag "...), int64(s.tag), 10)
	ready, round := 0, s.round.Load()
	for i := range s.marked {
		if s.marked[i].Load() == round {
			ready++
		}
	}
	b = strconv.AppendInt(append(b, ", "...), int64(ready), 10)
	b = strconv.AppendInt(append(b, " of "...), int64(len(s.marked)), 10)
	return append(b, " partitions ready"...)
}
