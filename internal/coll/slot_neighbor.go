package coll

import (
	"cmp"
	"encoding/binary"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// A blocking neighbourhood collective goes through the stages of a slot, if all its blocks are short.
// What a member sends is a parcel: an entry, which says where in the parcel the blocks are, and the
// blocks. If they have different lengths there is an entry for each. The members copy their parcels
// through their stages in steps. In each step all members meet, so that with more members than cores
// one switch to the last one is enough, and each copies what it needs from the stages of its sources.
// A member knows from the topology, or has found out at the first collective, which of the blocks of a
// source is its own.
//
// Long blocks in contiguous memory stay out of the parcel, if all members can read the memory of their
// sources. Their entries are addresses, and each member copies such a block directly, once, by the kernel.
// Then all members meet once more, so that none returns while its memory is read.
//
// Lengths differ between members that are no neighbours. Therefore the first step tells all members
// the length of the longest parcel: it determines the number of steps, in which all take part, and
// whether the blocks go by messages instead.
type neighborhood struct {
	blocks schedule        // never begun: the arguments of the current collective
	of     *comm.Neighbors // those that the other fields are about
	index  []int           // by source: which of its blocks is for this member
	place  []place         // by source: where the block is
	alone  bool            // no destination is missing, or the member itself
	reads  bool            // all members can read the memory of their sources
	apart  bool            // a member has too many neighbours: all collectives go by messages
	wrong  error           // edges do not pair
	way    copies          // of blocks of which it depends on the machine how they are copied best
	pieces [][]byte        // memory that a block is read into
	packed []byte          // the same for a layout
}

const (
	// directMin is the length in bytes from which blocks stay out of the parcel. Those of copiesMin and
	// more stay out if that takes less time: see copies.
	directMin = SlotBlock
	// piecesMax is the number of pieces of memory in one call of the kernel.
	piecesMax = 64
	// parcelMax is the longest parcel in bytes.
	parcelMax = 16 << 20
)

// tally is what a member tells all others in the first step, and what they find out about all.
type tally struct {
	length uint64 // of the parcel; of all members: of the longest
	flags  uint64 // of all members: those that any has
	took   uint64 // what copies tells; of all members: the longest time
}

// The flags of a tally.
const (
	outside = 1 << iota // blocks stay out of the parcel
	between             // blocks have a length of which copies decides how they are copied
)

func (t *tally) add(one *tally) {
	t.length, t.took = max(t.length, one.length), max(t.took, one.took)
	t.flags |= one.flags
}

// amongNeighbors returns where the caller puts the arguments of a collective of a kind.
func (s *slot) amongNeighbors(k Kind) *schedule {
	if s.neighborhood == nil {
		s.neighborhood = &neighborhood{blocks: schedule{e: s.e}}
	}
	x := &s.neighborhood.blocks
	x.c, x.kind, x.neighbors = s.c, k, s.c.Neighbors
	return x
}

// exchangeNeighbors carries out the collective x, which amongNeighbors has returned. If it returns false
// it has moved nothing, at all members, and they have to use messages.
func (s *slot) exchangeNeighbors(x *schedule) (done bool, err error) {
	x.divide()
	done, err = s.throughStages(x)
	x.Args, x.err = Args{}, nil
	for i := range x.pairs {
		clear(x.pairs[i])
		x.pairs[i] = x.pairs[i][:0]
	}
	return done, s.ended(err)
}

func (s *slot) throughStages(x *schedule) (done bool, err error) {
	s.Kind = uint8(x.kind)
	s.terms.say(dtype.Mixed, dtype.Mixed)
	t := s.neighborhood
	if t.of != x.neighbors {
		if err := s.pairEdges(x.neighbors); err != nil {
			return true, err
		}
	}
	if t.wrong != nil || t.apart {
		return !t.apart, t.wrong
	}
	own, err := s.begin()
	if err != nil {
		return true, err
	}
	all, err := s.count(s.fill(x, own[:], 0))
	longest := int(all.length)
	switch {
	case err != nil:
		return true, err
	case longest > parcelMax || longest > SlotPair && len(s.cells) == 2:
		return false, nil
	}
	found := s.entries(x)
	if all.flags&outside != 0 {
		found = cmp.Or(found, s.readDirect(x))
	}
	for lo := 0; ; {
		s.empty(x, lo)
		if lo += shmfmt.StageSize; lo >= longest {
			break
		}
		if own, err = s.begin(); err != nil {
			return true, err
		}
		s.fill(x, own[:], lo)
		if err = s.show(); err != nil {
			return true, err
		}
	}
	if !t.alone {
		x.ownEdges(mem.Copy)
	}
	if all.flags&outside != 0 && !planted.ReadUnmet {
		if _, err = s.begin(); err == nil {
			err = s.show()
		}
	}
	t.way.ended(all.flags&between != 0, all.took)
	return true, cmp.Or(err, found, x.err)
}

// count publishes a tally and returns that of all members, once all have published theirs.
func (s *slot) count(own tally) (all tally, err error) {
	turn := s.Number & 1
	s.own.PutShort(s.Number, s.terms.said, (*[unsafe.Sizeof(own)]byte)(unsafe.Pointer(&own))[:])
	shmfmt.Publish(&s.own.Number, s.Number)
	result := (*tally)(unsafe.Pointer(&s.head.Release.Data))
	switch {
	case s.inCells():
		err = s.gathered(s.Number)
		s.wake()
	case s.arrive():
	default:
		if err = s.released(); err == nil {
			all = *result
		}
		return all, err
	}
	if err == nil {
		for _, c := range s.cells {
			all.add((*tally)(unsafe.Pointer(&c.Short[turn])))
		}
		err = s.judge()
	}
	if !s.inCells() {
		*result = all
		s.release(err)
	}
	return all, err
}

// entries finds the blocks for this member, and copies those that are in the first stages as a whole. A
// block of another length or of other elements than are received is an error, and is not copied.
func (s *slot) entries(x *schedule) (err error) {
	t := s.neighborhood
	t.place = t.place[:0]
	for i, r := range x.neighbors.Sources {
		var later place // nothing
		if r >= 0 && r != s.c.Rank {
			stage, to := s.stage(r, s.Number), x.blockFrom(i)
			p, code := blockIn(stage, t.index[i])
			var e error
			switch {
			case p.size != to.Len():
				e = wrong(lengthClass(p.size, to.Len()), "rank %d sends %d bytes where %d are received", r, p.size, to.Len())
			case code.Differs(x.edgeCode(1, i)):
				e = wrong(class.Type, "rank %d sends %v, rank %d receives %v", r, code, s.c.Rank, x.edgeCode(1, i))
			case p.direct || p.at+p.size > shmfmt.StageSize:
				later = p
			default:
				to.Unpack(stage[p.at:p.at+p.size], 0)
			}
			if err == nil {
				err = e
			}
		}
		t.place = append(t.place, later)
	}
	return err
}

// lengthClass is the class of an error of a block that is sent in another length than it is received.
func lengthClass(sent, received int) class.Class {
	if sent > received {
		return class.Truncate
	}
	return class.Count
}

// empty copies what this member receives of the bytes of all parcels from lo on that are in the stages.
func (s *slot) empty(x *schedule, lo int) {
	for i, p := range s.neighborhood.place {
		if from, to := max(lo, p.at), min(lo+shmfmt.StageSize, p.at+p.size); from < to && !p.direct {
			x.blockFrom(i).Unpack(s.stage(x.neighbors.Sources[i], s.Number)[from-lo:to-lo], from-p.at)
		}
	}
}

// readDirect copies the blocks that stay out of the parcels from the memory of their senders. Blocks of a
// layout that the kernel does not gather are read in pieces and unpacked.
func (s *slot) readDirect(x *schedule) (err error) {
	t := s.neighborhood
	for i, p := range t.place {
		if !p.direct {
			continue
		}
		r, to := x.neighbors.Sources[i], x.blockFrom(i)
		for at, next := 0, 0; at < p.size && err == nil; at = next {
			list := t.pieces[:0]
			if to.Gathers() {
				var k int
				k, next = to.Blocks(t.pieces[:cap(t.pieces)], at, p.size)
				list = t.pieces[:k]
			} else {
				next = min(at+len(t.packed), p.size)
				list = append(list, t.packed[:next-at])
			}
			if err = s.e.node.Read(int(s.c.Members[r]), list, uint64(p.at+at)); err != nil {
				err = wrong(class.Buffer, "the %d bytes at %#x that rank %d sends cannot be read: %v", p.size, p.at, r, err)
			} else if !to.Gathers() {
				to.Unpack(list[0], at)
			}
		}
	}
	clear(t.pieces[:cap(t.pieces)])
	return err
}

// canRead reports whether this member can read the memory of all its sources, and makes what it needs
// for that.
func (s *slot) canRead(n *comm.Neighbors) bool {
	s.e.p.Lock()
	defer s.e.p.Unlock()
	for _, r := range n.Sources {
		if r >= 0 && r != s.c.Rank && !s.e.node.CanRead(int(s.c.Members[r])) {
			return false
		}
	}
	if s.neighborhood.packed == nil {
		s.neighborhood.pieces, s.neighborhood.packed = make([][]byte, 0, piecesMax), make([]byte, piece)
	}
	return true
}

// pairEdges finds out which entries are for this member. In a grid it knows. In a graph all members
// show their destinations, and the i-th of them that is this member pairs with the i-th source that is
// the other one. If edges are left over, all members have the error.
func (s *slot) pairEdges(n *comm.Neighbors) error {
	t := s.neighborhood
	t.of, t.index, t.apart, t.wrong, t.alone = nil, t.index[:0], false, nil, true // of is set when the members have met
	for _, r := range n.Dests {
		t.alone = t.alone && r >= 0 && r != s.c.Rank
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
	s.Number++
	if err := s.settle(); err != nil {
		return err
	}
	var own tally
	if unpaired != nil {
		own.length = uint64(1 + s.c.Rank)
	}
	if !s.canRead(n) {
		own.flags = outside
	}
	all, err := s.count(own)
	if err != nil {
		return err
	}
	t.of, t.reads = n, all.flags == 0
	if all.length > 0 {
		t.wrong = cmp.Or(unpaired, wrong(class.Topology, "edges do not pair, as rank %d has found", all.length-1))
	}
	return nil
}

// word is the size in bytes of a rank, or number of ranks, that showDests shows.
const word = 4

// destsMax is the most destinations that a member can show, and have entries of.
const destsMax = shmfmt.StageSize/entrySize - 1

// showDests shows the destinations of the member to all others, by rank, after their number.
func (s *slot) showDests(n *comm.Neighbors) error {
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
func (s *slot) findEntries(n *comm.Neighbors) (unpaired error) {
	t, me := s.neighborhood, s.c.Rank
	for range n.Sources {
		t.index = append(t.index, 0)
	}
	for r := range s.cells {
		list := s.stage(r, s.Number)
		dest := func(i int) int { return int(binary.LittleEndian.Uint32(list[(i+1)*word:])) }
		k := int(binary.LittleEndian.Uint32(list[:]))
		if t.apart = t.apart || k > destsMax; t.apart || r == me {
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
			for here++; at < k && dest(at) != me; {
				at++
			}
			if t.index[i] = at; !planted.EntryOfTheFirst {
				at++
			}
		}
		if there != here && unpaired == nil {
			unpaired = wrong(class.Topology, "rank %d has %d edges to rank %d, which has %d from it", r, there, me, here)
		}
	}
	return unpaired
}
