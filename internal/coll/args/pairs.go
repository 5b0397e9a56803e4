package args

import (
	"cmp"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// Pairs describes what a member of an Alltoallw sends to and receives from each rank, and that of a
// NeighborAlltoallw to and from each neighbour.
type Pairs struct {
	Sends, Receives int // the numbers of sides that the member has given
	// At returns the sides for a rank, or for the neighbours of a number; a side that was not
	// given is empty. The engine calls it only until the call with these Pairs returns.
	At func(r int) (send, recv Side)
}

// Check validates what this member can see of the arguments of an Alltoallw, and reports whether
// it is in place: either all non-empty blocks are in place, or none.
func (p Pairs) Check(c *comm.Comm, k kind.Kind) (inPlace bool, err error) {
	if k == kind.NeighborAlltoallw {
		return false, p.checkNeighbors(c)
	}
	if n := c.Size(); p.Sends != n || p.Receives != n {
		return false, class.Errorf(class.Count, "%d send and %d receive buffers for %d members", p.Sends, p.Receives, n)
	}
	there, elsewhere := 0, 0
	for r := range c.Size() {
		from, to := p.At(r)
		if err := cmp.Or(from.Err(), to.Err()); err != nil {
			return false, err
		}
		if err := to.receives(); err != nil {
			return false, err
		}
		if c.Inter != nil {
			if err := from.separate(&to); err != nil {
				return false, err
			}
			continue
		}
		switch {
		case r == c.Rank && from.Len() != to.Len():
			return false, class.Errorf(class.Count, "rank %d sends itself %d bytes and receives %d", r, from.Len(), to.Len())
		case from.Len() == 0 || to.Len() == 0:
		case from.Len() == to.Len() && mem.Same(from.Mem, to.Mem) && mem.Alike(from.Mem, to.Mem):
			there++
		case mem.Same(from.Mem, to.Mem) || mem.Overlap(flat(from.Mem), flat(to.Mem)):
			return false, class.Errorf(class.Buffer, "what is sent to rank %d overlaps in part what is received from it", r)
		default:
			elsewhere++
		}
		if there > 0 && elsewhere > 0 {
			return false, class.Errorf(class.Buffer, "some blocks are in place, and that of rank %d or another is not", r)
		}
	}
	return there > 0, nil
}
