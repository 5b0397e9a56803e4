package shmfmt

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

func newRing() (mem []byte, p Producer, c Consumer) {
	mem = heapMemory(RingStride)
	return mem, NewProducer(mem), NewConsumer(mem)
}

// entry is a frame in the model of a ring.
type entry struct {
	h       wire.Header
	payload []byte
}

// source generates frames.
type source struct {
	*rand.Rand
	noise []byte // payloads are parts of it
}

func newSource(seed uint64) *source {
	s := &source{rand.New(rand.NewPCG(seed, 0)), make([]byte, 2*MaxFrame)}
	for i := range s.noise {
		s.noise[i] = byte(s.Uint32())
	}
	return s
}

func (r *source) entry(size int) entry {
	at := r.IntN(MaxFrame)
	return entry{
		wire.Header{
			Size: uint32(size), Kind: wire.Eager + wire.Kind(r.IntN(int(wire.User))), Flags: uint8(r.Uint32()), Chan: uint16(r.Uint32()),
			Ctx: r.Uint64(), Tag: int32(r.Uint32()), Aux: r.Uint32(), Arg: r.Uint64(), Name: r.Uint64(),
		},
		r.noise[at : at+size],
	}
}

func (r *source) size() int {
	switch r.IntN(6) {
	case 0:
		return r.IntN(25)
	case 1:
		return 8
	case 2: // at the edges of lines
		return min(MaxFrame, 64*r.IntN(MaxFrame/64)-wire.HeaderSize+64+r.IntN(3)-1)
	case 3:
		return MaxFrame - r.IntN(2)
	default:
		return r.IntN(MaxFrame + 1)
	}
}

// check takes the next frame and compares it with the one the model expects.
func (e *entry) check(t *testing.T, c *Consumer) {
	t.Helper()
	var h wire.Header
	payload, ok, err := c.Next(&h)
	if err != nil || !ok {
		t.Fatalf("Next: %t, %v, want a frame of %d bytes", ok, err, e.h.Size)
	}
	if h != e.h || !bytes.Equal(payload, e.payload) {
		t.Fatalf("got header %+v, want %+v; payload equal: %t", h, e.h, bytes.Equal(payload, e.payload))
	}
}

// A ring is a queue with a bounded size, for frames of all sizes.
func TestRingIsAQueue(t *testing.T) {
	for seed := range uint64(50) {
		r := newSource(seed)
		_, p, c := newRing()
		var model []entry
		refused, wakes := false, 0
		for range 3000 {
			if r.IntN(1000) < 100+800*int(seed%3)/2 || len(model) == 0 {
				e := r.entry(r.size())
				was := p
				if !p.Put(&e.h, e.payload) {
					if len(model) == 0 {
						t.Fatalf("seed %d: an empty ring refuses %d bytes", seed, e.h.Size)
					}
					was.head = p.head
					if p != was {
						t.Fatalf("seed %d: a refused Put changed the producer", seed)
					}
					refused = true
				} else {
					model = append(model, e)
				}
			} else {
				model[0].check(t, &c)
				model[0].check(t, &c) // Next without Done stays where it is
				model = model[1:]
				if c.Done() {
					if !refused {
						t.Fatalf("seed %d: Done wakes a producer that does not wait", seed)
					}
					refused = false
					wakes++
				}
				if c.Empty() && len(model) > 0 {
					t.Fatalf("seed %d: Empty with %d frames in the ring", seed, len(model))
				}
			}
			if len(model) == 0 {
				var h wire.Header
				if _, ok, err := c.Next(&h); ok || err != nil {
					t.Fatalf("seed %d: Next of an empty ring: %t, %v", seed, ok, err)
				}
				if !c.Empty() {
					t.Fatalf("seed %d: an empty ring is not Empty", seed)
				}
			}
		}
		if seed%3 == 2 && wakes == 0 {
			t.Errorf("seed %d: a ring that was mostly full never woke its producer", seed)
		}
	}
}

// A ring holds frames of nearly RingBytes: padding wastes less than a frame.
func TestRingIsUsedUp(t *testing.T) {
	for size := 0; size <= MaxFrame; size += 1 + size/20 {
		_, p, _ := newRing()
		e := entry{wire.Header{Kind: wire.Data, Size: uint32(size)}, make([]byte, size)}
		n := uint64(0)
		for p.Put(&e.h, e.payload) {
			n++
		}
		if least := RingBytes - 2*entrySize(size) - Line; n*entrySize(size) < least {
			t.Errorf("%d frames of %d bytes fill the ring", n, size)
		}
	}
}

// After a refusal the consumer reports room once, when it has consumed lag bytes. In an empty ring there
// is always room.
func TestWaitingProducerIsWoken(t *testing.T) {
	for size := 0; size <= MaxFrame; size += 1 + size/10 {
		_, p, c := newRing()
		e := entry{wire.Header{Kind: wire.Data, Size: uint32(size)}, make([]byte, size)}
		for range 10 {
			n := 0
			for p.Put(&e.h, e.payload) {
				n++
			}
			woken := 0
			for ; n > 0; n-- {
				e.check(t, &c)
				if c.Done() {
					woken++
				}
			}
			if woken != 1 {
				t.Fatalf("size %d: woken %d times, want once", size, woken)
			}
			if !p.Put(&e.h, e.payload) {
				t.Fatalf("size %d: no room in an empty ring", size)
			}
			e.check(t, &c)
			c.Done()
		}
	}
}

// The consumer sees nothing of a frame that its producer had not published when it died.
func TestUnpublishedFrameIsNotSeen(t *testing.T) {
	mem, p, c := newRing()
	r := newSource(1)
	for range 500 {
		e := r.entry(r.size())
		for !p.Put(&e.h, e.payload) {
			t.Fatal("an empty ring is full")
		}
		// The zero after the published frame hides the bytes behind it, stale or half
		// written. Word 0 of the next line is not changed: the producer has cleared it
		// ahead and relies on that.
		at := p.tail % RingBytes
		for i := range Line - 8 {
			if k := page + at + 8 + uint64(i); k < RingStride {
				mem[k] = 0xff
			}
		}
		e.check(t, &c)
		c.Done()
		var h wire.Header
		if _, ok, err := c.Next(&h); ok || err != nil || !c.Empty() {
			t.Fatalf("after the last frame: %t, %v", ok, err)
		}
	}
}

// A frame that exceeds the ring, is too long or has no kind is an error: no correct producer writes
// one.
func TestRingRefusesWhatNoProducerWrites(t *testing.T) {
	for at := uint64(0); at < RingBytes; at += Line {
		fits := min(MaxFrame, int(RingBytes-at)-wire.HeaderSize)
		for _, bad := range []wire.Header{
			{Kind: wire.Data, Size: uint32(fits + 1)}, {Kind: wire.Data, Size: MaxFrame + 1},
			{Kind: wire.Data, Size: 1 << 31}, {Kind: wire.Data, Size: 1<<32 - 1}, {Size: 1}, {Flags: 1}, {Chan: 1},
			{Kind: wire.User + 1}, {Kind: 0x7f}, {Kind: kindPad - 1},
		} {
			mem, _, c := newRing()
			c.head = at
			bad.Encode(mem[page+at:])
			var h wire.Header
			if payload, ok, err := c.Next(&h); err == nil || ok || payload != nil {
				t.Fatalf("offset %d: %+v is taken", at, bad)
			}
		}
		mem, _, c := newRing()
		c.head = at
		(&wire.Header{Kind: wire.Data, Size: uint32(fits)}).Encode(mem[page+at:])
		var h wire.Header
		if payload, ok, err := c.Next(&h); err != nil || !ok || len(payload) != fits {
			t.Fatalf("offset %d: %d bytes are refused: %v", at, fits, err)
		}
		// Padding is followed by the start of the ring, once.
		(&wire.Header{Kind: kindPad}).Encode(mem[page+at:])
		(&wire.Header{Kind: kindPad}).Encode(mem[page:])
		if _, ok, err := c.Next(&h); err == nil || ok {
			t.Fatalf("offset %d: a skip to a skip is taken", at)
		}
	}
}

// Between two goroutines frames keep order and content, also when the ring wraps or is full.
func TestRingBetweenGoroutines(t *testing.T) {
	run := 3 * time.Second
	if testing.Short() {
		run = 300 * time.Millisecond
	}
	_, p, c := newRing()
	stop := make(chan struct{})
	time.AfterFunc(run, func() { close(stop) })
	room := make(chan struct{}, 1)
	var both sync.WaitGroup
	var total uint64
	done := make(chan struct{})
	both.Go(func() {
		defer close(done)
		r := newSource(2)
		for {
			select {
			case <-stop:
				return
			default:
			}
			e := r.entry(r.size() >> r.IntN(12))
			for !p.Put(&e.h, e.payload) {
				<-room // a lost wake-up hangs here
			}
			total++
		}
	})
	both.Go(func() {
		r := newSource(2) // draws the same frames
		n, last := uint64(0), false
		for {
			if c.Empty() {
				if last {
					if n != total {
						t.Errorf("%d frames arrived, %d were sent", n, total)
					}
					return
				}
				select {
				case <-done:
					last = true
				default:
					runtime.Gosched()
				}
				continue
			}
			var h wire.Header
			payload, ok, err := c.Next(&h)
			if err != nil {
				t.Error(err)
				return
			}
			if !ok {
				continue // a skip to the start only
			}
			want := r.entry(r.size() >> r.IntN(12))
			if h != want.h || !bytes.Equal(payload, want.payload) {
				t.Errorf("frame %d: header %+v, want %+v", n, h, want.h)
				return
			}
			n++
			if c.Done() {
				room <- struct{}{}
			}
		}
	})
	both.Wait()
	t.Logf("%d frames", total)
}

func TestRingAllocatesNothing(t *testing.T) {
	_, p, c := newRing()
	for _, size := range []int{0, 8, 100, MaxFrame} {
		h := wire.Header{Kind: wire.Eager, Size: uint32(size)}
		payload := make([]byte, size)
		var got wire.Header
		if n := testing.AllocsPerRun(1000, func() {
			if !p.Put(&h, payload) || c.Empty() {
				t.Error("an empty ring is full")
			}
			if _, ok, err := c.Next(&got); !ok || err != nil {
				t.Error(ok, err)
			}
			c.Done()
		}); n != 0 {
			t.Errorf("%v allocations for a frame of %d bytes", n, size)
		}
	}
}
