package shmfmt

import (
	"strings"
	"testing"
	"unsafe"
)

// The parts of a Pair are where both processes expect them, and overlap nowhere.
func TestPairLayout(t *testing.T) {
	mem := heapMemory(PairSize)
	p := FormatPair(mem, Mark{15: 9})
	q, err := OpenPair(mem, Mark{15: 9})
	if err != nil {
		t.Fatal(err)
	}
	at := func(x unsafe.Pointer) int { return int(uintptr(x) - uintptr(unsafe.Pointer(&mem[0]))) }
	ends := unsafe.Sizeof(pairHeader{})
	if ends > DoorSize {
		t.Errorf("the header has %d bytes, the first door is at %d", ends, DoorSize)
	}
	for end := range 2 {
		if d := at(unsafe.Pointer(q.Door(end))); d != DoorSize*(1+end) || d+DoorSize > page {
			t.Errorf("door %d is at %d", end, d)
		}
		if r := p.Ring(end); at(unsafe.Pointer(&r[0])) != page+end*RingStride || len(r) != RingStride {
			t.Errorf("ring %d of %d bytes is at %d", end, len(r), at(unsafe.Pointer(&r[0])))
		}
	}
	if PairSize != page+2*RingStride {
		t.Errorf("a pair has %d bytes", PairSize)
	}
}

// Memory without the mark, of another version, or too short is no Pair.
func TestPairChecks(t *testing.T) {
	mem := heapMemory(PairSize)
	check := func(mem []byte, m Mark, want string) {
		t.Helper()
		if _, err := OpenPair(mem, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	check(mem, Mark{}, "other processes")
	FormatPair(mem, Mark{1})
	check(mem, Mark{2}, "other processes")
	check(mem[:PairSize-1], Mark{1}, "bytes for two processes")
	mem[0]++
	check(mem, Mark{1}, "another version")
}
