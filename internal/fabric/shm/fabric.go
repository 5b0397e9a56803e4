// Package shm carries frames between the processes of a node through rings in
// shared memory. The same code serves ranks that are goroutines of one process,
// over rings on the heap (package inproc); what differs is behind Node.
//
// Cost of a frame of up to 24 bytes: one line written by the sender and read by
// the receiver, one load to learn whether the receiver sleeps. Longer payloads
// are copied in and out once.
package shm

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/hot"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// eagerMax is the largest message that travels through the ring at once, in
	// bytes: above it one copy between the two processes costs less than two
	// through the ring.
	eagerMax = 8 << 10
	// pollBurst bounds the frames taken from one ring before the next is looked at.
	pollBurst = 32
	// meetEvery is how many Polls may deliver frames before one looks for peers
	// that are new or dead all the same: a flood must not hide them.
	meetEvery = 64
)

// Node is the shared memory that the fabric works on, and the means to sleep
// on it and to wake others. Local processes are numbered from 0.
type Node interface {
	Control() *shmfmt.Control
	// Segment maps the segment of local process i.
	Segment(i int) (*shmfmt.Segment, error)
	// Sleep blocks while the own bell is seen.
	Sleep(bell *atomic.Uint32, seen uint32)
	// Wake wakes local process i, whose bell has just been counted up. It fails if that process,
	// should it sleep, goes on sleeping.
	Wake(i int, bell *atomic.Uint32) error
	// Read copies from the memory of local process i.
	Read(i int, door *shmfmt.Door, dst [][]byte, addr uint64) error
	// Write copies to the memory of local process i.
	Write(i int, door *shmfmt.Door, src [][]byte, addr uint64) error
	// Heap is the own heap.
	Heap() *heap.Heap
	// View makes a view of the heap of local process i.
	View(i int) View
	Close() error
}

// Fabric implements fabric.Fabric, fabric.Reader and fabric.Writer.
type Fabric struct {
	node  Node
	name  string
	me    int   // own local index
	job   []int // job index by local index
	local []int // local index by job index, -1 for processes elsewhere
	door  *shmfmt.Door
	seg   *shmfmt.Segment

	out   []*outgoing // by job index, nil until the first Send
	in    []incoming
	seen  []uint64 // bits of the bitmap whose rings are in `in`
	hdr   wire.Header
	turns uint32 // of Poll

	taker   Taker      // of offers; nil: none are taken
	offers  []offering // those of peers in offered
	offered []uint64   // bits of the bitmap of peers that make offers
	head    shmfmt.OfferHead

	down []bool // by job index: told as Down

	glanced int           // index in `in` of the ring whose frame Glance returned
	pace    atomic.Uint64 // for nobody: adding to it is a fence between two looks of Glance

	heard  atomic.Uint32 // bell when Sleep last returned; stored by Sleep, loaded by Arm
	closed atomic.Bool

	gone   []atomic.Bool // by job index: stored by Lose, loaded by Gone; and by C, so that it is in memory of records
	losing atomic.Bool   // lost is not empty; stored by Lose, loaded by Poll
	mu     sync.Mutex    // guards lost
	lost   []loss
}

// loss is a death that the next Poll delivers.
type loss struct {
	peer  int // job index
	cause error
}

// outgoing is the way to one peer.
type outgoing struct {
	ring shmfmt.Producer
	door *shmfmt.Door
	peer int // local index
	dead bool

	read  ability
	write ability
}

// ability is whether the kernel permits something, as was tried once.
type ability uint8

const (
	untried ability = iota
	able
	unable
)

// incoming is the way from one peer.
type incoming struct {
	ring shmfmt.Consumer
	door *shmfmt.Door
	peer int // local index
	job  int
	busy int // polls in a row that found a frame
}

// New makes the fabric of local process me; job lists the job index of each
// local process, and size is the number of processes in the job.
func New(name string, node Node, me int, job []int, size int) (*Fabric, error) {
	f := &Fabric{
		node: node, name: name, me: me, job: job,
		local: make([]int, size),
		door:  node.Control().Door(me),
		out:   make([]*outgoing, size),
		down:  make([]bool, size),
	}
	gone := hot.OwnedBytes(f, size*int(unsafe.Sizeof(atomic.Bool{})))
	f.gone = unsafe.Slice((*atomic.Bool)(unsafe.Pointer(unsafe.SliceData(gone))), size)
	for i := range f.local {
		f.local[i] = -1
	}
	for i, j := range job {
		f.local[j] = i
	}
	seg, err := node.Segment(me)
	if err != nil {
		return nil, err
	}
	f.seg = seg
	f.seen = make([]uint64, seg.ActiveWords())
	f.offered = make([]uint64, seg.ActiveWords())
	return f, nil
}

// Name implements fabric.Fabric.
func (f *Fabric) Name() string { return f.name }

// EagerMax implements fabric.Fabric.
func (f *Fabric) EagerMax() int { return eagerMax }

// ChunkMax implements fabric.Fabric.
func (f *Fabric) ChunkMax() int { return shmfmt.MaxFrame }

// Control returns the segment that all processes of the node share.
func (f *Fabric) Control() *shmfmt.Control { return f.node.Control() }

// LocalIndex returns the local index of a process of the job, -1 if it is on
// another node.
func (f *Fabric) LocalIndex(peer int) int { return f.local[peer] }

// Send implements fabric.Fabric.
func (f *Fabric) Send(to int, h *wire.Header, payload []byte) bool {
	o := f.out[to]
	if o == nil {
		o = f.connect(to)
	}
	if o.dead {
		return true
	}
	if !o.ring.Put(h, payload) {
		return false
	}
	// Put is a full fence: either we see the peer armed, or it sees the frame
	// in the poll that follows its Arm.
	if o.door.Armed.Load() != 0 {
		f.Ring(o.peer)
	}
	return true
}

// Lose tells that a peer is dead, as whoever watches processes learned it. The
// next Poll delivers what the peer had published, then Down, and Sleep returns
// for it. Callable from any goroutine.
func (f *Fabric) Lose(peer int, cause error) {
	if peer >= 0 && peer < len(f.gone) {
		f.gone[peer].Store(true) // pairs with the load in Gone
	}
	f.mu.Lock()
	f.lost = append(f.lost, loss{peer, cause})
	f.losing.Store(true)
	f.mu.Unlock()
	f.Wake()
}

// Gone reports whether Lose told that a peer is dead, maybe before Down is delivered.
// Callable from any goroutine; it takes no lock.
func (f *Fabric) Gone(peer int) bool { return f.gone[peer].Load() } // pairs with the store in Lose

// Ring wakes local process i if it sleeps or is about to.
func (f *Fabric) Ring(i int) {
	d := f.node.Control().Door(i)
	if d.Armed.Load() != 0 && d.Armed.Swap(0) != 0 { // pairs with the store in Arm
		d.Bell.Add(1)
		f.wake(i, d)
	}
}

// wake wakes local process i, whose bell has just been counted up. A peer that cannot be
// woken is lost.
func (f *Fabric) wake(i int, d *shmfmt.Door) {
	if err := f.node.Wake(i, &d.Bell); err != nil && i != f.me {
		f.Lose(f.job[i], fmt.Errorf("%s: process %d sleeps and cannot be woken: %w", f.name, f.job[i], err))
	}
}

// connect finds the ring to a peer; it was made with the peer's segment, so the
// peer takes no part in it.
func (f *Fabric) connect(to int) *outgoing {
	i := f.local[to]
	o := &outgoing{peer: i, dead: true}
	f.out[to] = o
	if f.down[to] {
		return o
	}
	if i < 0 {
		f.Lose(to, fmt.Errorf("%s: process %d is not on this node", f.name, to))
		return o
	}
	seg, err := f.node.Segment(i)
	if err != nil {
		f.Lose(to, fmt.Errorf("%s: segment of process %d: %w", f.name, to, err))
		return o
	}
	o.dead = false
	o.door = f.node.Control().Door(i)
	o.ring = shmfmt.NewProducer(seg.Ring(f.me))
	seg.Activate(f.me)
	return o
}

// Poll implements fabric.Fabric. The hint is not needed: looking into all rings
// that were ever used costs a load each.
func (f *Fabric) Poll(s fabric.Sink, hint int) int {
	n := f.drainAll(s)
	if len(f.offers) > 0 {
		n += f.TakeOffers()
	}
	if f.turns++; n == 0 || f.turns%meetEvery == 0 {
		if f.losing.Load() { // pairs with the store in Lose
			n += f.bury(s)
		}
		if f.meet() {
			n += f.drainAll(s)
		}
		if f.meetOffers() {
			n += f.TakeOffers()
		}
	}
	return n
}

// drainAll takes from each ring in turn. From a ring that was empty a moment ago
// it takes one frame: to look for another behind it would take a line from the
// sender before the caller can go on with the one it may have waited for.
func (f *Fabric) drainAll(s fabric.Sink) int {
	n := 0
	for i := 0; i < len(f.in); i++ { // drain may take out f.in[i]
		c := &f.in[i]
		if c.ring.Empty() {
			c.busy = 0
			continue
		}
		burst := 1
		if c.busy++; c.busy > 2 {
			burst = pollBurst
			c.ring.Ahead()
		}
		n += f.drain(c, burst, s)
	}
	return n
}

// meet finds peers that have begun to send, and reports whether there are any.
func (f *Fabric) meet() bool {
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
		if i >= len(f.job) || f.down[f.job[i]] {
			continue
		}
		f.in = append(f.in, incoming{
			ring: shmfmt.NewConsumer(f.seg.Ring(i)), door: f.node.Control().Door(i), peer: i, job: f.job[i],
		})
	}
}

// drain delivers at most limit frames of one peer.
func (f *Fabric) drain(c *incoming, limit int, s fabric.Sink) int {
	n := 0
	for n < limit {
		payload, ok, err := c.ring.Next(&f.hdr)
		if err != nil {
			f.drop(c.job, err, s)
			return n + 1
		}
		if !ok {
			break
		}
		s.Frame(c.job, &f.hdr, payload)
		n++
		if c.ring.Done() {
			f.offerRoom(c)
		}
	}
	return n
}

// offerRoom tells a peer whose frame was refused to try again. It counts the
// bell up even if the peer is not armed: the peer may be between the refusal and
// its Arm, and then the Sleep that follows must return. If one is under way
// already, Arm ends it. Who takes the arming counts the bell up once more: the
// sleeper may have heard the first and be asleep again already.
func (f *Fabric) offerRoom(c *incoming) {
	c.door.Bell.Add(1)
	if c.door.Armed.Swap(0) != 0 { // pairs with the store in Arm
		c.door.Bell.Add(1)
		f.wake(c.peer, c.door)
	}
}

// bury delivers deaths, each after the last frames of the dead.
func (f *Fabric) bury(s fabric.Sink) int {
	f.mu.Lock()
	lost := f.lost
	f.lost = nil
	f.losing.Store(false)
	f.mu.Unlock()
	f.meet() // the dead may have sent first after Poll looked, and before Lose
	n := 0
	for _, l := range lost {
		if l.peer < 0 || l.peer >= len(f.down) {
			continue
		}
		for i := range f.in {
			if c := &f.in[i]; c.job == l.peer {
				// More than a ring holds is not from the dead.
				n += f.drain(c, shmfmt.RingBytes/shmfmt.Line, s)
				break
			}
		}
		if !f.down[l.peer] {
			f.drop(l.peer, l.cause, s)
			n++
		}
	}
	return n
}

// drop stops talking and listening to a peer that is dead or broke the format.
func (f *Fabric) drop(job int, cause error, s fabric.Sink) {
	for i := range f.in {
		if f.in[i].job == job {
			f.in = append(f.in[:i], f.in[i+1:]...)
			break
		}
	}
	f.dropOffers(job)
	if o := f.out[job]; o != nil {
		o.dead = true
	} else {
		f.out[job] = &outgoing{dead: true, peer: f.local[job]}
	}
	f.down[job] = true
	s.Down(job, cause)
}

// Arm implements fabric.Fabric.
func (f *Fabric) Arm() {
	f.door.Armed.Store(1) // full fence; pairs with the load in Ring
	if f.door.Bell.Load() != f.heard.Load() {
		// Room was offered while we were not armed, so nobody woke who may
		// sleep on the bell already.
		f.wake(f.me, f.door)
	}
}

// Disarm implements fabric.Fabric.
func (f *Fabric) Disarm() {
	if f.door.Armed.Load() != 0 {
		f.door.Armed.Store(0)
	}
}

// Sleep implements fabric.Fabric. It sleeps only if the bell has not rung since
// it last returned: what is polled between two Sleeps cannot be missed.
func (f *Fabric) Sleep() {
	if !f.closed.Load() {
		f.node.Sleep(&f.door.Bell, f.heard.Load())
	}
	f.heard.Store(f.door.Bell.Load())
}

// Wake implements fabric.Fabric.
func (f *Fabric) Wake() {
	f.door.Bell.Add(1)
	f.wake(f.me, f.door) // fails only where the sleep has ended for ever
}

// Close implements fabric.Fabric. Frames stand in shared memory: nothing is to
// be flushed.
func (f *Fabric) Close() error {
	f.closed.Store(true)
	f.Wake()
	return f.node.Close()
}

// Release gives the memory back, where the process lives on without the fabric.
// It is closed and nobody sleeps in it. If it is watched, calls may still be under
// way or come: they find empty rings.
func (f *Fabric) Release(watched bool) error {
	if r, ok := f.node.(interface{ Release(bool) error }); ok {
		return r.Release(watched)
	}
	return nil
}
