package slot

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// canRead reports whether this member can read the memory of all its sources, and makes what it needs
// for that.
func (s *Slot) canRead(n *comm.Neighbors) bool {
	s.p.Lock()
	defer s.p.Unlock()
	for _, r := range n.Sources {
		if r >= 0 && r != s.me && !s.node.CanRead(int(s.members[r])) {
			return false
		}
	}
	if s.neighborhood.packed == nil {
		s.neighborhood.pieces, s.neighborhood.packed = make([][]byte, 0, piecesMax), make([]byte, packedPiece)
	}
	return true
}

// pairEdges finds out which entries are for this member. In a grid it knows. In a graph all members
// show their destinations, and the i-th of them that is this member pairs with the i-th source that is
// the other one. If edges are left over, all members have the error.
func (s *Slot) pairEdges(n *comm.Neighbors) error {
	s.Terms.Say(dtype.Mixed, dtype.Mixed, 0)
	t := s.neighborhood
	t.of, t.index, t.apart, t.wrong, t.alone = nil, t.index[:0], false, nil, true // of is set when the members have met
	for _, r := range n.Dests {
		t.alone = t.alone && r >= 0 && r != s.me
	}
	var unpaired error
	if n.Grid {
		for i := range n.Sources {
			t.index = append(t.index, n.Arrival(i))
		}
	} else if err := s.showDests(n); err != nil {
		return err
	} else {
		unpaired = s.findEntries(n)
	}
	t.tells = [...]bool{unpaired != nil, s.canRead(n)}
	if err := s.exchange(mem.Of(unsafe.Slice((*byte)(unsafe.Pointer(&t.tells)), len(t.tells)))); err != nil {
		return err
	}
	t.reads = true
	for r := range s.cells {
		told := s.data(r, len(t.tells))
		if told[0] != 0 {
			t.wrong = cmp.Or[error](unpaired, class.Errorf(class.Topology, "edges do not pair, as rank %d has found", r))
		}
		t.reads = t.reads && told[1] != 0
	}
	t.of, t.sources, t.dests = n, s.otherRanks(t.sources[:0], n.Sources), s.otherRanks(t.dests[:0], n.Dests)
	return nil
}

// otherRanks appends the other members in a list, each once.
func (s *Slot) otherRanks(dst, list []int) []int {
	dst = append(dst, list...)
	slices.Sort(dst)
	return slices.DeleteFunc(slices.Compact(dst), func(r int) bool { return r < 0 || r == s.me })
}

// word is the size in bytes of a rank, or number of ranks, that showDests shows.
const word = 4

// destsMax is the most destinations that a member can show, and have entries of.
const destsMax = shmfmt.StageSize/entrySize - 1

// showDests shows the destinations of the member to all others, by rank, after their number.
func (s *Slot) showDests(n *comm.Neighbors) error {
	own, err := s.begin()
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(own[:], uint32(min(len(n.Dests), destsMax+1)))
	if len(n.Dests) <= destsMax {
		for i, r := range n.Dests {
			binary.LittleEndian.PutUint32(own[(i+1)*word:], uint32(r))
		}
	}
	return s.show()
}

// findEntries finds the entries for this member by what the others show. It returns an error if another
// member has more or fewer edges to this one than this one has from there.
func (s *Slot) findEntries(n *comm.Neighbors) (unpaired error) {
	t, me := s.neighborhood, s.me
	for range n.Sources {
		t.index = append(t.index, 0)
	}
	for r := range s.cells {
		list := s.stage(r, s.Number)
		dest := func(i int) int { return int(binary.LittleEndian.Uint32(list[(i+1)*word:])) }
		k := int(binary.LittleEndian.Uint32(list[:]))
		t.apart = t.apart || k > destsMax
		if t.apart || r == me {
			continue
		}
		there, here, at := 0, 0, 0
		for i := range k {
			if dest(i) == me {
				there++
			}
		}
		for i, source := range n.Sources {
			if source != r {
				continue
			}
			here++
			for at < k && dest(at) != me {
				at++
			}
			t.index[i] = at
			if !planted.EntryOfTheFirst {
				at++
			}
		}
		if there != here && unpaired == nil {
			unpaired = class.Errorf(class.Topology, "rank %d has %d edges to rank %d, which has %d from it", r, there, me, here)
		}
	}
	return unpaired
}
