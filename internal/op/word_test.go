package op

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Word is Apply on one element; the higher bytes do not change.
func TestWordIsApply(t *testing.T) {
	g := rand.New(rand.NewPCG(9, 10))
	legal(func(o Op, typ Type) {
		size := typ.Size()
		if size > 8 {
			return
		}
		for range 200 {
			left, right := g.Uint64(), g.Uint64()
			copy(low64(&left)[:], random(g, typ, 1))
			copy(low64(&right)[:], random(g, typ, 1))
			want := *low64(&left)
			Apply(o, typ, want[:size], want[:size], low64(&right)[:size])
			got := Word(o, typ, left, right)
			if !bytes.Equal(low64(&got)[:], want[:]) {
				t.Fatalf("%v of %v: %#x and %#x give %#x, want %x", o, typ, left, right, got, want)
			}
		}
	})
}
