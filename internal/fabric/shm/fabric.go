// Package shm carries frames between the processes of a node through rings in
// shared memory. The same code serves ranks that are goroutines of one process,
// over rings on the heap (package inproc); Node hides the differences.
//
// A frame of up to 24 bytes costs one cache line, written by the sender and read by
// the receiver, and one load to see whether the receiver sleeps. Longer payloads are
// copied in and out once.
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
	// eagerMax is the largest eager message in bytes. Above it one copy between the
	// two processes costs less than two copies through the ring.
	eagerMax = 8 << 10
	// pollBurst bounds the frames taken from one ring before the next ring is polled.
	pollBurst = 32
	// scanEvery is how many Polls may deliver frames before one looks for new and
	// failed peers nevertheless: a flood of frames must not hide them.
	scanEvery = 64
)

// Node is the shared memory that the fabric works on, and the means to sleep
// on it and to wake others. Local processes are numbered from 0.
type Node interface {
	Control() *shmfmt.Control
	// Segment maps the segment of local process i.
	Segment(i int) (*shmfmt.Segment, error)
	// Sleep blocks while the own bell has the value seen.
	Sleep(bell *atomic.Uint32, seen uint32)
	// Wake wakes local process i, whose bell has just been incremented. It fails if it cannot
	// wake that process.
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
	offered []uint64   // bits of the bitmap whose peers are in offers
	head    shmfmt.OfferHead

	down []bool // by job index: Down was called

	peeked int           // index in `in` of the ring whose frame Peek returned
	spin   atomic.Uint64 // not read: adding to it is a fence between two loads of Peek

	seenBell atomic.Uint32 // bell when Sleep last returned; stored by Sleep, loaded by Arm
	closed   atomic.Bool

	gone   []atomic.Bool // by job index: stored by Lose, loaded by Gone; and by C, so that it is in memory of records
	losing atomic.Bool   // lost is not empty; stored by Lose, loaded by Poll
	mu     sync.Mutex    // guards lost
	lost   []loss
}

// loss is a failed peer that the next Poll reports.
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

	read  permission
	write permission
}

// permission says whether the kernel permits an access, as one attempt has shown.
type permission uint8

const (
	unknown permission = iota
	granted
	denied
)

// incoming is the way from one peer.
type incoming struct {
	ring shmfmt.Consumer
	door *shmfmt.Door
	peer int // local index
	job  int
	busy int // polls in a row that found a frame
}

// New returns the fabric of local process me. job lists the job index of each local
// process, and size is the number of processes in the job.
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
	// Put is a full fence: either this process sees the peer armed, or the peer sees
	// the frame in the poll that follows its Arm.
	if o.door.Armed.Load() != 0 {
		f.Ring(o.peer)
	}
	return true
}

// Lose reports that a peer has failed; whoever watches the processes calls it. The next
// Poll delivers what the peer had published, then Down, and Sleep returns for it.
// Callable from any goroutine.
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

// Gone reports whether Lose was called for a peer, possibly before Down is delivered.
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

// wake wakes local process i, whose bell has just been incremented. A peer that cannot be
// woken is lost.
func (f *Fabric) wake(i int, d *shmfmt.Door) {
	if err := f.node.Wake(i, &d.Bell); err != nil && i != f.me {
		f.Lose(f.job[i], fmt.Errorf("%s: process %d sleeps and cannot be woken: %w", f.name, f.job[i], err))
	}
}

// connect finds the ring to a peer. The ring is part of the peer's segment from the
// start, so the peer takes no part in it.
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

// Poll implements fabric.Fabric. It ignores the hint: polling all rings that were ever
// used costs one load each.
func (f *Fabric) Poll(s fabric.Sink, hint int) int {
	n := f.drainAll(s)
	if len(f.offers) > 0 {
		n += f.TakeOffers()
	}
	if f.turns++; n == 0 || f.turns%scanEvery == 0 {
		if f.losing.Load() { // pairs with the store in Lose
			n += f.deliverLosses(s)
		}
		if f.findSenders() {
			n += f.drainAll(s)
		}
		if f.findOffers() {
			n += f.TakeOffers()
		}
	}
	return n
}

// drainAll delivers frames of each ring in turn. From a ring that was empty in the last
// polls it takes one frame only: looking for a second one would take a cache line from
// the sender, before the caller can continue with the frame that it may have waited for.
func (f *Fabric) drainAll(s fabric.Sink) int {
	n := 0
	for i := 0; i < len(f.in); i++ { // drain may remove f.in[i]
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
			f.signalRoom(c)
		}
	}
	return n
}

// signalRoom tells a peer whose frame was refused that its ring has room. It increments
// the bell even if the peer is not armed: the peer may be between the refusal and its Arm,
// and then the Sleep that follows must return. If a Sleep is in progress already, Arm ends
// it. The process that clears the armed flag increments the bell once more: the peer may
// have seen the first increment and be asleep again.
func (f *Fabric) signalRoom(c *incoming) {
	c.door.Bell.Add(1)
	if c.door.Armed.Swap(0) != 0 { // pairs with the store in Arm
		c.door.Bell.Add(1)
		f.wake(c.peer, c.door)
	}
}

// deliverLosses reports the lost peers, each after its last frames.
func (f *Fabric) deliverLosses(s fabric.Sink) int {
	f.mu.Lock()
	lost := f.lost
	f.lost = nil
	f.losing.Store(false)
	f.mu.Unlock()
	f.findSenders() // a lost peer may have sent its first frame after the last poll
	n := 0
	for _, l := range lost {
		if l.peer < 0 || l.peer >= len(f.down) {
			continue
		}
		for i := range f.in {
			if c := &f.in[i]; c.job == l.peer {
				// The limit is the size of a ring: a failed peer has published no more.
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

// drop ends sending to and receiving from a peer that has failed or broken the format.
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
	if f.door.Bell.Load() != f.seenBell.Load() {
		// signalRoom incremented the bell while this process was not armed, and so woke
		// nobody: a goroutine may sleep on the bell already.
		f.wake(f.me, f.door)
	}
}

// Disarm implements fabric.Fabric.
func (f *Fabric) Disarm() {
	if f.door.Armed.Load() != 0 {
		f.door.Armed.Store(0)
	}
}

// Sleep implements fabric.Fabric. It sleeps only if the bell has not changed since Sleep
// last returned, so that it does not miss a ring between two Sleeps.
func (f *Fabric) Sleep() {
	if !f.closed.Load() {
		f.node.Sleep(&f.door.Bell, f.seenBell.Load())
	}
	f.seenBell.Store(f.door.Bell.Load())
}

// Wake implements fabric.Fabric.
func (f *Fabric) Wake() {
	f.door.Bell.Add(1)
	f.wake(f.me, f.door) // fails only after Release, when nobody sleeps any more
}

// Close implements fabric.Fabric. Accepted frames are in shared memory: there is nothing
// to flush.
func (f *Fabric) Close() error {
	f.closed.Store(true)
	f.Wake()
	return f.node.Close()
}

// Release frees the memory of a closed fabric in which nobody sleeps, when the process
// continues without it. If watched is set, calls may still be in progress or follow: they
// find empty rings.
func (f *Fabric) Release(watched bool) error {
	if r, ok := f.node.(interface{ Release(bool) error }); ok {
		return r.Release(watched)
	}
	return nil
}
