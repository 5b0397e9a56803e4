package shm

import (
	"math/bits"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// eagerMax is the largest eager message in bytes. Above it one copy between the
	// two processes costs less than two copies through the ring.
	eagerMax = 8 << 10
	// pollBurst bounds the frames taken from one ring before the next ring is polled.
	pollBurst = 32
	// scanEvery is how many Polls may deliver frames before one looks for new and
	// failed peers nevertheless: a flood of frames must not hide them.
	scanEvery = 64
)

// Fabric implements fabric.Fabric over the rings of a node.
type Fabric struct {
	*node.Doorbell // for Sleep and Wake
	node           *node.Node
	seg            *shmfmt.Segment     // own
	members        []int               // job index by local index
	local          []int32             // place in out by number of the peer: its local index, as in the node
	records        []shmfmt.PeerRecord // by local index

	out   []*Outgoing // by local index, nil until the first Send; those of foreign processes follow
	in    []incoming
	seen  []uint64 // bits of the bitmap whose rings are in `in`
	hdr   wire.Header
	turns uint32 // of Poll

	foreigners []*foreign // processes of other jobs
	armed      bool       // by Arm, and not disarmed since

	posted *Outgoing     // the last Post was to it, and has not been settled
	peeked int           // place in out of the peer whose frame Peek returned
	spin   atomic.Uint64 // not read: adding to it is a fence
}

// Outgoing is the way to one peer.
type Outgoing struct {
	*shmfmt.PeerRecord     // while it is not open, frames are accepted and dropped
	local              int // local index of the peer, -1 if it is foreign

	foreign *foreign // nil for processes of the node
}

// incoming is the way from one peer.
type incoming struct {
	rec   *shmfmt.PeerRecord
	local int // local index of the peer, -1 if it is foreign
	job   int // number of the peer
	busy  int // polls in a row that found a frame

	foreign *foreign // nil for processes of the node
}

// New returns the fabric over the rings of n. Its Close closes n.
func New(n *node.Node) *Fabric {
	seg := n.OwnSegment()
	f := &Fabric{
		Doorbell: &n.Doorbell, node: n, seg: seg, members: n.Members(), local: n.Locals(),
		out:  make([]*Outgoing, len(n.Members())),
		seen: make([]uint64, seg.ActiveWords()),
	}
	f.makeRecords()
	return f
}

// Name implements fabric.Fabric.
func (f *Fabric) Name() string { return f.node.Name() }

// EagerMax implements fabric.Fabric.
func (f *Fabric) EagerMax() int { return eagerMax }

// ChunkMax implements fabric.Fabric.
func (f *Fabric) ChunkMax() int { return shmfmt.MaxFrame }

// Send implements fabric.Fabric.
func (f *Fabric) Send(to int, h *wire.Header, payload []byte) bool {
	if !f.Post(to, h, payload) {
		return false
	}
	f.Settle()
	return true
}

// Post is Send, except that a peer that sleeps is woken by Settle, or by TakePosted and RingArmed, which the caller
// calls before it gives up the lock. So frames that are sent one after the other need one fence.
func (f *Fabric) Post(to int, h *wire.Header, payload []byte) bool {
	i := f.local[to]
	if i < 0 {
		f.node.Segment(to) // Down follows
		return true
	}
	o := f.out[i]
	if o == nil {
		o = f.connect(to)
	}
	if o.Open == 0 {
		return true
	}
	if f.posted != o {
		f.Settle()
	}
	if !o.Out.Put(h, payload) {
		return false
	}
	f.posted = o
	if o.foreign != nil { // its memory may be gone when the lock has been given up
		f.Settle()
	}
	return true
}

// Settle wakes the peer of the last Post, if it sleeps.
func (f *Fabric) Settle() {
	if o := f.TakePosted(); o != nil {
		f.spin.Add(1) // full fence
		f.RingArmed(o)
	}
}

// TakePosted returns the peer of the last Post, nil if there was none since the last Settle. The caller calls
// RingArmed, after a full fence such as giving up the lock.
func (f *Fabric) TakePosted() *Outgoing {
	o := f.posted
	f.posted = nil
	return o
}

// RingArmed wakes a peer of TakePosted, if it sleeps. Because of the fence either this process sees the peer armed, or
// the peer sees the frame in the poll that follows its Arm. Callable from any goroutine, without the lock.
func (f *Fabric) RingArmed(o *Outgoing) {
	if o.Armed.Load() != 0 {
		f.ring(o)
	}
}

// connect finds the ring to a peer. The ring is part of the peer's segment from the
// start, so the peer takes no part in it.
func (f *Fabric) connect(to int) *Outgoing {
	local := f.node.LocalIndex(to)
	o := &Outgoing{PeerRecord: &f.records[local], local: local}
	f.out[local] = o
	seg := f.node.Segment(to)
	if seg == nil {
		return o // Down follows
	}
	o.Armed = &f.node.Control().Door(local).Armed
	o.Out = shmfmt.NewProducer(seg.Ring(f.node.Me()))
	seg.Activate(f.node.Me())
	o.Open = 1
	return o
}

// Poll implements fabric.Fabric. It ignores the hint: polling all rings that were ever
// used costs one load each.
func (f *Fabric) Poll(s fabric.Sink, hint int) int {
	f.Settle() // the peer may sleep until it has the frame, and this process wait for the answer
	n := f.drainAll(s)
	f.turns++
	if n == 0 || f.turns%scanEvery == 0 {
		if f.node.Losing() {
			n += f.deliverLosses(s)
		}
		if f.findSenders() {
			n += f.drainAll(s)
		}
	}
	return n
}

// drainAll delivers frames of each ring in turn. From a ring that was empty in the last polls it takes
// one frame only: a load of the second entry would fetch a cache line from the sender before the
// caller can continue with the frame that it may have waited for.
func (f *Fabric) drainAll(s fabric.Sink) int {
	n := 0
	for i := 0; i < len(f.in); i++ { // drain may remove f.in[i]
		c := &f.in[i]
		if c.rec.In.Empty() {
			c.busy = 0
			continue
		}
		burst := 1
		c.busy++
		if c.busy > 2 {
			burst = pollBurst
			c.rec.In.Ahead()
		}
		n += f.drain(c, burst, s)
	}
	return n
}

// findSenders adds peers that have begun to send, and reports whether there are any.
func (f *Fabric) findSenders() bool {
	found := false
	for w, known := range f.seen {
		if a := f.seg.Active(w); a != known {
			f.activate(w, a&^known)
			found = true
		}
	}
	return found
}

func (f *Fabric) activate(w int, fresh uint64) {
	f.seen[w] |= fresh
	for ; fresh != 0; fresh &= fresh - 1 {
		i := w*64 + bits.TrailingZeros64(fresh)
		if i >= len(f.members) || f.node.Dropped(f.members[i]) {
			continue
		}
		rec := &f.records[i]
		rec.In = shmfmt.NewConsumer(f.seg.Ring(i))
		f.in = append(f.in, incoming{rec: rec, local: i, job: f.members[i]})
	}
}

// drain delivers at most limit frames of one peer.
func (f *Fabric) drain(c *incoming, limit int, s fabric.Sink) int {
	n := 0
	for n < limit {
		payload, ok, err := c.rec.In.Next(&f.hdr)
		if err != nil {
			if c.foreign != nil {
				f.breaks(c.foreign, err)
			} else {
				f.drop(c.job, err, s)
			}
			return n + 1
		}
		if !ok {
			break
		}
		s.Frame(c.job, &f.hdr, payload)
		n++
		if c.rec.In.Done() {
			f.ringUnarmed(c.local, c.foreign) // its frame was refused, and there is room
		}
	}
	return n
}

// deliverLosses reports the lost peers, each after its last frames.
func (f *Fabric) deliverLosses(s fabric.Sink) int {
	lost := f.node.TakeLosses()
	f.findSenders() // a lost peer may have sent its first frame after the last poll
	n := 0
	for _, l := range lost {
		for i := range f.in {
			if c := &f.in[i]; c.job == l.Peer {
				// The limit is the size of a ring: a failed peer has published no more.
				n += f.drain(c, shmfmt.RingBytes/shmfmt.Line, s)
				break
			}
		}
		if !f.node.Dropped(l.Peer) {
			f.drop(l.Peer, l.Cause, s)
			n++
		}
	}
	return n
}

// drop ends sending to and receiving from a peer that has failed or broken the format.
func (f *Fabric) drop(job int, cause error, s fabric.Sink) {
	for i := range f.in {
		if f.in[i].job == job {
			f.in[i].rec.In = shmfmt.Consumer{}
			f.in = append(f.in[:i], f.in[i+1:]...)
			break
		}
	}
	if i := f.node.LocalIndex(job); i >= 0 {
		f.records[i].Open = 0
	}
	f.node.Drop(job)
	s.Down(job, cause)
}

// Close implements fabric.Fabric. Accepted frames are in shared memory: there is nothing
// to flush.
func (f *Fabric) Close() error {
	for len(f.foreigners) > 0 {
		f.Detach(f.foreigners[0].peer)
	}
	return f.node.Close()
}
