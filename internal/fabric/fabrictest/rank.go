package fabrictest

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/wire"
)

// rank drives one fabric as the engine does, and checks every frame that it delivers.
type rank struct {
	job *job
	me  int
	f   fabric.Fabric

	mu        sync.Mutex // the engine's lock
	traffic   []traffic  // by peer
	idlePolls int        // polls without work before it sleeps
	turn      int
	rng       *rand.Rand // of the goroutine that drives

	onTaken func(from int) // if set, called after each frame, inside Poll
	asleep  atomic.Bool
	ended   atomic.Bool // drive returns
}

// traffic is the state of the frames between a rank and one peer.
type traffic struct {
	plan, sent int // frames to send, and accepted so far
	expect     int // frames to receive
	got        int
	down       bool
	hostile    bool // this peer may send anything

	refusedFrame bool // hdr and buf were refused
	hdr          wire.Header
	buf          []byte
	handed       wire.Header // the copy of hdr that Send sees

	sentOn, gotOn [channels]int
	refused       int // Sends refused since one was accepted

	placing bool // Place was answered with memory, Placed is awaited
	placeAt []byte
}

// send tries to send the next frame of the plan to a peer. The fabric must not read header and
// payload after it has accepted them: send overwrites them at once.
func (r *rank) send(to int) bool {
	l := &r.traffic[to]
	if !l.refusedFrame {
		c := r.job.pattern.channel(r.me, to, l.sent)
		h, payload := r.job.pattern.frame(r.me, to, c, l.sentOn[c])
		l.sentOn[c]++
		l.hdr = h
		l.buf = append(l.buf[:0], payload...)
		l.refusedFrame = true
	}
	l.handed = l.hdr
	taken := r.f.Send(to, &l.handed, l.buf)
	if l.handed != l.hdr {
		r.job.failf("rank %d: Send changed the header %+v to %+v", r.me, l.hdr, l.handed)
	}
	if !taken {
		l.refused++
		return false
	}
	l.handed = wire.Header{Size: 1, Kind: 0xfe}
	clear(l.buf)
	l.refusedFrame, l.refused = false, 0
	l.sent++
	r.job.progress.Add(1)
	return true
}

// push sends frames to all peers in turn, and reports how many were accepted.
func (r *rank) push() int {
	n := 0
	r.turn++
	for i := range r.traffic {
		to := (i + r.turn) % len(r.traffic)
		l := &r.traffic[to]
		for k := 0; k < 8 && l.sent < l.plan && !l.down && r.send(to); k++ {
			n++
		}
	}
	return n
}

// complete reports whether all is sent and received. Traffic with a rank that is Down is complete.
func (r *rank) complete() bool {
	for i := range r.traffic {
		if l := &r.traffic[i]; !l.down && (l.sent < l.plan || l.got < l.expect) {
			return false
		}
	}
	return true
}

// drive makes progress until done, which it calls with the lock held.
func (r *rank) drive(done func() bool) {
	idle := 0
	for {
		r.mu.Lock()
		if done() || r.job.failed() || r.ended.Load() {
			r.mu.Unlock()
			return
		}
		n := r.f.Poll(r, -1) + r.push()
		r.mu.Unlock()
		if n > 0 {
			idle = 0
			continue
		}
		if idle < r.idlePolls {
			idle++
			runtime.Gosched()
			continue
		}
		r.sleepUntil(done)
		idle = 0
	}
}

// sleepUntil sleeps as the contract demands. It does not send refused frames again after Arm:
// Sleep must return for them too.
func (r *rank) sleepUntil(done func() bool) {
	r.mu.Lock()
	if r.ended.Load() {
		r.mu.Unlock()
		return
	}
	r.f.Arm()
	quiet := r.f.Poll(r, -1) == 0 && !done() && !r.job.failed()
	r.mu.Unlock()
	if quiet {
		randomDelay(r.rng)
		r.sleep()
	}
	r.mu.Lock()
	if !r.ended.Load() {
		r.f.Disarm()
	}
	r.mu.Unlock()
}

// randomDelay takes a random time, mostly some nanoseconds, so that the caller continues at
// every possible point of what the other ranks do.
func randomDelay(rng *rand.Rand) {
	var turns atomic.Int32
	switch n := rng.IntN(64) / 4; {
	case n < 8:
		for range rng.IntN(1 << n) {
			turns.Add(1)
		}
	case n < 12:
		for range n - 7 {
			runtime.Gosched()
		}
	case n == 15 && rng.IntN(4) == 0:
		time.Sleep(time.Duration(rng.IntN(20)) * time.Microsecond)
	}
}

func (r *rank) sleep() {
	r.asleep.Store(true)
	r.f.Sleep()
	r.asleep.Store(false)
}

// Frame implements fabric.Sink.
func (r *rank) Frame(from int, h *wire.Header, payload []byte) {
	r.job.progress.Add(1)
	if l := r.trafficFrom(from, "Frame", h); l != nil {
		if int(h.Size) != len(payload) || len(payload) > wire.MaxPayload {
			r.job.failf("rank %d from %d: payload of %d bytes with header %+v", r.me, from, len(payload), *h)
		}
		if l.hostile {
			return
		}
		if l.placing {
			r.job.failf("rank %d from %d: Frame %+v after Place gave memory for it", r.me, from, *h)
		}
		r.take(from, l, h, payload)
	}
}

// Place implements fabric.Sink.
func (r *rank) Place(from int, h *wire.Header) []byte {
	l := r.trafficFrom(from, "Place", h)
	if l == nil {
		return nil
	}
	if l.placing {
		r.job.failf("rank %d from %d: Place %+v while Placed is due for another frame", r.me, from, *h)
	}
	if l.hostile || !placed(h) {
		return nil
	}
	l.placing = true
	l.placeAt = bytes.Repeat([]byte{0xdd}, int(h.Size))
	return l.placeAt
}

// Placed implements fabric.Sink.
func (r *rank) Placed(from int, h *wire.Header) {
	r.job.progress.Add(1)
	l := r.trafficFrom(from, "Placed", h)
	if l == nil {
		return
	}
	if !l.placing {
		r.job.failf("rank %d from %d: Placed %+v without Place", r.me, from, *h)
		return
	}
	l.placing = false
	r.take(from, l, h, l.placeAt)
}

// Down implements fabric.Sink.
func (r *rank) Down(peer int, cause error) {
	r.job.progress.Add(1)
	if cause == nil {
		r.job.failf("rank %d: Down(%d) without a cause", r.me, peer)
	}
	if l := r.trafficFrom(peer, "Down", nil); l != nil {
		l.down = true
		if !r.job.allowedDown(peer) {
			r.job.failf("rank %d: Down(%d, %v) although it lives", r.me, peer, cause)
		}
	}
}

// trafficFrom returns the traffic with a peer from which something arrives.
func (r *rank) trafficFrom(from int, what string, h *wire.Header) *traffic {
	if from < 0 || from >= len(r.traffic) || from == r.me {
		r.job.failf("rank %d of %d: %s from %d", r.me, len(r.traffic), what, from)
		return nil
	}
	l := &r.traffic[from]
	if l.down {
		r.job.failf("rank %d: %s from %d after its Down (header %+v)", r.me, what, from, h)
		return nil
	}
	return l
}

// take checks a whole frame against the one that must come next.
func (r *rank) take(from int, l *traffic, h *wire.Header, payload []byte) {
	c := channelIndex(h.Chan)
	if c < 0 {
		r.job.failf("rank %d from %d: frame on channel %#x: %+v", r.me, from, h.Chan, *h)
		return
	}
	want, content := r.job.pattern.frame(from, r.me, c, l.gotOn[c])
	if *h != want {
		r.job.failf("rank %d from %d: frame %d of channel %d has header\n%+v, want\n%+v", r.me, from, l.gotOn[c], c, *h, want)
		return
	}
	if !bytes.Equal(payload, content) {
		at := 0
		for at < len(payload) && at < len(content) && payload[at] == content[at] {
			at++
		}
		r.job.failf("rank %d from %d: frame %d of channel %d: payload of %d bytes, want %d, is wrong from byte %d on",
			r.me, from, l.gotOn[c], c, len(payload), len(content), at)
		return
	}
	l.gotOn[c]++
	l.got++
	if r.onTaken != nil {
		r.onTaken(from)
	}
}
