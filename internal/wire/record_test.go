package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// shaken returns the seals of both ends of a connection after a successful handshake.
func shaken(t testing.TB, from, to int) (d, a *Sealed) {
	t.Helper()
	p := Pair{Secret: [32]byte{1, 2, 3}, Job: "test", From: from, To: to}
	x, y := NewDialler(p), NewAcceptor(Pair{Secret: p.Secret, Job: p.Job, To: to}, 4)
	var hello [HelloSize]byte
	var challenge [ChallengeSize]byte
	var proof [ProofSize]byte
	var verdict [VerdictSize]byte
	x.Hello(&hello)
	if _, err := y.Hello(&hello); err != nil {
		t.Fatal(err)
	}
	y.Challenge(&challenge)
	if err := x.Challenge(&challenge); err != nil {
		t.Fatal(err)
	}
	x.Proof(&proof)
	if err := y.Proof(&proof); err != nil {
		t.Fatal(err)
	}
	y.Verdict(&verdict, Accepted)
	if _, err := x.Verdict(&verdict); err != nil {
		t.Fatal(err)
	}
	return x.Sealed(), y.Sealed()
}

// letter returns a frame with a payload of n bytes that seed determines.
func letter(seed uint64, n int) (*Header, []byte) {
	r := rand.New(rand.NewPCG(seed, 3))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return &Header{Size: uint32(n), Kind: Eager, Tag: int32(seed), Ctx: r.Uint64(), Arg: r.Uint64(), Name: r.Uint64()}, b
}

func mustOpen(t *testing.T, s *Sealed, b []byte, want *Header, payload []byte) int {
	t.Helper()
	var h Header
	n, got, err := s.Open(b, &h)
	if err != nil || n == 0 || h != *want || !bytes.Equal(got, payload) {
		t.Fatalf("opened %d bytes: %+v with %d bytes, %v; want %+v with %d", n, h, len(got), err, *want, len(payload))
	}
	return n
}

func TestS3RecordsComeBothWays(t *testing.T) {
	d, a := shaken(t, 2, 1)
	for i, size := range []int{0, 1, 8, 1000, MaxPayload - 128, MaxPayload} {
		for _, way := range [2][2]*Sealed{{d, a}, {a, d}} {
			h, payload := letter(uint64(i), size)
			b := way[0].Seal(nil, h, payload)
			if len(b) != RecordOverhead+HeaderSize+size || len(b) > RecordMax {
				t.Fatalf("a frame of %d bytes makes a record of %d", size, len(b))
			}
			if size > 16 && bytes.Contains(b, payload[:16]) {
				t.Error("the payload can be read on the wire")
			}
			for cut := range min(len(b), 100) {
				var h Header
				if n, _, err := way[1].Open(b[:cut], &h); n != 0 || err != nil {
					t.Fatalf("%d bytes of a record were opened as %d: %v", cut, n, err)
				}
			}
			mustOpen(t, way[1], append(b, 1, 2, 3), h, payload)
		}
	}
	b := d.Seal([]byte("before"), nil, nil)
	var h Header
	if n, payload, err := a.Open(b[6:], &h); n != RecordOverhead || payload != nil || err != nil || h.Kind != 0 {
		t.Errorf("an empty record was opened as %d bytes, %v, %v", n, payload, err)
	}
}

// Open detects each changed bit in each byte of a record.
func TestS3FlippedBitsAreNoticed(t *testing.T) {
	for _, size := range []int{-1, 0, 33} {
		total := RecordOverhead
		if size >= 0 {
			total += HeaderSize + size
		}
		for bit := range 8 * total {
			d, a := shaken(t, 0, 1)
			var b []byte
			if size < 0 {
				b = d.Seal(nil, nil, nil)
			} else {
				h, payload := letter(7, size)
				b = d.Seal(nil, h, payload)
			}
			b = append(b, make([]byte, RecordMax)...) // room for a record whose length has grown
			b[bit/8] ^= 1 << (bit % 8)
			var h Header
			if n, _, err := a.Open(b, &h); n != 0 || !errors.Is(err, ErrForged) {
				t.Fatalf("size %d: bit %d of byte %d flipped: opened %d bytes, %v", size, bit%8, bit/8, n, err)
			}
		}
	}
}

func TestS3RecordsFitTheirPlaceOnly(t *testing.T) {
	record := func(s *Sealed, seed uint64) []byte {
		h, payload := letter(seed, 20)
		return s.Seal(nil, h, payload)
	}
	for _, c := range []struct {
		name string
		take func(d, a, other *Sealed) (by *Sealed, b []byte)
	}{
		{"replay", func(d, a, _ *Sealed) (*Sealed, []byte) {
			first := record(d, 1)
			again := bytes.Clone(first)
			var h Header
			a.Open(first, &h)
			return a, again
		}},
		{"left out", func(d, a, _ *Sealed) (*Sealed, []byte) { record(d, 1); return a, record(d, 2) }},
		{"reflection", func(d, a, _ *Sealed) (*Sealed, []byte) { return d, record(d, 1) }},
		{"another connection of the pair", func(d, a, other *Sealed) (*Sealed, []byte) { return a, record(other, 1) }},
		{"truncated, then the next", func(d, a, _ *Sealed) (*Sealed, []byte) {
			return a, append(record(d, 1)[:50], record(d, 2)...)
		}},
		{"nothing but zeros", func(d, a, _ *Sealed) (*Sealed, []byte) { return a, make([]byte, 100) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, a := shaken(t, 0, 1)
			other, _ := shaken(t, 0, 1)
			by, b := c.take(d, a, other)
			var h Header
			if n, _, err := by.Open(b, &h); n != 0 || !errors.Is(err, ErrForged) {
				t.Errorf("opened %d bytes: %v", n, err)
			}
		})
	}
}

func TestS3LengthIsBoundedBeforeItIsBelieved(t *testing.T) {
	for _, size := range []uint32{1, HeaderSize - 1, HeaderSize + MaxPayload + 1, 1 << 31, ^uint32(0)} {
		_, a := shaken(t, 0, 1)
		var h Header
		b := []byte{byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)}
		if n, _, err := a.Open(b, &h); n != 0 || !errors.Is(err, ErrForged) {
			t.Errorf("a length of %d was believed: %d, %v", size, n, err)
		}
	}
}

// Open also refuses correctly sealed records in which frame and record disagree on the length.
func TestS3FrameMustFillItsRecord(t *testing.T) {
	for _, size := range []uint32{0, 9, 11, MaxPayload, MaxPayload + 1, ^uint32(0)} {
		d, a := shaken(t, 0, 1)
		h, payload := letter(1, 10)
		h.Size = size
		b := d.Seal(nil, h, payload)
		if n, _, err := a.Open(b, h); n != 0 || err == nil {
			t.Errorf("a frame of 10 bytes that says %d was opened", size)
		}
	}
}

func TestS3KeysChange(t *testing.T) {
	d, a := shaken(t, 0, 1)
	d.out.limit, a.in.limit = 3, 3
	keys := map[string]bool{}
	for i := range 10 {
		h, payload := letter(uint64(i), i)
		mustOpen(t, a, d.Seal(nil, h, payload), h, payload)
		if d.out.key != a.in.key {
			t.Fatal("the ends have different keys")
		}
		keys[fmt.Sprintf("%x", d.out.key)] = true
	}
	if len(keys) != 4 {
		t.Errorf("10 records under %d keys, want 4 with 3 for each", len(keys))
	}
}

func TestSealingAllocatesNothing(t *testing.T) {
	d, a := shaken(t, 0, 1)
	buf := make([]byte, 0, RecordMax)
	h, payload := letter(1, 1000)
	var back Header
	if n := testing.AllocsPerRun(1000, func() {
		if n, _, err := a.Open(d.Seal(buf, h, payload), &back); n == 0 || err != nil {
			t.Fatal(n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

// FuzzRecords opens a stream of the peer's records mixed with bytes of the fuzzer. Open
// delivers the peer's frames, in order, up to the first byte that is not the peer's.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{}, uint(0), uint(3))
	f.Add([]byte{0, 0, 0, 0}, uint(60), uint(0))
	f.Add([]byte{40, 0, 0, 0, 1, 2, 3}, uint(84), uint(10))
	f.Add(bytes.Repeat([]byte{255}, 64), uint(1), uint(64))
	f.Fuzz(func(t *testing.T, foreign []byte, at, over uint) {
		d, a := shaken(t, 0, 1)
		var stream []byte
		var ends []int
		for i := range 4 {
			h, payload := letter(uint64(i), i*24)
			stream = d.Seal(stream, h, payload)
			ends = append(ends, len(stream))
		}
		clean := bytes.Clone(stream)
		at %= uint(len(stream) + 1)
		over = min(over, uint(len(stream))-at)
		stream = append(append(bytes.Clone(stream[:at]), foreign...), stream[at+over:]...)
		good := 0 // number of leading bytes that are as the peer sent them
		for good < len(stream) && good < len(clean) && stream[good] == clean[good] {
			good++
		}
		want := 0
		for want < len(ends) && ends[want] <= good {
			want++
		}
		got := 0
		for r := 0; ; {
			var h Header
			n, payload, err := a.Open(stream[r:], &h)
			if n == 0 || err != nil {
				break
			}
			w, p := letter(uint64(got), got*24)
			if got >= len(ends) || h != *w || !bytes.Equal(payload, p) {
				t.Fatalf("record %d was opened as %+v", got, h)
			}
			got++
			r += n
		}
		if got != want {
			t.Fatalf("%d records opened, %d are the peer's", got, want)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	for _, size := range []int{8, 1024, MaxPayload - 128} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			d, _ := shaken(b, 0, 1)
			buf := make([]byte, 0, RecordMax)
			h, payload := letter(1, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				d.Seal(buf, h, payload)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, size := range []int{8, 1024, MaxPayload - 128} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			d, a := shaken(b, 0, 1)
			h, payload := letter(1, size)
			record := d.Seal(nil, h, payload)
			buf := make([]byte, len(record))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				copy(buf, record)
				a.in.n = 0 // to open the same record again
				if n, _, err := a.Open(buf, h); n == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
