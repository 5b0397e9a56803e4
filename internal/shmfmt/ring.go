package shmfmt

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// RingBytes is the room for frames in one ring: small enough to stay in a
	// second-level cache, large enough for a window of small messages.
	RingBytes = 64 << 10
	// RingStride is the size of a ring with its words of control.
	RingStride = page + RingBytes
	// MaxFrame is the largest payload that a ring takes in one frame. A frame
	// and the padding before it never exceed what is free in an empty ring.
	MaxFrame = 16<<10 - wire.HeaderSize

	// lag is how many consumed bytes the consumer keeps to itself before it
	// tells the producer: one line of traffic per lag bytes.
	lag = RingBytes / 4

	ahead = 8 // lines that Ahead loads

	// reach is how many lines ahead of the tail Put begins to own when entries
	// take one line: 3 to 6 were as good, 2 and 16 much worse.
	reach = 4
	// fetchMax bounds the lines that one Put begins to own: more than a core can
	// have under way delay those that are needed first.
	fetchMax = 20

	kindPad = wire.Kind(0xff) // skips to the start of the ring
)

// ringControl is the first page of a ring.
type ringControl struct {
	head atomic.Uint64 // bytes consumed, written by the consumer
	_    [Line - 8]byte
	wait atomic.Uint32 // set by a producer that found the ring full, taken by the consumer
	_    [Line - 4]byte
}

// A ring carries frames from one producer to one consumer through shared
// memory. Entries are a frame each, aligned to a line, so that a frame of up to
// 24 bytes costs the transfer of one line: the consumer polls word 0 of the
// entry itself, and no index is shared on the path.
//
// The producer sees to it that word 0 of the entry that will follow is zero,
// fills an entry, and then publishes it by storing word 0 with release order. So
// the consumer always finds either zero or a whole frame where it looks, whatever
// stale payload the place once held, and a producer that dies leaves at most one
// unpublished frame. Room is told back through head, every lag bytes.
//
// The zero is stored before the entry is touched, and for entries of one line
// already when the entry before was published: stores become visible in order,
// so between the first and the last store into the line that the consumer polls
// there must be none that waits for another line, or the consumer takes the
// line away in between.
//
// The lines ahead were last read by the consumer, a lap ago. Whoever sends many
// short entries would wait for each of them to come back, since every call has an
// atomic operation that waits for all stores; so Put begins to fetch those that
// come some entries later. That doubles the rate of 8-byte messages.
//
// Who waits for a frame should have a fence between two looks, or Pause. Otherwise the
// processor has many looks under way at once, which take the line from the producer
// as often as they can, and have to be undone when it changes. A half round trip then
// takes a tenth longer on cores that share no cache, on others half as long again;
// a Pause, which may be 40 ns, is in between. For the same reason a consumer that is
// about to answer must not begin to own the line of its answer: the peer looks at it
// by then.
//
// Rejected: an index of the tail in a line of its own, which costs a second
// line for every message.

// Producer fills a ring. Its state is private to the producing process.
type Producer struct {
	ctl   *ringControl
	data  unsafe.Pointer
	tail  uint64 // bytes produced, padding included
	head  uint64 // last seen of ctl.head
	owned uint64 // position up to which lines were fetched for writing
	zero  uint64 // position of the youngest zeroed word 0 beyond tail
}

// NewProducer starts filling the ring in mem, which is as Ring returned it and
// has not been produced into before.
func NewProducer(mem []byte) Producer {
	_ = mem[RingStride-1]
	return Producer{ctl: (*ringControl)(unsafe.Pointer(&mem[0])), data: unsafe.Pointer(&mem[page])}
}

func entrySize(payload int) uint64 {
	return uint64(wire.HeaderSize+payload+Line-1) &^ (Line - 1)
}

func word(p unsafe.Pointer, at uint64) *uint64 { return (*uint64)(unsafe.Add(p, at)) }

// Put copies a frame into the ring, or reports false when there is no room;
// then the consumer will be seen by TakeWaiting.
// len(payload) == h.Size <= MaxFrame.
func (p *Producer) Put(h *wire.Header, payload []byte) bool {
	need := entrySize(len(payload))
	at := p.tail % RingBytes
	skip := uint64(0)
	if need > RingBytes-at {
		skip = RingBytes - at
	}
	// One more line must be free, for the zero after this entry.
	if p.tail+skip+need+Line-p.head > RingBytes && !p.room(skip+need+Line) {
		return false
	}
	if skip > 0 {
		p.clear(p.tail + skip)
		pad := wire.Header{Kind: kindPad}
		atomic.StoreUint64(word(p.data, at), pad.Word0()) // pairs with the load in Next
		p.tail += skip
		at = 0
	}
	p.clear(p.tail + need)
	e := unsafe.Add(p.data, at)
	*word(e, 8) = h.Ctx
	*word(e, 16) = h.Word2()
	*word(e, 24) = h.Arg
	*word(e, 32) = h.Name
	if len(payload) == 8 {
		*word(e, 40) = *(*uint64)(unsafe.Pointer(&payload[0]))
	} else if len(payload) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Add(e, wire.HeaderSize)), len(payload)), payload)
	}
	atomic.StoreUint64(word(e, 0), h.Word0()) // publishes; pairs with the load in Next
	p.tail += need
	p.fetch(need)
	if p.tail+2*Line-p.head <= RingBytes {
		p.clear(p.tail + Line)
	}
	return true
}

// fetch begins to own the lines that the entries after the next will take, if
// they are as long as the last.
func (p *Producer) fetch(size uint64) {
	pos := max(p.owned, p.tail+Line)
	end := min(p.tail+(reach-1)*Line+size, pos+fetchMax*Line)
	for ; pos < end; pos += Line {
		own(unsafe.Add(p.data, pos%RingBytes))
	}
	p.owned = pos
}

// clear makes word 0 of an entry at position pos zero, unless that was done ahead.
func (p *Producer) clear(pos uint64) {
	if pos > p.zero {
		p.zero = pos
		*word(p.data, pos%RingBytes) = 0
	}
}

// room looks again for need bytes, and if they are not there leaves word that
// the producer waits.
func (p *Producer) room(need uint64) bool {
	p.head = p.ctl.head.Load() // pairs with the store in Done
	if p.tail+need-p.head <= RingBytes {
		return true
	}
	p.ctl.wait.Store(1) // pairs with the load in Done: either it sees this, or we see its head
	p.head = p.ctl.head.Load()
	return p.tail+need-p.head <= RingBytes
}

// Consumer empties a ring. Its state is private to the consuming process.
type Consumer struct {
	ctl  *ringControl
	data unsafe.Pointer
	head uint64 // bytes consumed
	told uint64 // last stored into ctl.head
	size uint64 // size of the entry that Next returned
	sink uint64 // keeps the loads of Ahead
}

// NewConsumer starts emptying the ring in mem, from which nothing has been consumed yet.
func NewConsumer(mem []byte) Consumer {
	_ = mem[RingStride-1]
	return Consumer{ctl: (*ringControl)(unsafe.Pointer(&mem[0])), data: unsafe.Pointer(&mem[page])}
}

// Empty reports that nothing is published: one load.
func (c *Consumer) Empty() bool {
	return atomic.LoadUint64(word(c.data, c.head%RingBytes)) == 0
}

// Ahead begins to load the lines behind the next frame, when many are expected:
// the place of a frame is known only from the one before it, so without this
// each would cost the whole way to the producer's cache. What is loaded is not
// used: it may be being written.
func (c *Consumer) Ahead() {
	if sys.Race {
		return
	}
	at := c.head
	for i := range uint64(ahead) {
		c.sink += *word(c.data, (at+i*Line)%RingBytes) & 1
	}
}

// Next returns the next frame, if there is one: its header in h and its payload
// in place, valid until Done. An error means that the producer wrote what no
// correct producer writes; the ring is not to be used any more.
func (c *Consumer) Next(h *wire.Header) (payload []byte, ok bool, err error) {
	at := c.head % RingBytes
	w := atomic.LoadUint64(word(c.data, at)) // pairs with the stores in Put
	if w == 0 {
		return nil, false, nil
	}
	h.SetWord0(w)
	if h.Kind == kindPad {
		c.head += RingBytes - at
		at = 0
		if w = atomic.LoadUint64(word(c.data, 0)); w == 0 { // as above
			return nil, false, nil
		}
		h.SetWord0(w)
	}
	if !h.Kind.Defined() || h.Size > MaxFrame || entrySize(int(h.Size)) > RingBytes-at {
		return nil, false, fmt.Errorf("shmfmt: ring holds a frame of kind %d with %d bytes at offset %d", h.Kind, h.Size, at)
	}
	e := unsafe.Add(c.data, at)
	h.Ctx = *word(e, 8)
	h.SetWord2(*word(e, 16))
	h.Arg = *word(e, 24)
	h.Name = *word(e, 32)
	c.size = entrySize(int(h.Size))
	return unsafe.Slice((*byte)(unsafe.Add(e, wire.HeaderSize)), h.Size), true, nil
}

// Done gives the entry that Next returned back to the producer. It reports true
// if the producer waits for room and must be woken.
func (c *Consumer) Done() (wake bool) {
	c.head += c.size
	if c.head-c.told < lag {
		return false
	}
	c.told = c.head
	c.ctl.head.Store(c.head) // pairs with the loads in room
	return c.ctl.wait.Load() != 0 && c.ctl.wait.Swap(0) != 0
}
