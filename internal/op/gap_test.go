package op

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// inGap reports whether byte i of elements of t is padding: behind the ten bytes of a Float80, and between and
// behind the parts of pairs, which lie as in a struct of C.
func inGap(t Type, i int) bool {
	value, index := t.Parts()
	switch {
	case t == Float80 || t == Complex160:
		return i%16 >= 10
	case index == 0:
		return false
	}
	i %= t.Size()
	end, at := value.Size(), (value.Size()+index.Size()-1)/index.Size()*index.Size()
	if value == Float80 {
		end = 10
	}
	return i >= end && i < at || i >= at+index.Size()
}

// dataOf returns elements of t with 0 in the gaps; b begins at byte `from` of one.
func dataOf(t Type, b []byte, from int) []byte {
	b = bytes.Clone(b)
	for i := range b {
		if inGap(t, from+i) {
			b[i] = 0
		}
	}
	return b
}

// BRD-03: Gaps, Copy and the tables of the parts agree with the layout of C's structs.
func TestBRD03_GapsOfAllTypes(t *testing.T) {
	g := rand.New(rand.NewPCG(9, 1))
	with := 0
	for _, typ := range All() {
		n := 3 * typ.Size()
		dst, src, gaps := make([]byte, n), make([]byte, n), false
		for i := range n {
			dst[i], src[i] = byte(g.Uint32()), byte(g.Uint32())
			gaps = gaps || inGap(typ, i)
		}
		want := bytes.Clone(src)
		for i := range n {
			if inGap(typ, i) {
				want[i] = dst[i]
			}
		}
		typ.Copy(dst, src)
		if typ.Gaps() != gaps || !bytes.Equal(dst, want) {
			t.Errorf("%v: gaps %v, want %v; copied %x to %x, want %x", typ, typ.Gaps(), gaps, src, dst, want)
		}
		if gaps {
			with++
		}
	}
	if with < 20 {
		t.Errorf("%d types have gaps", with)
	}
}
