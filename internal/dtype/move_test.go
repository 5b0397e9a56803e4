package dtype

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Move does the same as copy for every length, also if source and destination overlap.
func TestMoveIsCopy(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 8, 100, stringCopy - 1, stringCopy, stringCopy + 65, 1<<20 + 3, streamCopy + 7} {
		beyond := (n/64 + 2) * 64 // n bytes from here on do not overlap those at the beginning
		mem := make([]byte, 2*beyond+200)
		for i := range mem {
			mem[i] = byte(g.Uint32())
		}
		got, want := make([]byte, len(mem)), make([]byte, len(mem))
		for _, at := range [][2]int{{0, beyond + 100}, {beyond + 77, 13}, {0, 1}, {1, 0}, {0, 0}, {n / 2, 0}, {0, n / 2}, {n, 0}} {
			copy(got, mem)
			copy(want, mem)
			Move(got[at[0]:at[0]+n+5], got[at[1]:at[1]+n])
			copy(want[at[0]:], want[at[1]:at[1]+n])
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes from %d to %d differ", n, at[1], at[0])
			}
		}
	}
}

func BenchmarkMove(b *testing.B) {
	for _, n := range []int{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20} {
		dst, src := make([]byte, n), make([]byte, n)
		b.Run(fmt.Sprint("move/", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Move(dst, src)
			}
		})
		b.Run(fmt.Sprint("copy/", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				copy(dst, src)
			}
		})
	}
}
