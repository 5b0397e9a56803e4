package sim

import (
	"errors"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/wire"
)

// errEnded is the cause that Down reports for a peer that has ended.
var errEnded = errors.New("the rank has ended")

// Fabric is the end of one rank. It implements fabric.Fabric.
type Fabric struct {
	net *Network
	me  int

	wake chan struct{} // capacity 1: ends Sleep
	news chan struct{} // capacity 1: Sleep looks at the inbox again

	mu      sync.Mutex
	inbox   Queue[*frame]
	serial  uint64 // of the next frame in the inbox
	port    Port
	armed   bool
	closed  bool
	from    map[int]*way // by rank of the sender
	sleeper *time.Timer  // of Sleep alone, which uses it again
}

// way is what is on the way from one rank to another.
type way struct {
	bytes   int
	refused bool // the last frame was refused: take wakes the sender
}

func newFabric(n *Network, me int) *Fabric {
	return &Fabric{net: n, me: me, wake: make(chan struct{}, 1), news: make(chan struct{}, 1), from: map[int]*way{}}
}

// Send implements fabric.Fabric.
func (f *Fabric) Send(to int, h *wire.Header, payload []byte) bool {
	n, peer := f.net, f.net.ranks[to]
	peer.mu.Lock()
	closed := peer.closed
	w := peer.from[f.me]
	if w == nil {
		w = &way{}
		peer.from[f.me] = w
	}
	w.refused = !closed && w.bytes > 0 && w.bytes+wire.HeaderSize+len(payload) > window
	if w.refused {
		peer.mu.Unlock()
		return false
	}
	peer.mu.Unlock()
	if closed {
		return true
	}
	x := n.fresh(h, payload)
	x.from = f.me
	f.mu.Lock()
	x.arrives = f.port.Send(n.Now(), n.link(f.me, to), x.bytes())
	f.mu.Unlock()
	peer.mu.Lock()
	w.bytes += x.bytes()
	peer.push(x)
	peer.mu.Unlock()
	return true
}

// push adds a frame to the inbox. mu is held.
func (f *Fabric) push(x *frame) {
	x.serial = f.serial
	f.serial++
	f.inbox.Push(x)
	if f.armed && f.inbox[0] == x {
		notify(f.news)
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// taken returns the time at which the first frame of the inbox can be taken; ok is false if the inbox is empty.
// mu is held.
func (f *Fabric) taken() (at time.Duration, ok bool) {
	if len(f.inbox) == 0 {
		return 0, false
	}
	x := f.inbox[0]
	if x.down {
		return x.arrives, true
	}
	return f.port.Taken(x.arrives, f.net.link(x.from, f.me)), true
}

// Poll implements fabric.Fabric.
func (f *Fabric) Poll(s fabric.Sink, hint int) int {
	count := 0
	for ; count < pollMax; count++ {
		x := f.take()
		if x == nil {
			break
		}
		if x.down {
			s.Down(x.from, errEnded)
		} else {
			s.Frame(x.from, &x.header, x.payload)
		}
		f.net.release(x)
	}
	return count
}

// take removes the first frame of the inbox if it can be taken now.
func (f *Fabric) take() *frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.taken()
	if !ok || at > f.net.Now() || f.closed {
		return nil
	}
	x := f.inbox.Pop()
	if x.down {
		return x
	}
	f.port.Take(at)
	w := f.from[x.from]
	w.bytes -= x.bytes()
	if w.refused {
		w.refused = false
		f.net.ranks[x.from].Wake() // a Send may succeed
	}
	return x
}

// Arm implements fabric.Fabric.
func (f *Fabric) Arm() {
	f.mu.Lock()
	f.armed = true
	f.mu.Unlock()
	notify(f.news)
}

// Disarm implements fabric.Fabric.
func (f *Fabric) Disarm() {
	f.mu.Lock()
	f.armed = false
	f.mu.Unlock()
}

// Sleep implements fabric.Fabric.
func (f *Fabric) Sleep() {
	for {
		f.mu.Lock()
		at, ok := f.taken()
		wait, closed := at-f.net.Now(), f.closed
		ok = ok && f.armed
		if ok && wait <= 0 {
			f.armed = false
		}
		f.mu.Unlock()
		var due <-chan time.Time
		switch {
		case closed || ok && wait <= 0:
			return
		case ok:
			if f.sleeper == nil {
				f.sleeper = time.NewTimer(wait)
			} else {
				f.sleeper.Reset(wait)
			}
			due = f.sleeper.C
		}
		select {
		case <-f.wake:
			return
		case <-f.news:
		case <-due:
		}
	}
}

// Wake implements fabric.Fabric.
func (f *Fabric) Wake() { notify(f.wake) }

// Close implements fabric.Fabric.
func (f *Fabric) Close() error {
	f.end()
	return nil
}

// end records that the rank has ended. Its peers get Down after all its frames.
func (f *Fabric) end() {
	f.mu.Lock()
	was, leaves := f.closed, f.port.leaves
	f.closed = true
	for from, w := range f.from {
		if w.refused {
			f.net.ranks[from].Wake()
		}
	}
	f.mu.Unlock()
	f.Wake()
	if was {
		return
	}
	for i, peer := range f.net.ranks {
		if i == f.me {
			continue
		}
		x := f.net.fresh(&wire.Header{}, nil)
		x.from, x.down = f.me, true
		x.arrives = max(f.net.Now(), leaves) + f.net.link(f.me, i).Latency
		peer.mu.Lock()
		peer.push(x)
		peer.mu.Unlock()
	}
}
