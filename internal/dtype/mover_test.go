package dtype

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Every mover copies exactly the bytes of the blocks: for every length up to several
// turns of the longest loop and for the lengths at which the copy method changes, for
// unaligned addresses, strides that crowd the caches, and negative strides.
func TestMoversCopyBlocksAndNothingElse(t *testing.T) {
	var sizes []int64
	for n := int64(1); n <= 900; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range []int64{1024, 2048, stringBlock, stringCopy, longCopy, 2 * longCopy} {
		sizes = append(sizes, n-1, n, n+1, n+33)
	}
	r := rand.New(rand.NewPCG(7, 7))
	set := Predefined()
	for _, by := range movers() {
		for _, size := range sizes {
			n := 1 + r.Int64N(40)
			if size > 1024 {
				n = 1 + r.Int64N(5)
			}
			stride := size + 1 + r.Int64N(300)
			switch r.IntN(4) {
			case 0:
				stride = (size + 1023) / 1024 * 1024
			case 1:
				stride = 2 * size
			}
			lb := r.Int64N(70) // where the first block begins
			if r.IntN(4) == 0 {
				stride, lb = -stride, lb+stride*(n-1)
			}
			if err := moveBlocks(set, by, r, lb, n, size, stride); err != nil {
				t.Fatalf("mover %d, %d blocks of %d bytes at stride %d from %d: %v", by, n, size, stride, lb, err)
			}
		}
	}
}

// moveBlocks packs and unpacks n blocks of size bytes at mem[lb], and compares blocks and
// surrounding bytes with a copy byte by byte.
func moveBlocks(set *Set, by mover, r *rand.Rand, lb, n, size, stride int64) error {
	v, err := Hvector(n, size, stride, set.Type(Byte))
	if err != nil {
		return err
	}
	v.Commit()
	v.by = by
	var bits [8]byte
	random := func(n int64) []byte {
		b := make([]byte, n)
		for i := 0; i < len(b); i += 8 {
			binary.LittleEndian.PutUint64(bits[:], r.Uint64())
			copy(b[i:], bits[:])
		}
		return b
	}
	end := lb + size + max(0, (n-1)*stride)
	mem, wire := random(end+64), random(n*size+128)
	at := r.Int64N(64)
	packed, places := wire[at:at+n*size], bytes.Clone(mem)
	want := bytes.Clone(wire)
	for i := range n {
		copy(want[at+i*size:][:size], mem[lb+i*stride:])
	}
	b, err := Bind(mem[:end], lb, v, 1)
	if err != nil {
		return err
	}
	if k := b.Pack(packed, 0); k != len(packed) || !bytes.Equal(wire, want) {
		return fmt.Errorf("packed %d of %d bytes, the first wrong one at %d", k, len(packed), differs(wire, want)-int(at))
	}
	if !bytes.Equal(mem, places) {
		return fmt.Errorf("packing changed byte %d of what it packs", differs(mem, places))
	}
	copy(packed, random(n*size))
	for i := range n {
		copy(places[lb+i*stride:][:size], packed[i*size:])
	}
	if k := b.Unpack(packed, 0); k != len(packed) || !bytes.Equal(mem, places) {
		return fmt.Errorf("unpacked %d of %d bytes, the first wrong one at %d", k, len(packed), differs(mem, places))
	}
	return nil
}

func differs(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// The special functions for words at a stride of two and for words far apart copy any number
// of words correctly.
func TestMoversPackWords(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	set := Predefined()
	for _, by := range movers() {
		for n := int64(1); n < 200; n++ {
			for _, stride := range []int64{16, 64, 72, 256, 1024, -80} {
				if err := moveBlocks(set, by, r, r.Int64N(20)+max(0, -stride*(n-1)), n, 8, stride); err != nil {
					t.Fatalf("mover %d, %d words at stride %d: %v", by, n, stride, err)
				}
			}
		}
		for stride, n := range map[int64]int64{16: 3*longCopy/8 + 5, 80: 2*longCopy/line + 5, 64: beyondCaches + 3} {
			if err := moveBlocks(set, by, r, 3, n, 8, stride); err != nil {
				t.Fatalf("mover %d, %d words at stride %d: %v", by, n, stride, err)
			}
		}
	}
}
