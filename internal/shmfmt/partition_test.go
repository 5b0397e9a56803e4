package shmfmt

import (
	"testing"
	"unsafe"
)

func TestPartitionsLayoutIsGolden(t *testing.T) {
	var l listing
	l.line("version", Version)
	l.fields(partitionsHead{})
	for _, n := range []int64{0, 1, 64, 1000} {
		l.line("size", PartitionsSize(n))
	}
	golden(t, "partitions.txt", l.String())
}

// A block sees what another view of the same memory does, and refuses memory that is too short.
func TestPartitionsShareMemory(t *testing.T) {
	words := make([]uint64, PartitionsSize(3)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	a, err := OpenPartitions(mem, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenPartitions(mem, 3)
	if err != nil {
		t.Fatal(err)
	}
	if a.IsOpen(1) || a.Direct() || a.Finished() != 0 || a.Arrived(2) != 0 {
		t.Error("zero memory is not the block of a receive that was never started")
	}
	a.Open(4)
	b.SetDirect()
	b.Arrive(2, 30)
	b.Arrive(2, 5)
	b.Finish(4)
	if !b.IsOpen(4) || b.IsOpen(3) || !a.Direct() || a.Arrived(2) != 35 || a.Arrived(1) != 0 || a.Finished() != 4 {
		t.Error("the two views differ")
	}
	for _, c := range []struct {
		mem []byte
		n   int64
	}{{mem[:len(mem)-1], 3}, {mem, 4}, {mem, -1}, {mem[1:], 2}} {
		if _, err := OpenPartitions(c.mem, c.n); err == nil {
			t.Errorf("%d bytes are taken for a block of %d partitions", len(c.mem), c.n)
		}
	}
}
