package pair

import (
	"encoding/binary"
	"errors"
	"testing"
)

// A block is the same memory in all that map it, keeps no descriptor, and outlives who has made it (X-DYN-01).
func TestBlocksAreShared(t *testing.T) {
	before := descriptors()
	for _, size := range []int64{0, 1, 10000} {
		a, err := NewBlock(size)
		if err != nil {
			t.Fatal(err)
		}
		offer := make([]byte, BlockOfferSize)
		if err := a.Offer(offer); err != nil {
			t.Fatal(err)
		}
		b, err := OpenBlock(offer, size)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(a.Mem)) != size || int64(len(b.Mem)) != size {
			t.Fatalf("blocks of %d and %d bytes, want %d", len(a.Mem), len(b.Mem), size)
		}
		if size > 0 {
			a.Mem[size-1] = 7
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if size > 0 && b.Mem[size-1] != 7 {
			t.Errorf("byte %d is %d, want 7", size-1, b.Mem[size-1])
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := descriptors(); n != before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
}

// Nothing but the block that was offered is mapped (X-DYN-01, S5).
func TestBlocksThatAreNot(t *testing.T) {
	a, err := NewBlock(100)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	offer := make([]byte, BlockOfferSize)
	if err := a.Offer(offer); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o []byte){
		"no block":           func(o []byte) { clear(o) },
		"another domain":     func(o []byte) { o[1]++ },
		"another descriptor": func(o []byte) { binary.LittleEndian.PutUint32(o[12:], 0) },
		"no descriptor":      func(o []byte) { binary.LittleEndian.PutUint32(o[12:], 1<<31-1) },
		"another mark":       func(o []byte) { o[16]++ },
	} {
		o := append([]byte(nil), offer...)
		change(o)
		if b, err := OpenBlock(o, 100); err == nil {
			b.Close()
			t.Errorf("%s: mapped", name)
		}
	}
	for _, size := range []int64{99, 101, -1, 1 << 62} {
		if b, err := OpenBlock(offer, size); err == nil {
			b.Close()
			t.Errorf("a block of 100 bytes mapped as one of %d", size)
		}
	}
	a.Settle()
	if b, err := OpenBlock(offer, 100); err == nil {
		b.Close()
		t.Error("mapped after Settle")
	} else if !errors.Is(err, ErrGone) {
		t.Errorf("after Settle: %v", err)
	}
}
