package apply

import (
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Long accumulates are done in pieces, from the beginning or from the end. Each element is in
// one piece, all elements of a piece begin in one stripe, and no piece is longer than its limit.
func TestPiecesOfLongAccumulates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		size := 1 << r.IntN(6)
		n := (1 + r.IntN(200000/size)) * size
		off := r.Int64N(3 << shmfmt.StripeShift)
		if r.IntN(2) == 0 {
			off &^= int64(size - 1)
		}
		for _, down := range []bool{false, true} {
			from, to, done := 0, n, 0
			for from < to {
				lo, hi := from, to
				if down {
					lo = tail(off, from, to, size)
					to = lo
				} else {
					hi = from + min(head(off+int64(from), to-from, size), piece)
					from = hi
				}
				first, last := shmfmt.Stripe(off+int64(lo)), shmfmt.Stripe(off+int64(hi-size))
				if lo >= hi || (hi-lo)%size != 0 || hi-lo > piece || first != last {
					t.Fatalf("%d bytes at %d, elements of %d, down %v: a piece from %d to %d, stripes %d to %d", n, off, size, down, lo, hi, first, last)
				}
				done += hi - lo
			}
			if done != n {
				t.Fatalf("%d bytes at %d, elements of %d, down %v: %d bytes done", n, off, size, down, done)
			}
		}
	}
}
