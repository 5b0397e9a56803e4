package memhandle

import (
	"bytes"
	"testing"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Memory of more than 4 GiB has several entries in the handle space, and the entries of two handles
// differ.
func TestQV27_LongMemoryInTheHandleSpace(t *testing.T) {
	const key = Space | 7<<32 | 1<<31
	n := 0
	eachPage(key, 9<<30, func(page uint32) bool { n++; return true })
	if n != 3 {
		t.Errorf("9 GiB from the middle of 4 GiB on have %d entries, want 3", n)
	}
}

// QV-27, S5: Find finds addresses only within the memory of a live handle, up to its last byte,
// and only the key names the handle.
func TestS5_QV27_FindStaysWithinTheMemory(t *testing.T) {
	var table Table
	if err := table.Start(); err != nil {
		t.Fatal(err)
	}
	if table.Find(Space, 0) != nil || table.Get(Space) != nil {
		t.Error("an empty table has memory")
	}
	all := make([]*Memory, 100)
	for i := range all {
		all[i] = &Memory{Region: apply.Region{Mem: make([]byte, 10*i)}}
		table.Enter(all[i])
	}
	for i, r := range all {
		n := uint64(10 * i)
		if r.Key < Space || table.Get(r.Key) != r || table.Get(r.Key+1) != nil || table.Get(r.Key&^Space) != nil {
			t.Fatalf("the key is %#x", r.Key)
		}
		if table.Find(r.Key, n) != r || table.Find(r.Key+n, 0) != r {
			t.Errorf("%d bytes from the key on are not found", n)
		}
		if table.Find(r.Key-1, 1) == r || table.Find(r.Key, n+1) != nil || table.Find(r.Key+n, 1) != nil || table.Find(r.Key+1, ^uint64(0)) != nil {
			t.Errorf("more than %d bytes from the key on are found", n)
		}
	}
	for i, r := range all {
		table.Remove(r)
		if table.Find(r.Key, 0) != nil || table.Get(r.Key) != nil {
			t.Errorf("%d is there after its release", i)
		}
	}
	if len(table.live) != 0 {
		t.Errorf("%d entries are left", len(table.live))
	}
}

// S5: Parse detects each bit of a handle that changes in transit, and ignores bytes after the handle.
func TestS5_HandlesThatChangeInTransit(t *testing.T) {
	x := Handle{Process: 3, Window: 64, Key: Space | 5<<32, Size: 100, Slot: 7}
	b := x.Append([]byte("before"))[len("before"):]
	if len(b) != Size {
		t.Fatalf("a handle has %d bytes, want %d", len(b), Size)
	}
	if back, ok := Parse(append(bytes.Clone(b), 1, 2, 3)); !ok || back != x {
		t.Errorf("%+v came back as %+v, %v", x, back, ok)
	}
	for bit := range 8 * Size {
		c := bytes.Clone(b)
		c[bit/8] ^= 1 << (bit % 8)
		if back, ok := Parse(c); ok {
			t.Errorf("bit %d has changed, and it is %+v", bit, back)
		}
	}
	for name, wrong := range map[string]Handle{
		"a real address": {Process: 3, Window: 64, Key: 5 << 32, Size: 100},
		"a long size":    {Process: 3, Window: 64, Key: Space, Size: Space/2 + 1},
		"no slot":        {Process: 3, Window: 64, Key: Space, Size: 100, Slot: shmfmt.HandleSlots},
	} {
		if back, ok := Parse(wrong.Append(nil)); ok {
			t.Errorf("%s: it is %+v", name, back)
		}
	}
}
