package serve

import (
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/rma/attach"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// holds agrees with a check of every byte of every block.
func TestRW05_BlocksThatAreAttached(t *testing.T) {
	const n = 64
	g := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a, has := &attach.List{}, [n]bool{}
		for at := g.IntN(8); at < n; at += g.IntN(20) {
			size := g.IntN(min(16, n-at))
			a.Insert(&attach.Region{Addr: 1000 + uint64(at), Memory: apply.Region{Mem: make([]byte, size)}})
			for i := range size {
				has[at+i] = true
			}
			at += max(size, 1)
		}
		r := operation.Runs{Off: int64(g.IntN(n)), Length: 1 + int64(g.IntN(6)), Stride: int64(g.IntN(30)) - 15, Count: 1 + int64(g.IntN(6))}
		want := true
		for k := range r.Count {
			for i := range r.Length {
				at := r.Off + k*r.Stride + i
				want = want && at >= 0 && at < n && has[at]
			}
		}
		lo, size, ok := r.Reach(1000)
		if got := ok && (&Window{Attached: a}).holds(lo, size, &r); got != want {
			t.Fatalf("%+v of %v: found %v, want %v", r, has, got, want)
		}
	}
}
