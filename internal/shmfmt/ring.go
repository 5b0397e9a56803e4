package shmfmt

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// RingBytes is the room for frames in one ring in bytes: small enough to stay in a
	// second-level cache, large enough for many small messages.
	RingBytes = 64 << 10
	// RingStride is the size of a ring with its words of control.
	RingStride = page + RingBytes
	// MaxFrame is the largest payload of a frame in a ring. A frame and the padding before it
	// always fit into an empty ring.
	MaxFrame = 16<<10 - wire.HeaderSize

	// lag is how many bytes the consumer consumes before it stores head again: one transfer of a
	// line per lag bytes.
	lag = RingBytes / 4

	ahead = 8 // lines that Ahead loads

	// reach is how many lines ahead of the tail Put prefetches when entries take one line: 3 to
	// 6 were as good, 2 and 16 much worse.
	reach = 4
	// fetchMax bounds the lines that one Put prefetches: more than a core can fetch at a time
	// delay those that are needed first.
	fetchMax = 20

	kindPad = wire.Kind(0xff) // padding up to the end of the ring
)

// ringControl is the first page of a ring.
type ringControl struct {
	head atomic.Uint64 // bytes consumed, written by the consumer
	_    [Line - 8]byte
	wait atomic.Uint32 // set by a producer that has found the ring full, cleared by the consumer
	_    [Line - 4]byte

	pieces Pieces
}

// A ring carries frames from one producer to one consumer through shared memory. An entry is one
// frame, aligned to a line, so that a frame of up to 24 bytes costs the transfer of one line: the
// consumer polls word 0 of the entry itself, and loads no shared index.
//
// The producer first stores zero in word 0 of the entry after the new one, then fills the new entry,
// and then publishes it by storing its word 0 with release order. So the word that the consumer polls
// is either zero or the first word of a complete frame, whatever payload was there a lap ago, and a
// producer that dies leaves at most one unpublished frame. The consumer reports room through head,
// every lag bytes.
//
// An entry does not continue at the beginning of the ring. If it does not fit before the end, padding
// takes the place of its word 0, and is published after the entry, so that the consumer never waits
// between the two.
//
// The zero is stored before the entry is touched; for entries of one line already when the entry
// before is published. Stores become visible in order. So between the first and the last store into
// the line that the consumer polls there must be no store that waits for another line, or the
// consumer would fetch the line in between.
//
// The consumer was the last to read the lines ahead, a lap ago. A producer of many short entries
// would wait for each of them, since every call has an atomic operation that waits for all stores.
// Therefore Put prefetches the lines of later entries. That doubles the rate of 8-byte messages.
//
// A consumer that waits for a frame should have a fence, or Pause, between two loads. Otherwise the
// processor issues many loads at once, which fetch the line from the producer repeatedly and are
// rolled back when it changes. A half round trip then takes a tenth longer on cores that share no
// cache, and half as long again on others; with Pause, which may take 40 ns, it is in between. For
// the same reason a consumer that is about to answer must not prefetch the line of its answer: the
// peer polls it by then.
//
// Rejected: an index of the tail in a line of its own, which costs the transfer of a second line for
// every message.

// Producer fills a ring. Its state is private to the producing process.
type Producer struct {
	ctl   *ringControl
	data  unsafe.Pointer
	tail  uint64 // bytes produced, padding included
	head  uint64 // value of ctl.head when it was last loaded
	owned uint64 // position up to which lines were prefetched
	zero  uint64 // highest position whose word 0 was cleared
}

// NewProducer returns the producer of the ring in mem, which Segment.Ring has returned and which has
// not had a producer.
func NewProducer(mem []byte) Producer {
	_ = mem[RingStride-1]
	return Producer{ctl: (*ringControl)(unsafe.Pointer(&mem[0])), data: unsafe.Pointer(&mem[page])}
}

func entrySize(payload int) uint64 {
	return uint64(wire.HeaderSize+payload+Line-1) &^ (Line - 1)
}

func word(p unsafe.Pointer, at uint64) *uint64 { return (*uint64)(unsafe.Add(p, at)) }

// Put copies a frame into the ring. It returns false if there is no room; then Done of the consumer
// returns true once there is. len(payload) == h.Size <= MaxFrame.
//
// Put is no fence. A caller that then loads whether the consumer sleeps has to have an atomic operation
// that changes something in between.
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
	polled := word(p.data, at)
	if skip > 0 {
		at = 0
		p.tail += skip
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
	publish(word(e, 0), h.Word0()) // pairs with the load in Next
	if skip > 0 {
		pad := wire.Header{Kind: kindPad}
		publish(polled, pad.Word0()) // pairs as above
	}
	p.tail += need
	p.fetch(need)
	if p.tail+2*Line-p.head <= RingBytes {
		p.clear(p.tail + Line)
	}
	return true
}

// fetch prefetches the lines of the entries after the next one, as if they were as long as the
// last.
func (p *Producer) fetch(size uint64) {
	pos := max(p.owned, p.tail+Line)
	end := min(p.tail+(reach-1)*Line+size, pos+fetchMax*Line)
	for ; pos < end; pos += Line {
		own(unsafe.Add(p.data, pos%RingBytes))
	}
	p.owned = pos
}

// clear stores zero in word 0 of the entry at position pos, unless that was done before.
func (p *Producer) clear(pos uint64) {
	if pos > p.zero {
		p.zero = pos
		*word(p.data, pos%RingBytes) = 0
	}
}

// room loads head again and reports whether need bytes are free. If not, it sets the flag that makes
// the consumer report room.
func (p *Producer) room(need uint64) bool {
	p.head = p.ctl.head.Load() // pairs with the store in Done
	if p.tail+need-p.head <= RingBytes {
		return true
	}
	// The exchange is a full fence, also with the race detector (docs/testing.md). It pairs with the load in
	// Done: either Done sees the flag, or the next load sees its head.
	p.ctl.wait.Swap(1)
	p.head = p.ctl.head.Load()
	return p.tail+need-p.head <= RingBytes
}

// Consumer empties a ring. Its state is private to the consuming process.
type Consumer struct {
	ctl  *ringControl
	data unsafe.Pointer
	head uint64 // bytes consumed
	told uint64 // the last value stored in ctl.head
	size uint64 // size of the entry that Next returned
	sink uint64 // keeps the compiler from removing the loads of Ahead
}

// NewConsumer returns the consumer of the ring in mem, which has not had a consumer.
func NewConsumer(mem []byte) Consumer {
	_ = mem[RingStride-1]
	return Consumer{ctl: (*ringControl)(unsafe.Pointer(&mem[0])), data: unsafe.Pointer(&mem[page])}
}

// Exists reports whether c is more than the zero Consumer, which has no ring.
func (c *Consumer) Exists() bool { return c.data != nil }

// Empty reports that no frame is published. It costs one load.
func (c *Consumer) Empty() bool {
	return atomic.LoadUint64(word(c.data, c.head%RingBytes)) == 0
}

// Ahead prefetches the lines behind the next frame, for a caller that expects many frames. The
// position of a frame is known only from the frame before it, so without Ahead each would cost a
// whole transfer from the producer's cache. The values are not used, since the producer may be
// writing them.
func (c *Consumer) Ahead() {
	if sys.Race {
		return
	}
	at := c.head
	for i := range uint64(ahead) {
		c.sink += *word(c.data, (at+i*Line)%RingBytes) & 1
	}
}

// Next returns the next frame, if there is one: its header in h and its payload in place, valid until
// Done. An error means that the producer wrote what no correct producer writes; the caller must not
// use the ring any more.
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
		h.SetWord0(atomic.LoadUint64(word(c.data, 0)))
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

// Done returns the entry of the last Next to the producer. It returns true if the producer waits for
// room and must be woken.
func (c *Consumer) Done() (wake bool) {
	c.head += c.size
	if c.head-c.told < lag {
		return false
	}
	c.told = c.head
	c.ctl.head.Swap(c.head) // a full fence, as in room; pairs with the loads there
	return c.ctl.wait.Load() != 0 && c.ctl.wait.Swap(0) != 0
}
