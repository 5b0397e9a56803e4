package link

import (
	"math"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// bundle is a coalesced frame: short puts, or short accumulates with one operation, that are not
// sent yet. A system call costs as much as dozens of them, and a frame that also carries the flush
// which mostly follows saves a second one. So they are kept until something else is sent by their
// channel, until there are many, or until the process polls, which it does whenever it waits. A
// program cannot see the delay: before a flush no call reports that they are done.
//
// They become runs of one frame, in their order. A fault would refuse the whole frame, so that in
// dynamic windows, where only the target knows what is attached, a frame has one operation.
type bundle struct {
	kind  operation.Kind
	op    op.Op
	typ   op.Type
	base  uint64 // displacement of the first
	first uint64 // number of the first
	n     int    // runs
	size  int    // bytes of data
	then  uint8  // flags that say what follows
	at    uint64 // number of what follows, or of the counter
	page  []byte // data from bundleData on; the runs stand before them
	runs  [bundleRuns]operation.Runs
	limit int // of size
}

const (
	// ShortMax is the length of the longest operation that is coalesced, or goes with an epoch in one frame, in bytes: its copy costs
	// a tenth of a system call.
	ShortMax = 4 << 10
	// bundleRuns is how many runs a coalesced frame has at most.
	bundleRuns = 64
	bundleData = bundleRuns * operation.RunSize
	// bundleMax is how many bytes of data it has at most.
	bundleMax = 16 << 10
)

// Coalescible reports whether o alone, without its target's state, may be coalesced.
func Coalescible(o *operation.Op) bool {
	return (o.Kind == operation.Put || o.Kind == operation.Accumulate && o.Fn != op.NoOp) && !o.Answers() && o.Origin.Contiguous() && o.Origin.Len() <= ShortMax
}

// Coalesce coalesces a short access by the main channel without making an operation for it, which would be most of the
// work. It reports whether it did. The target is not down. Coalesce is inlined.
func (l *Link) Coalesce(t *Target, a *operation.Op, off uint64) bool {
	return l.coalesce(&t.main, a, off, 0)
}

// coalesce adds a short access to the coalesced frame of c, if it may, and reports whether it did. at is the number of
// the access, 0 if it gets the next one now.
func (l *Link) coalesce(c *Channel, a *operation.Op, off, at uint64) bool {
	t, isNew := c.target, at == 0
	if isNew {
		at = c.issued + 1
	}
	if c.first < len(c.queue) || l.peers.At(int(t.Process)).stuck {
		return false
	}
	if a.Notify != 0 && c.bundle == nil {
		return false // there is no frame to join: it is sent from its memory
	}
	if c.bundle != nil && !c.bundle.add(a, off, t.dynamic) {
		l.Release(c)
		if l.peers.At(int(t.Process)).stuck || c.first < len(c.queue) {
			return false
		}
	}
	if c.bundle == nil {
		h := l.newBundle()
		h.kind, h.op, h.typ, h.base, h.first = a.Kind, a.Fn, a.Elem, off, at
		h.limit = min(bundleMax, l.p.ChunkMax(int(t.Process))-bundleData)
		if !h.add(a, off, false) {
			l.freeBundle(h)
			return false
		}
		c.bundle = h
		if len(l.coalescing) == 0 {
			l.p.Later(1)
		}
		l.coalescing = append(l.coalescing, c)
	}
	if isNew {
		c.issued, c.quiet = at, at
	}
	return true
}

// add adds an access if it fits.
func (h *bundle) add(a *operation.Op, at uint64, alone bool) bool {
	origin, _ := a.Origin.Bytes() // as Coalescible says
	off, size := int64(at-h.base), len(origin)
	same := a.Fn == h.op || planted.EnvironmentOfTheFirst && a.Fn.Bare() == h.op.Bare()
	if a.Kind != h.kind || !same || a.Elem != h.typ || h.size+size > h.limit || off > math.MaxInt64/2 || off < math.MinInt64/2 ||
		alone && h.n > 0 {
		return false
	}
	last := &h.runs[max(h.n-1, 0)]
	switch {
	case h.n > 0 && last.Count == 1 && last.Off+last.Length == off:
		last.Length += int64(size)
	case h.n > 0 && last.Length == int64(size) && (last.Count == 1 || last.Off+last.Count*last.Stride == off):
		if last.Count == 1 || planted.StrideOfTheLast {
			last.Stride = off - last.Off
		}
		last.Count++
	case h.n == bundleRuns:
		return false
	default:
		h.runs[h.n] = operation.Runs{Off: off, Length: int64(size), Count: 1}
		h.n++
	}
	copy(h.page[bundleData+h.size:], origin)
	h.size += size
	return true
}

// Release sends the coalesced frame of c, or appends it to the queue.
func (l *Link) Release(c *Channel) { l.releaseThen(c, 0, 0) }

// releaseThen is Release with what follows: a flag, and the number for it. It reports whether there
// was a frame to carry them.
func (l *Link) releaseThen(c *Channel, then uint8, at uint64) bool {
	h := c.bundle
	if h == nil {
		return false
	}
	c.bundle = nil
	for i, o := range l.coalescing {
		if o == c {
			last := len(l.coalescing) - 1
			l.coalescing[i], l.coalescing[last] = l.coalescing[last], nil
			l.coalescing = l.coalescing[:last]
			break
		}
	}
	if len(l.coalescing) == 0 {
		l.p.Later(-1)
	}
	h.then, h.at = then, at
	q := l.peers.At(int(c.target.Process))
	if c.first == len(c.queue) && h.open(q) && l.p.Send(int(c.target.Process), &l.hdr, l.frameBundle(c, h)) {
		q.requests += h.asks()
		l.freeBundle(h)
		return true
	}
	o := l.newOperation(c, &operation.Op{Kind: Coalesced}, 0)
	o.at, o.bundle = c.issued, h
	l.enqueue(o) // the same frame must be first: a part of it may be sent
	return true
}

// sendBundle sends a coalesced frame from the queue.
func (l *Link) sendBundle(q *peer, o *Operation) bool {
	h := o.bundle
	if !h.open(q) {
		return false
	}
	q.requests += h.asks()
	o.sent = true
	l.sendFrame(q, o, l.frameBundle(o.channel, h))
	return true
}

// asks is how many answers h gets.
func (h *bundle) asks() int {
	if h.then&(wire.ThenFlush|wire.ThenUnlock) != 0 {
		return 1
	}
	return 0
}

// open reports whether a frame can be sent to the target now.
func (h *bundle) open(q *peer) bool { return !q.stuck && q.requests+h.asks() <= RequestsMax }

// frameBundle makes l.hdr the header of the coalesced frame, and returns its payload.
func (l *Link) frameBundle(c *Channel, h *bundle) []byte {
	l.hdr = wire.Header{Kind: wire.WinPut, Flags: h.then, Chan: c.number, Ctx: c.target.window, Arg: h.base}
	if h.kind == operation.Accumulate {
		l.hdr.Kind, l.hdr.Aux = wire.WinAcc, operation.AccumulateWord(h.op, h.typ)
	}
	front := bundleData
	if h.n > 1 || h.runs[0].Count > 1 {
		l.hdr.Tag = int32(h.n)
		front -= h.n * operation.RunSize
		for i := range h.n {
			h.runs[i].Encode(h.page[front+i*operation.RunSize:])
		}
	}
	if h.then == wire.ThenNotify {
		l.hdr.SetCounter(int(h.at))
	} else {
		l.hdr.Name = h.at
	}
	l.hdr.Size = uint32(bundleData + h.size - front)
	return h.page[front : bundleData+h.size]
}

// newBundle returns an empty frame.
func (l *Link) newBundle() *bundle {
	if n := len(l.spare); n > 0 {
		h := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return h
	}
	return &bundle{page: make([]byte, bundleData+bundleMax)}
}

// freeBundle takes a frame back.
func (l *Link) freeBundle(h *bundle) {
	if len(l.spare) < pagesMax {
		h.n, h.size, h.then = 0, 0, 0
		l.spare = append(l.spare, h)
	}
}

// releaseAll sends coalesced frames, except those of channels where they go with the next flush.
func (l *Link) releaseAll() (n int) {
	for i := len(l.coalescing) - 1; i >= 0; i-- {
		if c := l.coalescing[i]; c.wanted <= c.asked {
			l.Release(c)
			n++
		}
	}
	return n
}
