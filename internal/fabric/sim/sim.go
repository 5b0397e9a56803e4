package sim

import (
	"cmp"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// eagerMax and chunkMax are the limits of frames, as of sockets.
	eagerMax = 16 << 10
	chunkMax = wire.MaxPayload
	// window is how many bytes of frames from one rank to another may be on the way.
	window = 1 << 20
	// pollMax bounds the frames of one Poll.
	pollMax = 32
)

// Link is the model of the way between two ranks.
type Link struct {
	Latency  time.Duration // L
	Overhead time.Duration // o
	Gap      time.Duration // g
	PerByte  float64       // G, nanoseconds for each byte
}

// occupies returns how long n bytes occupy the link.
func (l *Link) occupies(n int) time.Duration { return time.Duration(float64(n) * l.PerByte) }

// Port is the state of a rank in the model. The zero Port is idle.
type Port struct {
	busy   time.Duration // when the processor is free
	leaves time.Duration // when the last frame has left, and its gap is over
}

// Send records that the rank sends a frame of size bytes now, and returns when the frame arrives.
func (p *Port) Send(now time.Duration, l *Link, size int) (arrives time.Duration) {
	p.busy = max(now, p.busy) + l.Overhead
	at, k := max(p.busy, p.leaves), l.occupies(size)
	p.leaves = at + max(l.Gap, k)
	return at + k + l.Latency
}

// Taken returns when the rank has taken a frame that arrives at the time arrives, if it takes that next.
func (p *Port) Taken(arrives time.Duration, l *Link) time.Duration {
	return max(arrives, p.busy) + l.Overhead
}

// Take records that the rank has taken a frame at a time that Taken has returned.
func (p *Port) Take(at time.Duration) { p.busy = at }

// Network connects ranks.
type Network struct {
	start     time.Time
	near, far Link
	host      []int32
	ranks     []*Fabric

	mu   sync.Mutex
	free []*frame
}

// New returns a network of len(host) ranks. host has the number of the host of each rank: near connects
// the ranks of one host, and far those of different hosts.
func New(host []int32, near, far Link) *Network {
	n := &Network{start: time.Now(), near: near, far: far, host: host, ranks: make([]*Fabric, len(host))}
	for i := range n.ranks {
		n.ranks[i] = newFabric(n, i)
	}
	return n
}

// Fabric returns the fabric of a rank.
func (n *Network) Fabric(rank int) *Fabric { return n.ranks[rank] }

// Now returns the time since New.
func (n *Network) Now() time.Duration { return time.Since(n.start) }

// link returns the model of the way between two ranks.
func (n *Network) link(a, b int) *Link {
	if n.host[a] == n.host[b] {
		return &n.near
	}
	return &n.far
}

// frame is a frame on the way.
type frame struct {
	from    int
	arrives time.Duration
	serial  uint64 // number in the inbox of the receiver
	header  wire.Header
	payload []byte
	down    bool // no frame: from has ended
}

// Before implements the order of a Queue: by arrival, then by sender, so that all runs in virtual time have the same
// order, and then in the order in which the frames were sent.
func (f *frame) Before(o *frame) bool {
	return cmp.Or(cmp.Compare(f.arrives, o.arrives), cmp.Compare(f.from, o.from), cmp.Compare(f.serial, o.serial)) < 0
}

// bytes is the size of the frame, as it counts for window and on the link.
func (f *frame) bytes() int { return wire.HeaderSize + len(f.payload) }

// fresh returns a frame with a copy of a payload.
func (n *Network) fresh(h *wire.Header, payload []byte) *frame {
	n.mu.Lock()
	var f *frame
	if last := len(n.free) - 1; last >= 0 {
		f, n.free = n.free[last], n.free[:last]
	} else {
		f = &frame{}
	}
	n.mu.Unlock()
	f.header, f.payload = *h, append(f.payload[:0], payload...)
	return f
}

// release makes a frame available for the next one.
func (n *Network) release(f *frame) {
	f.down = false
	n.mu.Lock()
	n.free = append(n.free, f)
	n.mu.Unlock()
}

// Name implements fabric.Fabric.
func (f *Fabric) Name() string { return "sim" }

// EagerMax implements fabric.Fabric.
func (f *Fabric) EagerMax() int { return eagerMax }

// ChunkMax implements fabric.Fabric.
func (f *Fabric) ChunkMax() int { return chunkMax }

var _ fabric.Fabric = (*Fabric)(nil)
