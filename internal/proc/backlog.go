package proc

import "github.com/halo-mpi/halo/internal/wire"

// Sent is told when a queued frame is on its way and its payload free again.
type Sent interface {
	Sent(err error)
}

// queued is a frame that waits for room. The payload is referenced, not copied.
type queued struct {
	hdr     wire.Header
	payload []byte
	owner   Sent // may be nil
}

// backlog is what waits to be sent to one peer, in order. A fabric that refused
// a frame must be offered that very frame next: it is the first.
type backlog struct {
	frames []queued
	first  int
}

func (b *backlog) count() int { return len(b.frames) - b.first }

func (b *backlog) push(q queued) {
	if b.first > 64 && b.first > len(b.frames)/2 { // reclaim what has gone
		n := copy(b.frames, b.frames[b.first:])
		clear(b.frames[n:])
		b.frames, b.first = b.frames[:n], 0
	}
	b.frames = append(b.frames, q)
}

func (b *backlog) pop() {
	b.frames[b.first] = queued{}
	b.first++
	if b.first == len(b.frames) {
		b.frames, b.first = b.frames[:0], 0
	}
}

// Queue sends a frame now or, when there is no room, after all that was queued
// for the peer before. It reports whether the frame has gone; if not, owner is
// told later and payload must stay as it is until then.
func (p *Proc) Queue(to int, h *wire.Header, payload []byte, owner Sent) bool {
	if p.Send(to, h, payload) {
		return true
	}
	p.Push(to, h, payload, owner)
	return false
}

// Push queues a frame that Send has just refused.
func (p *Proc) Push(to int, h *wire.Header, payload []byte, owner Sent) {
	b := &p.peers[to].backlog
	if b.count() == 0 {
		p.backlogs = append(p.backlogs, to)
	}
	b.push(queued{*h, payload, owner})
}

// Backlogs is the number of peers for which frames are queued.
func (p *Proc) Backlogs() int { return len(p.backlogs) }

// flush offers the first frames of the backlogs again, and reports how many went.
func (p *Proc) flush() int {
	n := 0
	for i := 0; i < len(p.backlogs); i++ {
		to := p.backlogs[i]
		e := &p.peers[to]
		for burst := 0; burst < flushBurst && e.backlog.count() > 0; burst++ {
			q := &e.backlog.frames[e.backlog.first]
			if !e.fab.Send(to, &q.hdr, q.payload) {
				break
			}
			owner := q.owner
			e.backlog.pop()
			n++
			if owner != nil {
				owner.Sent(nil)
			}
		}
		if e.backlog.count() == 0 {
			p.backlogs = append(p.backlogs[:i], p.backlogs[i+1:]...)
			i--
		}
	}
	return n
}

// flushBurst bounds the frames sent to one peer before the next has its turn.
const flushBurst = 16

// drop forgets the backlog of a peer that is gone.
func (p *Proc) drop(to int) {
	e := &p.peers[to]
	for e.backlog.count() > 0 {
		owner := e.backlog.frames[e.backlog.first].owner
		e.backlog.pop()
		if owner != nil {
			owner.Sent(e.down)
		}
	}
	for i, b := range p.backlogs {
		if b == to {
			p.backlogs = append(p.backlogs[:i], p.backlogs[i+1:]...)
			break
		}
	}
}
