package op

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
)

// layouts returns types of three numbers each, of 2, 8 and 4 bytes, in various layouts.
func layouts(t *testing.T) map[string]*dtype.Type {
	s := dtype.Predefined()
	made := func(d *dtype.Type, err error) *dtype.Type {
		if err != nil {
			t.Fatal(err)
		}
		d.Commit()
		return d
	}
	parts := []*dtype.Type{s.Type(dtype.Int16), s.Type(dtype.Int64), s.Type(dtype.Int32)}
	at := func(displs ...int64) *dtype.Type { return made(dtype.Struct([]int64{1, 1, 1}, displs, parts)) }
	c := at(0, 8, 16)
	return map[string]*dtype.Type{
		"C":                  c,
		"packed":             at(0, 2, 10),
		"packed, displaced":  at(8, 10, 18),
		"backwards":          at(12, 4, 0),
		"before the origin":  at(-100, -32, 8),
		"around the origin":  at(-6, 0, 48),
		"far":                at(1<<40, 1<<40+8, 1<<40+16),
		"apart":              at(0, 8000, 17000),
		"negative extent":    made(dtype.Resized(c, 0, -24)),
		"wide":               made(dtype.Resized(c, -8, 100)),
		"interleaved":        made(dtype.Resized(at(0, 800, 1600), 0, 8)),
		"of extent 0":        made(dtype.Resized(c, 0, 0)),
		"duplicate":          made(dtype.Dup(at(0, 2, 10))),
		"one in a structure": made(dtype.Contiguous(1, c)),
	}
}

// COL-03, COL-05: an operation of a program gets all elements once, in order, in the layout of
// the type. The second operand becomes the result, the first does not change, and the contents
// of gaps are not sent.
func TestCOL05_Form(t *testing.T) {
	const packed = 14
	g := rand.New(rand.NewPCG(1, 2))
	for name, typ := range layouts(t) {
		t.Run(name, func(t *testing.T) {
			f := NewForm(typ)
			for _, n := range []int{1, 2, 7, 700} {
				for _, shift := range []int{0, 1} { // the offset of the operands from alignment
					in, inout := displaced(g, n*packed, shift), displaced(g, n*packed, shift)
					first, want := bytes.Clone(in), bytes.Clone(inout)
					for i := range want {
						want[i] ^= 3 * in[i]
					}
					seen := 0
					f.Apply(in, inout, func(x, y dtype.Buffer) {
						if x.Type() != typ || y.Type() != typ || x.Count() != y.Count() || x.Count() == 0 {
							t.Fatalf("operands of %d and %d elements", x.Count(), y.Count())
						}
						seen += int(x.Count())
						bound := f.origin
						if typ.Dense() && shift == 0 {
							bound = 0
						}
						combine(t, &x, &y, bound, uintptr(typ.Align()))
					})
					if seen != n {
						t.Errorf("%d elements of %d", seen, n)
					}
					if !bytes.Equal(in, first) || !bytes.Equal(inout, want) {
						t.Errorf("%d elements, shifted by %d: wrong result", n, shift)
					}
				}
			}
		})
	}
}

// displaced returns n random bytes at the given offset from an aligned address.
func displaced(g *rand.Rand, n, by int) []byte {
	b := alignedMemory(int64(n + by))[by:]
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return b
}

// combine carries out an operation in memory, by the runs of the layout, and overwrites all
// other bytes of the second operand. bound is the place of displacement 0 in the memory of the
// Buffer.
func combine(t *testing.T, x, y *dtype.Buffer, bound int64, align uintptr) {
	a, origin := x.Memory()
	b, other := y.Memory()
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(other); origin != other || len(a) != len(b) || at%align != 0 {
		t.Fatalf("displacement 0 is at %#x; at %d of %d bytes, and at %d of %d", at, origin, len(a), other, len(b))
	}
	touched := make([]bool, len(b))
	for at := int64(0); at < y.Size(); {
		var run [1]dtype.Run
		_, at = y.Runs(run[:], at, y.Size()-at)
		for i := range run[0].Len {
			k := run[0].Off - bound + origin + i
			b[k] ^= 3 * a[k]
			touched[k] = true
		}
	}
	for k := range b {
		if !touched[k] {
			b[k]++
		}
	}
}

// Small elements are passed many at a time. Large ones use no more memory than one element for
// each operand.
func TestFormIsBounded(t *testing.T) {
	for name, want := range map[string]struct{ most, size int64 }{
		"C": {600, formRoom + 64}, "packed": {1000, formRoom + 64}, "apart": {1, 17004 + 64}, "far": {600, formRoom + 64},
	} {
		f := NewForm(layouts(t)[name])
		if want.most > 1 && f.most < want.most || want.most == 1 && f.most != 1 || f.size > want.size {
			t.Errorf("%s: %d elements in %d bytes, want %v", name, f.most, f.size, want)
		}
	}
}

func ExampleForm() {
	s := dtype.Predefined()
	typ, _ := dtype.Resized(s.Type(dtype.Uint8), 0, 4) // a byte with an extent of 4
	typ.Commit()
	in, inout := []byte{1, 2, 3}, []byte{10, 20, 30}
	NewForm(typ).Apply(in, inout, func(x, y dtype.Buffer) {
		a, _ := x.Memory()
		b, _ := y.Memory()
		for i := 0; i < len(b); i += 4 {
			b[i] += a[i]
		}
	})
	fmt.Println(inout)
	// Output: [11 22 33]
}
