package shmfmt

import (
	"testing"
	"unsafe"
)

// Slots are disjoint and within the control segment.
func TestSlotsAreDisjoint(t *testing.T) {
	for _, n := range []int{1, 2, 7} {
		c, err := HeapControl(n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range SlotCount {
			s := c.Slot(i)
			for j := range s.mem {
				if s.mem[j] != 0 {
					t.Fatalf("slot %d of %d processes overlaps another at %d", i, n, j)
				}
				s.mem[j] = 1
			}
			if at := uintptr(unsafe.Pointer(s.Head())); at%Line != 0 {
				t.Errorf("slot %d begins in the middle of a line", i)
			}
			if last := s.Cell(n - 1); uintptr(unsafe.Pointer(last))+uintptr(cellSize) != uintptr(unsafe.Pointer(&s.mem[0]))+uintptr(len(s.mem)) {
				t.Errorf("slot %d: the last cell does not end the slot", i)
			}
		}
	}
}

// The streams and stages of slots are disjoint and apart from the rest of the segment, on the Go heap and
// in a mapping.
func TestBulkMemoryIsDisjoint(t *testing.T) {
	const n = 2
	heap, err := HeapControl(n)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := OpenControl(heapMemory(ControlSize(n)), n, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*Control{"heap": heap, "mapping": flat} {
		seen := 0
		mark := func(b []byte) {
			seen += len(b)
			if uintptr(unsafe.Pointer(&b[0]))%Line != 0 {
				t.Errorf("%s: a part begins in the middle of a line", name)
			}
			for i := range b {
				if b[i] != 0 {
					t.Fatalf("%s: a part overlaps another at %d", name, i)
				}
				b[i] = 1
			}
		}
		mark(c.mem[:bulkStart(n)])
		for i := range SlotCount {
			s := c.Slot(i)
			mark(s.Stream()[:])
			for r := range n {
				mark(s.Stages(n)[r][0][:])
				mark(s.Stages(n)[r][1][:])
			}
			if s.Stream() != c.Slot(i).Stream() {
				t.Fatalf("%s: slot %d has another stream the second time", name, i)
			}
		}
		if want := ControlSize(n); int64(seen) != want {
			t.Errorf("%s: the parts have %d bytes, the segment %d", name, seen, want)
		}
	}
}

// A slot has one owner. It is free when all members have freed it, and then like a new one.
func TestSlotIsFreeWhenAllMembersFreed(t *testing.T) {
	c, err := HeapControl(3)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Slot(5)
	if !s.Acquire(7) || s.Acquire(8) {
		t.Fatal("a free slot must be taken once")
	}
	s.Head().Arrived.Store(9)
	s.Head().Release.Number.Store(3)
	s.Cell(2).Number.Store(3)
	s.Cell(1).Passed.Store(70)
	for i := range s.Head().Turns {
		s.Head().Turns[i].Number.Store(uint64(64 + i))
	}
	s.Free(3)
	s.Free(3)
	if s.Acquire(8) {
		t.Fatal("taken before the last member freed it")
	}
	s.Free(3)
	h := s.Head()
	if h.Arrived.Load() != 0 || h.Release.Number.Load() != 0 || h.Freed.Load() != 0 || s.Cell(2).Number.Load() != 0 || s.Cell(1).Passed.Load() != 0 {
		t.Error("numbers of the owner before are left")
	}
	for i := range h.Turns {
		if h.Turns[i].Number.Load() != 0 {
			t.Errorf("turn %d announces what the owner before has sent", i)
		}
	}
	if !s.Acquire(8) {
		t.Error("not free after all members freed it")
	}
}
