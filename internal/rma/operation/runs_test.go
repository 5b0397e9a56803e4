package operation

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// The payloads of package wire's kinds for windows are part of the layout of frames:
// with them wire.Version changes.
func TestS6_PayloadsAreGolden(t *testing.T) {
	var b strings.Builder
	line := func(name string, mem []byte) { fmt.Fprintf(&b, "%s %s\n", name, hex.EncodeToString(mem)) }
	for _, r := range []Runs{{1, 2, 3, 4}, {-8, math.MaxInt64, -16, 0x0102030405060708}} {
		mem := make([]byte, RunSize)
		r.Encode(mem)
		line("runs", mem)
		if back := DecodeRuns(append(make([]byte, RunSize), mem...), 1); back != r {
			t.Errorf("%+v came back as %+v", r, back)
		}
	}
	f := Fault{class.RMARange, wire.WinAcc, 1, 2, 0x0102030405060708}
	var h wire.Header
	mem := make([]byte, FaultSize)
	f.Encode(&h, mem)
	head := make([]byte, wire.HeaderSize)
	h.Kind = wire.WinFault
	h.Encode(head)
	line("fault", append(head, mem...))
	if back, ok := DecodeFault(&h, mem); !ok || back != f {
		t.Errorf("%+v came back as %+v, %v", f, back, ok)
	}
	path := filepath.Join("testdata", "payloads.golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(b.String())) {
		t.Errorf("%s: the layout has changed, and with it the version must:\nhave\n%s\nwant\n%s", path, b.String(), want)
	}
}

// Whichever layout is cut, its runs cover the same bytes in the same order, within the room of a
// frame, in whole elements.
func TestRC13_CutsCoverTheLayout(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 13))
	for range 500 {
		typ := randomType(rng)
		typ.Commit()
		b, err := dtype.At(nil, typ, rng.Int64N(40))
		if err != nil {
			t.Fatal(err)
		}
		element := int64(8)
		room := 100 + rng.Int64N(2000)
		most := 8 * (1 + rng.Int64N(300))
		data := rng.IntN(2) == 0
		var want, got []int64 // offsets of elements
		for at := int64(0); at < b.Size(); {
			var one [1]dtype.Run
			_, next := b.Runs(one[:], at, b.Size())
			for k := int64(0); k < one[0].Len; k += element {
				want = append(want, one[0].Off+k)
			}
			at = next
		}
		for at := int64(0); at < b.Size(); {
			dst := make([]Runs, 1+rng.IntN(20))
			n, covered := Cut(dst, &b, at, most, room, element, data)
			used := int64(n * RunSize)
			if data {
				used += covered
			}
			if n == 0 || covered <= 0 || covered > most || used > room {
				t.Fatalf("%d runs for %d bytes take %d of %d, at most %d bytes", n, covered, used, room, most)
			}
			total := int64(0)
			for _, r := range dst[:n] {
				size, ok := r.Bytes(covered-total, element)
				if !ok {
					t.Fatalf("%+v of %d bytes is refused", r, covered)
				}
				total += size
				for k := range r.Count {
					for j := int64(0); j < r.Length; j += element {
						got = append(got, r.Off+k*r.Stride+j)
					}
				}
			}
			if total != covered {
				t.Fatalf("runs of %d bytes for %d", total, covered)
			}
			at += covered
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("type %v: cut to\n%v, want\n%v", typ, got, want)
		}
	}
}

// A vector takes one run of each frame.
func TestRC13_AVectorIsOneRun(t *testing.T) {
	double := dtype.Predefined().Type(dtype.Double)
	v, err := dtype.Vector(100_000, 1, 7, double)
	if err != nil {
		t.Fatal(err)
	}
	v.Commit()
	b, _ := dtype.At(nil, v, 1)
	var dst [RunsMax]Runs
	n, covered := Cut(dst[:], &b, 8*5, 60_000, 60_000, 8, true)
	if want := (Runs{5 * 56, 8, 56, covered / 8}); n != 1 || covered != (60_000-RunSize)/8*8 || dst[0] != want {
		t.Errorf("%d runs cover %d bytes, the first is %+v", n, covered, dst[0])
	}
}

// randomType is nested vectors and indexed blocks of 8-byte elements.
func randomType(rng *rand.Rand) *dtype.Type {
	t := dtype.Predefined().Type(dtype.Double)
	var err error
	for range 1 + rng.IntN(3) {
		switch rng.IntN(3) {
		case 0:
			t, err = dtype.Vector(1+rng.Int64N(5), 1+rng.Int64N(3), rng.Int64N(12)-4, t)
		case 1:
			n := 1 + rng.IntN(5)
			lengths, disps := make([]int64, n), make([]int64, n)
			for i := range n {
				lengths[i], disps[i] = 1+rng.Int64N(4), rng.Int64N(60)-20
			}
			t, err = dtype.Indexed(lengths, disps, t)
		default:
			t, err = dtype.Contiguous(1+rng.Int64N(4), t)
		}
		if err != nil {
			panic(err)
		}
	}
	return t
}

// Runs that do not fit into 64 bits are refused, wherever they wrap around to.
func TestS5_RunsThatWrapAround(t *testing.T) {
	big := int64(math.MaxInt64)
	for _, r := range []Runs{
		{0, 0, 8, 1}, {0, 8, 8, 0}, {0, -8, 8, 1}, {0, 8, 8, -1}, {0, 1 << 32, 0, 1 << 32}, {0, big, 0, 2}, {0, 3, 0, big/3 + 2},
		{0, 8, 0, 1<<61 + 1}, {0, 12, 0, 1},
	} {
		if n, ok := r.Bytes(wire.MaxPayload, 8); ok {
			t.Errorf("%+v is taken for %d bytes", r, n)
		}
	}
	for _, c := range []struct {
		base uint64
		r    Runs
	}{
		{0, Runs{-1, 8, 8, 1}}, {7, Runs{-8, 8, 8, 1}}, {math.MaxUint64, Runs{1, 8, 8, 1}}, {math.MaxUint64 - 7, Runs{0, 9, 8, 1}},
		{0, Runs{0, 8, -8, 2}}, {8, Runs{0, 8, -8, 3}}, {0, Runs{0, 1, big, 4}}, {0, Runs{0, 1, math.MinInt64, 3}},
		{1 << 63, Runs{math.MinInt64, 1, -1, 2}}, {0, Runs{0, 1, 1 << 40, 1 << 40}}, {0, Runs{0, 1, -1 << 40, 1 << 40}},
	} {
		if lo, n, ok := c.r.Reach(c.base); ok {
			t.Errorf("%+v from %#x reaches from %#x over %d bytes", c.r, c.base, lo, n)
		}
	}
	for _, c := range []struct {
		base  uint64
		r     Runs
		lo, n uint64
	}{
		{100, Runs{-100, 8, 8, 3}, 0, 24}, {100, Runs{0, 8, -10, 11}, 0, 108}, {math.MaxUint64 - 8, Runs{0, 8, 0, 1 << 40}, math.MaxUint64 - 8, 8},
		{1 << 63, Runs{math.MinInt64, 1, 2, 5}, 0, 9},
	} {
		if lo, n, ok := c.r.Reach(c.base); !ok || lo != c.lo || n != c.n {
			t.Errorf("%+v from %#x reaches from %#x over %d bytes, %v; want %#x, %d", c.r, c.base, lo, n, ok, c.lo, c.n)
		}
	}
}
