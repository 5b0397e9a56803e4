package shmfmt

import (
	"strings"
	"testing"
	"unsafe"
)

func TestSegmentsRefuseWhatDoesNotFit(t *testing.T) {
	mem := heapMemory(SegmentSize(4))
	for name, open := range map[string]func() error{
		"no process":     func() error { _, err := FormatSegment(mem, 0, 0, nil); return err },
		"too many":       func() error { _, err := FormatSegment(mem, 0, MaxLocal+1, nil); return err },
		"negative owner": func() error { _, err := FormatSegment(mem, -1, 4, nil); return err },
		"owner beyond":   func() error { _, err := FormatSegment(mem, 4, 4, nil); return err },
		"short":          func() error { _, err := FormatSegment(mem[:len(mem)-1], 0, 4, nil); return err },
		"open short":     func() error { _, err := OpenSegment(mem[:len(mem)-1], 0, 4, nil); return err },
		"open beyond":    func() error { _, err := OpenSegment(mem, 4, 4, nil); return err },
		"heap beyond":    func() error { _, err := HeapSegment(4, 4); return err },
		"control short": func() error {
			_, err := OpenControl(heapMemory(ControlSize(4))[:ControlSize(4)-1], 4, nil)
			return err
		},
	} {
		if open() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A heap begins behind the rings, at the start of a page. Each segment has one, and all heaps fit into
// the address space.
func TestHeapsFit(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64, 1000, MaxLocal} {
		if at := HeapStart(n); at < SegmentSize(n) || at%HeapUnit != 0 || at-SegmentSize(n) >= HeapUnit {
			t.Errorf("the heap of a segment of %d begins at %d, the rings end at %d", n, at, SegmentSize(n))
		}
	}
	for _, c := range []struct {
		memory, addresses int64
		heaps             int
		want              int64
	}{
		{24 << 30, 1 << 46, 1, 48 << 30},
		{24 << 30, 1 << 46, 64, 48 << 30},
		{100 << 20, 1 << 46, 8, 1 << 30},
		{4 << 40, 1 << 46, 256, 128 << 30},
		{24 << 30, 8 << 30, 4, 1 << 30},
		{24 << 30, 8 << 30, 5, (8 << 30 / 10) / HeapUnit * HeapUnit},
		{24 << 30, 1, 1, HeapUnit},
		{24 << 30, 1 << 46, MaxLocal * MaxLocal, HeapUnit},
	} {
		if got := HeapSize(c.memory, c.addresses, c.heaps); got != c.want {
			t.Errorf("%d heaps on a machine of %d bytes with %d addresses: %d bytes each, want %d", c.heaps, c.memory, c.addresses, got, c.want)
		}
	}
}

func TestOpenSegmentWaitsForItsFormat(t *testing.T) {
	mem := heapMemory(SegmentSize(4))
	if _, err := OpenSegment(mem, 2, 4, nil); err == nil || !strings.Contains(err.Error(), "not ready") {
		t.Errorf("zeroed memory: %v", err)
	}
	if _, err := FormatSegment(mem, 2, 4, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSegment(mem, 2, 4, nil); err != nil {
		t.Errorf("formatted: %v", err)
	}
	if _, err := OpenSegment(mem, 1, 4, nil); err == nil {
		t.Error("the segment of another process is taken")
	}
	if _, err := OpenSegment(mem, 2, 3, nil); err == nil {
		t.Error("the segment of a node of another size is taken")
	}
	mem[0]++
	if _, err := OpenSegment(mem, 2, 4, nil); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("another version: %v", err)
	}
}

func TestBitmapHasEveryProcess(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 1000, MaxLocal} {
		s, err := HeapSegment(n-1, n)
		if err != nil {
			t.Fatal(err)
		}
		if at := int64(Line + 2*8*s.ActiveWords()); at > ringStart(n) {
			t.Errorf("the bitmaps of %d end at %d, rings start at %d", n, at, ringStart(n))
		}
		maps := []struct {
			name string
			set  func(int)
			word func(int) uint64
		}{{"active", s.Activate, s.Active}, {"offering", s.Offers, s.Offering}}
		for k, m := range maps {
			for i := 0; i < n; i += 1 + n/100 {
				m.set(i)
				m.set(i)
				if m.word(i/64)&(1<<(i%64)) == 0 {
					t.Fatalf("process %d of %d is not %s", i, n, m.name)
				}
			}
			m.set(n - 1)
			if m.word(s.ActiveWords()-1)&(1<<((n-1)%64)) == 0 {
				t.Errorf("the last of %d is not %s", n, m.name)
			}
			for w := range s.ActiveWords() {
				if k == 0 && s.Offering(w) != 0 {
					t.Errorf("processes of %d that have only sent are offering: %#x", n, s.Offering(w))
				}
			}
		}
	}
}

// Rings, doors, slots and cells are disjoint and within their segments.
func TestPartsAreDisjoint(t *testing.T) {
	for _, n := range []int{1, 2, 5, 64} {
		mem := heapMemory(SegmentSize(n))
		s, err := FormatSegment(mem, 0, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			ring := s.Ring(i)
			if len(ring) != RingStride || cap(ring) != RingStride {
				t.Fatalf("ring %d of %d: %d bytes, room for %d", i, n, len(ring), cap(ring))
			}
			for k := range ring {
				ring[k]++
			}
			offer := s.Offer(i)
			for k := range unsafe.Slice((*byte)(unsafe.Pointer(offer)), OfferSize) {
				*(*byte)(unsafe.Add(unsafe.Pointer(offer), k))++
			}
		}
		for k, b := range mem {
			if want := byte(1); int64(k) >= ringStart(n) && b != want {
				t.Fatalf("byte %d of a segment of %d belongs to %d rings or offers", k, n, b)
			}
		}
		if _, err := OpenSegment(mem, 0, n, nil); err != nil {
			t.Errorf("rings of %d overlap the header: %v", n, err)
		}

		mem = heapMemory(ControlSize(n))
		c, err := OpenControl(mem, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		count := func(p unsafe.Pointer, size int) {
			for _, at := range []int{0, size - 1} {
				b := (*byte)(unsafe.Add(p, at))
				*b++
				if *b != 1 {
					t.Fatalf("parts of a control segment of %d overlap", n)
				}
			}
		}
		for i := range n {
			count(unsafe.Pointer(c.Door(i)), DoorSize)
		}
		for i := range SlotCount {
			count(unsafe.Pointer(c.Slot(i).Head()), int(headSize))
			for k := range n {
				count(unsafe.Pointer(c.Slot(i).Cell(k)), int(cellSize))
			}
		}
	}
}

func TestHeapRingsAreMadeOnceAndApart(t *testing.T) {
	s, err := HeapSegment(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	rings := make(chan *byte, 8)
	for range cap(rings) {
		go func() { rings <- &s.Ring(1)[0] }()
	}
	first := <-rings
	for range cap(rings) - 1 {
		if again := <-rings; again != first {
			t.Fatal("two goroutines got different rings")
		}
	}
	if &s.Ring(2)[0] == first {
		t.Error("two processes share a ring")
	}
	if len(s.Ring(0)) != RingStride {
		t.Errorf("a ring of %d bytes", len(s.Ring(0)))
	}
}
