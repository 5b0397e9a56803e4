package proc

import (
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// Sent is implemented by the owner of a queued frame. The method is called when the frame
// is sent and its payload may be reused, or with an error when it never will be sent.
type Sent interface {
	Sent(err error)
}

// queuedFrame is a frame that waits for room. The payload is referenced, not copied.
type queuedFrame struct {
	hdr     wire.Header
	payload []byte
	owner   Sent // may be nil
}

// sendQueue contains the frames that wait for room on their way to one peer, in order. A
// fabric that has refused a frame must get the same frame next: it is the first.
type sendQueue struct {
	frames []queuedFrame
	first  int
}

func (b *sendQueue) count() int { return len(b.frames) - b.first }

func (b *sendQueue) push(q queuedFrame) {
	if b.first > 64 && b.first > len(b.frames)/2 { // reuse the space of sent frames
		n := copy(b.frames, b.frames[b.first:])
		clear(b.frames[n:])
		b.frames, b.first = b.frames[:n], 0
	}
	b.frames = append(b.frames, q)
}

func (b *sendQueue) pop() {
	b.frames[b.first] = queuedFrame{}
	b.first++
	if b.first == len(b.frames) {
		b.frames, b.first = b.frames[:0], 0
	}
}

// Queue sends a frame, or adds it to the peer's send queue if there is no room. It reports
// whether the frame is sent. If not, owner.Sent is called later, and payload must not change
// until then.
func (p *Proc) Queue(to int, h *wire.Header, payload []byte, owner Sent) bool {
	if p.Send(to, h, payload) {
		return true
	}
	p.Push(to, h, payload, owner)
	return false
}

// Push queues a frame that Send has just refused.
func (p *Proc) Push(to int, h *wire.Header, payload []byte, owner Sent) {
	b := &p.peers.At(to).queue
	if b.count() == 0 {
		p.queuedPeers = append(p.queuedPeers, to)
		p.setSlow(shmfmt.SlowQueued, true)
	}
	b.push(queuedFrame{*h, payload, owner})
}

// QueuedPeers is the number of peers for which frames are queued.
func (p *Proc) QueuedPeers() int { return len(p.queuedPeers) }

// flushQueues sends the first frames of the send queues, and reports how many were accepted.
func (p *Proc) flushQueues() int {
	n := 0
	for i := 0; i < len(p.queuedPeers); i++ {
		to := p.queuedPeers[i]
		e := p.peers.At(to)
		for burst := 0; burst < flushBurst && e.queue.count() > 0; burst++ {
			q := &e.queue.frames[e.queue.first]
			if q.hdr.Kind == wire.Leave {
				if !p.sendLeave(to, &q.hdr) {
					break
				}
			} else if !e.fab.Send(to, &q.hdr, q.payload) {
				break
			}
			owner := q.owner
			e.queue.pop()
			n++
			if owner != nil {
				owner.Sent(nil)
			}
		}
		if e.queue.count() == 0 {
			p.unqueue(i)
			i--
		}
	}
	return n
}

// flushBurst bounds the frames sent to one peer before the next peer has its turn.
const flushBurst = 16

// dropQueue drops the send queue of a peer that has failed.
func (p *Proc) dropQueue(to int) {
	e := p.peers.At(to)
	for e.queue.count() > 0 {
		owner := e.queue.frames[e.queue.first].owner
		e.queue.pop()
		if owner != nil {
			owner.Sent(e.down)
		}
	}
	for i, b := range p.queuedPeers {
		if b == to {
			p.unqueue(i)
			break
		}
	}
}

// unqueue removes entry i of queuedPeers.
func (p *Proc) unqueue(i int) {
	p.queuedPeers = append(p.queuedPeers[:i], p.queuedPeers[i+1:]...)
	p.setSlow(shmfmt.SlowQueued, len(p.queuedPeers) > 0)
}
