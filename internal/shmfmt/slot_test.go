package shmfmt

import (
	"testing"
	"unsafe"
)

// Slots stand apart from each other and inside the control segment.
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

// A slot has one owner, is free when all members have freed it, and is then as new.
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
	s.Free(3)
	s.Free(3)
	if s.Acquire(8) {
		t.Fatal("taken before the last member freed it")
	}
	s.Free(3)
	h := s.Head()
	if h.Arrived.Load() != 0 || h.Release.Number.Load() != 0 || h.Freed.Load() != 0 || s.Cell(2).Number.Load() != 0 {
		t.Error("numbers of the owner before are left")
	}
	if !s.Acquire(8) {
		t.Error("not free after all members freed it")
	}
}
