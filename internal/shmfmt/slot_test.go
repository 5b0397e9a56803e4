package shmfmt

import (
	"testing"
	"unsafe"
)

// The layout of a slot is part of the format: whoever changes it changes Version.
func TestSlotLayout(t *testing.T) {
	var h SlotHead
	var c Cell
	for _, f := range []struct {
		name      string
		got, want uintptr
	}{
		{"Arrived", unsafe.Offsetof(h.Arrived), 0},
		{"Release.Number", unsafe.Offsetof(h.Release), 64},
		{"Release.Data", unsafe.Offsetof(h.Release) + unsafe.Offsetof(h.Release.Data), 72},
		{"Sleepers", unsafe.Offsetof(h.Sleepers), 576},
		{"Freed", unsafe.Offsetof(h.Freed), 580},
		{"Owner", unsafe.Offsetof(h.Owner), 584},
		{"head", unsafe.Sizeof(h), 640},
		{"second entry", unsafe.Offsetof(c.Entries) + unsafe.Sizeof(c.Entries[0]), 512},
		{"cell", unsafe.Sizeof(c), 1024},
	} {
		if f.got != f.want {
			t.Errorf("%s is at or of %d bytes, want %d", f.name, f.got, f.want)
		}
	}
	if s := SlotSize(3); s != 640+3*1024 {
		t.Errorf("slot of 3 processes has %d bytes", s)
	}
	if cellSize%Line != 0 || headSize%Line != 0 {
		t.Errorf("head of %d and cells of %d bytes do not fill lines", headSize, cellSize)
	}
}

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
	s.Cell(2).Entries[1].Number.Store(3)
	s.Free(3)
	s.Free(3)
	if s.Acquire(8) {
		t.Fatal("taken before the last member freed it")
	}
	s.Free(3)
	h := s.Head()
	if h.Arrived.Load() != 0 || h.Release.Number.Load() != 0 || h.Freed.Load() != 0 || s.Cell(2).Entries[1].Number.Load() != 0 {
		t.Error("numbers of the owner before are left")
	}
	if !s.Acquire(8) {
		t.Error("not free after all members freed it")
	}
}
