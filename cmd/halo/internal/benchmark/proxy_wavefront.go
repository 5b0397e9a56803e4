package benchmark

import "github.com/halo-mpi/halo/mpi"

const (
	wavefrontRows     = 60000
	wavefrontColumns  = 1024
	wavefrontMatch    = 3
	wavefrontMismatch = 2
	wavefrontGap      = 4
	wavefrontResult   = 18708809
)

// wavefront is the alignment of two texts, row by row: see bench/proxy_wavefront.h.
type wavefront struct {
	world   *mpi.Comm
	scores  []int64  // of the row before
	letters []uint32 // of the columns
	in, out []int64
}

func newWavefront(world *mpi.Comm) *wavefront {
	first := firstOf(wavefrontColumns, world.Rank(), world.Size())
	n := firstOf(wavefrontColumns, world.Rank()+1, world.Size()) - first
	w := &wavefront{world: world, scores: make([]int64, n), letters: make([]uint32, n), in: make([]int64, 1), out: make([]int64, 1)}
	for i := range w.letters {
		w.letters[i] = mixed(uint32(1000000+first+i)) % 4
	}
	return w
}

func (w *wavefront) close() error { return nil }

// row computes a row, and returns its last score. West is the score before the first column in this row, corner the
// one in the row before.
func (w *wavefront) row(letter uint32, west, corner int64) int64 {
	letters := w.letters[:len(w.scores)]
	for i, north := range w.scores {
		along := int64(-wavefrontMismatch)
		if letter == letters[i] {
			along = wavefrontMatch
		}
		best := max(corner+along, north-wavefrontGap, 0)
		west = max(best, west-wavefrontGap)
		w.scores[i] = west
		corner = north
	}
	return west
}

func (w *wavefront) run() error {
	corner, me, last := int64(0), w.world.Rank(), w.world.Size()-1
	sum := uint64(0)
	clear(w.scores)
	w.in[0] = 0
	for i := range uint32(wavefrontRows) {
		if me > 0 {
			if _, err := mpi.Recv(w.world, w.in, me-1, 1); err != nil {
				return err
			}
		}
		w.out[0] = w.row(mixed(i)%4, w.in[0], corner)
		corner = w.in[0]
		sum += uint64(w.out[0])
		if me < last {
			if err := mpi.Send(w.world, w.out, me+1, 1); err != nil {
				return err
			}
		}
	}
	if me < last {
		sum = 0
	}
	return expectTotal(w.world, sum, wavefrontResult)
}
