package dtype

import (
	"bytes"
	"testing"
	"unsafe"
)

// COL-05: Memory returns the memory of a buffer, First a buffer of its first elements, and
// SameMemory and Shares compare the places of two buffers.
func TestMemoryOfBuffers(t *testing.T) {
	s := Predefined()
	typ, err := Vector(2, 1, -2, s.Type(Int16)) // 2 bytes at 0 and at -4
	if err != nil {
		t.Fatal(err)
	}
	typ.Commit()
	mem := make([]byte, 100)
	for i := range mem {
		mem[i] = byte(i)
	}
	bound := func(origin int64, typ *Type, n int64) Buffer {
		b, err := Bind(mem, origin, typ, n)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	packed := func(b Buffer) []byte {
		p := make([]byte, b.Size())
		b.Pack(p, 0)
		return p
	}
	b := bound(10, typ, 5)
	padded, err := Resized(typ, -8, 16) // bounds 8 bytes before and after displacement 0
	if err != nil {
		t.Fatal(err)
	}
	padded.Commit()
	back, err := Resized(typ, -4, -8)
	if err != nil {
		t.Fatal(err)
	}
	back.Commit()
	for _, x := range []struct {
		b            Buffer
		from, to, at int
	}{
		{b, 6, 36, 4}, // 5 times 6 bytes
		{bound(10, s.Type(Int32), 3), 10, 22, 0},
		{bound(10, s.Type(DoubleInt), 2), 10, 42, 0},
		{bound(72, s.Type(DoubleInt), 2), 72, 100, 0}, // the memory ends before the last padding
		{bound(60, back, 4), 32, 62, 28},
		{bound(20, padded, 2), 12, 44, 8},
		{bound(4, padded, 1), 0, 12, 4},
	} {
		m, origin := x.b.Memory()
		if len(m) == 0 || int(m[0]) != x.from || int(m[len(m)-1]) != x.to-1 || int(origin) != x.at {
			t.Errorf("%v: memory of %d bytes %v, displacement 0 at %d; want %d to %d, %d", &x.b, len(m), m, origin, x.from, x.to, x.at)
		}
	}
	if m, _ := (&Buffer{}).Memory(); m != nil {
		t.Error("nothing has memory")
	}
	for n := int64(0); n <= 6; n++ {
		f := b.First(n)
		if want := bound(10, typ, min(n, 5)); f != want || !bytes.Equal(packed(f), packed(want)) {
			t.Errorf("the first %d elements are %v, want %v", n, f, want)
		}
	}
	ints := s.Type(Int16)
	for _, x := range []struct {
		a, b         Buffer
		same, shares bool
	}{
		{b, bound(10, typ, 1), true, true},
		{b, bound(16, typ, 5), false, false}, // these share memory, but Shares does not search for it
		{b, bound(10, ints, 1), false, false},
		{bound(10, ints, 3), bound(10, ints, 1), true, true},
		{bound(10, ints, 3), bound(14, ints, 1), false, true},
		{bound(10, ints, 3), bound(16, ints, 1), false, false},
		{bound(10, ints, 0), bound(10, ints, 1), false, false},
		{bound(8, s.Type(Int32), 1), bound(10, ints, 1), false, true},
	} {
		for range 2 {
			if got := SameMemory(&x.a, &x.b); got != x.same {
				t.Errorf("same memory %v: %v and %v", got, x.a, x.b)
			}
			if got := Shares(&x.a, &x.b); got != x.shares {
				t.Errorf("shares %v: %v and %v", got, x.a, x.b)
			}
			x.a, x.b = x.b, x.a
		}
	}
	for _, x := range []struct {
		t     *Type
		dense bool
		align int64
	}{{ints, true, 2}, {typ, false, 2}, {s.Type(DoubleInt), false, 8}, {s.Type(FloatInt), true, 4}, {s.Type(Byte), true, 1}} {
		if x.t.Dense() != x.dense || x.t.Align() != x.align {
			t.Errorf("%v: dense %v, aligned to %d", x.t, x.t.Dense(), x.t.Align())
		}
	}
	if a, err := At(nil, ints, 2); err != nil {
		t.Error(err)
	} else if m, _ := a.Memory(); m != nil {
		t.Error("there is memory at address 0")
	}
	there := make([]int64, 8)
	late, err := Hvector(3, 1, 8, s.Type(Int64))
	if err != nil {
		t.Fatal(err)
	}
	late, err = Resized(late, 8, 24)
	if err != nil { // its data begins before its lower bound
		t.Fatal(err)
	}
	late.Commit()
	b, err = At(unsafe.Pointer(&there[1]), late, 2)
	if err != nil {
		t.Fatal(err)
	}
	if m, origin := b.Memory(); len(m) != 56 || origin != 0 || unsafe.Pointer(&m[0]) != unsafe.Pointer(&there[1]) {
		t.Errorf("%d bytes from an address on, displacement 0 at %d", len(m), origin)
	}
}
