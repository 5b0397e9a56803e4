package shmfmt

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/wire"
)

// plant writes data into the memory of a ring at many offsets: at the start of frames, before the end of
// the last line, and over the words of control.
func plant(mem, data []byte, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	at := 0
	for len(data) > 0 {
		n := copy(mem[at:], data[:min(len(data), 1+r.IntN(3*Line))])
		data = data[n:]
		switch r.IntN(4) {
		case 0:
			at = page
		case 1:
			at = page + r.IntN(RingBytes/Line)*Line
		case 2:
			at = RingStride - Line*(1+r.IntN(3))
		case 3:
			at = r.IntN(RingStride)
		}
	}
}

// consume reads a ring of any content. All that Next returns is within the ring, and consume ends: with
// an error, or at a word that is zero.
func consume(t *testing.T, mem []byte) {
	c := NewConsumer(mem)
	first := uintptr(unsafe.Pointer(&mem[page]))
	sum := byte(0)
	// A ring full of frames that stay is read repeatedly.
	for range 3 * RingBytes / Line {
		empty := c.Empty()
		var h wire.Header
		payload, ok, err := c.Next(&h)
		switch {
		case err != nil:
			if ok || payload != nil {
				t.Fatalf("an error with a frame: %v", err)
			}
			return
		case !ok && payload != nil:
			t.Fatal("a payload without a frame")
		case !ok:
			return
		case empty:
			t.Fatal("a frame in an empty ring")
		}
		if int(h.Size) != len(payload) || len(payload) > MaxFrame || h.Check() != nil || h.Kind == kindPad {
			t.Fatalf("frame %+v with a payload of %d bytes", h, len(payload))
		}
		if cap(payload) != len(payload) {
			t.Fatalf("a payload of %d bytes with room for %d", len(payload), cap(payload))
		}
		if len(payload) > 0 {
			at := uintptr(unsafe.Pointer(&payload[0])) - first
			if at < wire.HeaderSize || at+uintptr(len(payload)) > RingBytes {
				t.Fatalf("a payload of %d bytes at offset %d", len(payload), at)
			}
		}
		for _, b := range payload {
			sum ^= b
		}
		c.Done()
	}
}

// FuzzRing reads rings with any content.
func FuzzRing(f *testing.F) {
	frame := func(kind wire.Kind, size uint32) []byte {
		b := make([]byte, Line)
		(&wire.Header{Kind: kind, Size: size}).Encode(b)
		return b
	}
	f.Add([]byte{}, uint64(0))
	for _, kind := range []wire.Kind{0, wire.Eager, wire.Data, kindPad} {
		for _, size := range []uint32{0, 24, 25, MaxFrame, MaxFrame + 1, wire.MaxPayload, 1 << 31, 1<<32 - 1} {
			f.Add(frame(kind, size), uint64(size))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		mem := heapMemory(RingStride)
		plant(mem, data, seed)
		copy(mem[page:], data[:min(len(data), RingBytes)]) // and from the first entry on
		consume(t, mem)
	})
}

// FuzzAnswers fills rings whose consumer stores any words of control: the producer writes only within the
// ring, and accepts or refuses each frame.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1, 2, 3})
	f.Add(binary.LittleEndian.AppendUint64(nil, ^uint64(0)))
	f.Fuzz(func(t *testing.T, answers []byte) {
		guarded := heapMemory(RingStride + 2*page)
		for i := range guarded {
			guarded[i] = 0x77
		}
		mem := guarded[page : page+RingStride : page+RingStride]
		clear(mem)
		p := NewProducer(mem)
		payload := make([]byte, MaxFrame)
		for i, a := range answers {
			switch a % 4 {
			case 0:
				p.ctl.head.Store(p.tail)
			case 1:
				p.ctl.head.Store(uint64(a) << (i % 60))
			case 2:
				p.ctl.head.Store(p.tail - uint64(a)*Line)
			case 3:
				p.ctl.head.Store(p.tail + uint64(a))
			}
			size := int(a) * 97 % (MaxFrame + 1)
			p.Put(&wire.Header{Kind: wire.Data, Size: uint32(size)}, payload[:size])
		}
		for i := range page {
			if guarded[i] != 0x77 || guarded[page+RingStride+i] != 0x77 {
				t.Fatal("the producer wrote outside of its ring")
			}
		}
	})
}

// FuzzSegment opens segments with any content, and reads all rings.
func FuzzSegment(f *testing.F) {
	const n = 3
	good := heapMemory(SegmentSize(n))
	if _, err := FormatSegment(good, 1, n, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(good[:2*Line], uint64(1))
	f.Add([]byte{}, uint64(0))
	f.Add(append(good[:Line:Line], 0xff, 0xff), uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		mem := heapMemory(SegmentSize(n))
		copy(mem, data)
		for owner := range n {
			s, err := OpenSegment(mem, owner, n, nil)
			if err != nil {
				continue
			}
			for w := range s.ActiveWords() {
				s.Active(w)
			}
			for from := range n {
				ring := s.Ring(from)
				plant(ring, data, seed+uint64(from))
				consume(t, ring)
			}
		}
	})
}
