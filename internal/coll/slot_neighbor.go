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
// What a member sends is a parcel: an entry for each destination, which says where in the parcel the
// block is, and the blocks. The members copy their parcels through their stages in steps. In each step
// all members meet, so that with more members than cores one switch to the last one is enough, and
// each copies what it needs from the stages of its sources. A member knows from the topology, or has
// found out at the first collective, which entry of a source is its own.
//
// Long blocks in contiguous memory stay out of the parcel, if all members can read the memory of their
// sources. Their entries are addresses, and each member copies such a block directly, once, by the kernel.
// Then all members meet once more, so that none returns while its memory is read.
//
// Lengths differ between members that are no neighbours. Therefore the first step tells all members
// the length of the longest parcel: it determines the number of steps, in which all take part, and
// whether the blocks go by messages instead.
type near struct {
	blocks schedule        // never begun: the arguments of the current collective
	of     *comm.Neighbors // those that the other fields are about
	entry  []int           // by source: the entry in its parcel that is for this member
	span   []span          // by source: the place of the block in its parcel
	reads  bool            // all members can read the memory of their sources
	apart  bool            // a member has too many neighbours: all collectives go by messages
	wrong  error           // edges do not pair
	pieces [][]byte        // memory that a block is read into
	packed []byte          // the same for a layout
}

// span is a range of a parcel, or of the memory of its sender.
type span struct {
	at, size int
	direct   bool
}

const (
	// entrySize is the size of an entry in bytes: 56 bits for the place of the block and 8 for the
	// code of its elements, and 64 for its length, of which the highest says that the place is an
	// address.
	entrySize = 16
	direct    = 1 << 63
	// directMin is the length in bytes from which blocks stay out of the parcel. Two copies within the
	// caches take less time than one by the kernel: with 64 KiB for each of 4 or 26 neighbours 0.6 of
	// that.
	directMin = SlotBlock
	// piecesMax is the number of pieces of memory in one call of the kernel.
	piecesMax = 64
	// nearMax is the longest parcel in bytes.
	nearMax = 16 << 20
)

// amongNeighbors returns where the caller puts the arguments of a collective of a kind.
func (s *slot) amongNeighbors(k Kind) *schedule {
	if s.near == nil {
		s.near = &near{blocks: schedule{e: s.e}}
	}
	x := &s.near.blocks
	x.c, x.kind, x.neighbors = s.c, k, s.c.Neighbors
	return x
}

// exchangeNeighbors carries out the collective x, which amongNeighbors has returned. If it returns false
// it has moved nothing, at all members, and they have to use messages.
func (s *slot) exchangeNeighbors(x *schedule) (done bool, err error) {
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
	t := s.near
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
	most, err := s.most(s.feed(x, own[:], 0))
	longest := int(most[0])
	switch {
	case err != nil:
		return true, err
	case longest > nearMax || longest > SlotPair && len(s.cells) == 2:
		return false, nil
	}
	found := cmp.Or(s.entries(x), s.readDirect(x))
	for lo := 0; ; {
		s.drain(x, lo)
		if lo += shmfmt.StageSize; lo >= longest {
			break
		}
		if own, err = s.begin(); err != nil {
			return true, err
		}
		s.feed(x, own[:], lo)
		if err = s.show(); err != nil {
			return true, err
		}
	}
	x.ownEdges(mem.Copy)
	if most[1] != 0 && !planted.ReadUnmet { // some blocks were read directly
		if _, err = s.begin(); err == nil {
			err = s.show()
		}
	}
	return true, cmp.Or(err, found, x.err)
}

// most publishes two numbers and returns the largest of each that a member has published, once all have.
func (s *slot) most(own [2]uint64) (all [2]uint64, err error) {
	turn := s.Number & 1
	var b [16]byte
	putTwo(b[:], own)
	s.own.PutShort(s.Number, s.terms.said, b[:])
	shmfmt.Publish(&s.own.Number, s.Number)
	result := s.head.Release.Data[:len(b)]
	switch {
	case s.inCells():
		err = s.gathered(s.Number)
		s.wake()
	case s.arrive():
	default:
		if err = s.released(); err == nil {
			all = two(result)
		}
		return all, err
	}
	if err == nil {
		for _, c := range s.cells {
			k := two(c.Short[turn][:])
			all = [2]uint64{max(all[0], k[0]), max(all[1], k[1])}
		}
		err = s.judge()
	}
	if !s.inCells() {
		putTwo(result, all)
		s.release(err)
	}
	return all, err
}

func putTwo(b []byte, n [2]uint64) {
	binary.LittleEndian.PutUint64(b, n[0])
	binary.LittleEndian.PutUint64(b[8:], n[1])
}

func two(b []byte) [2]uint64 {
	return [2]uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// feed copies the bytes of the own parcel from lo on to own, as many as it has room for, and returns the
// length of the parcel, and 1 if blocks stay out of it.
func (s *slot) feed(x *schedule, own []byte, lo int) [2]uint64 {
	me := s.c.Rank
	dests := x.neighbors.Dests
	at, out := aligned(len(dests)*entrySize), uint64(0)
	same := x.kind == NeighborAllgather || x.kind == NeighborAllgatherv
	end := at // of the parcel
	for i, r := range dests {
		var b mem.Mem
		if r >= 0 && r != me {
			b = x.blockTo(i)
		}
		n := b.Len()
		place, size := uint64(at), uint64(n)
		if bytes, row := b.Bytes(); n >= directMin && row && s.near.reads {
			place, size, out = uint64(uintptr(unsafe.Pointer(&bytes[0]))), size|direct, 1
			n = 0
		}
		if lo == 0 {
			putTwo(own[i*entrySize:], [2]uint64{place | uint64(x.edgeCode(0, i))<<56, size})
		}
		if n == 0 || same && end > at {
			continue
		}
		if from, to := max(lo, at), min(lo+len(own), at+n); from < to {
			b.Pack(own[from-lo:to-lo], from-at)
		}
		if end = at + n; !same {
			at += aligned(n)
		}
	}
	return [2]uint64{uint64(end), out}
}

// aligned rounds the length of a block up: long blocks begin with a cache line.
func aligned(n int) int {
	if n < shmfmt.Line {
		return (n + 7) &^ 7
	}
	return (n + shmfmt.Line - 1) &^ (shmfmt.Line - 1)
}

// entries reads the entries for this member, and copies the blocks that are in the first stages as a
// whole. A block of another length or of other elements than are received is an error, and is not copied.
func (s *slot) entries(x *schedule) (err error) {
	t := s.near
	t.span = t.span[:0]
	for i, r := range x.neighbors.Sources {
		if r < 0 || r == s.c.Rank {
			t.span = append(t.span, span{})
			continue
		}
		stage, to := s.stage(r, s.Number), x.blockFrom(i)
		e := two(stage[t.entry[i]*entrySize:])
		there := span{int(e[0] &^ (0xff << 56)), int(e[1] &^ direct), e[1]&direct != 0}
		code, want := dtype.Code(e[0]>>56), to.Len()
		wrongly := func(cl class.Class) {
			if err == nil {
				err = wrong(cl, "rank %d sends %d bytes where %d are received", r, there.size, want)
			}
		}
		switch {
		case there.size > want:
			wrongly(class.Truncate)
		case there.size < want:
			wrongly(class.Count)
		case code.Differs(x.edgeCode(1, i)):
			if err == nil {
				err = wrong(class.Type, "rank %d sends %v, rank %d receives %v", r, code, s.c.Rank, x.edgeCode(1, i))
			}
		case there.direct || there.at+there.size > shmfmt.StageSize:
			t.span = append(t.span, there)
			continue
		default:
			to.Unpack(stage[there.at:there.at+there.size], 0)
		}
		t.span = append(t.span, span{})
	}
	return err
}

// drain copies what this member receives of the bytes of all parcels from lo on that are in the stages.
func (s *slot) drain(x *schedule, lo int) {
	for i, p := range s.near.span {
		if from, to := max(lo, p.at), min(lo+shmfmt.StageSize, p.at+p.size); from < to && !p.direct {
			x.blockFrom(i).Unpack(s.stage(x.neighbors.Sources[i], s.Number)[from-lo:to-lo], from-p.at)
		}
	}
}

// readDirect copies the blocks that stay out of the parcels from the memory of their senders. Blocks of a
// layout that the kernel does not gather are read in pieces and unpacked.
func (s *slot) readDirect(x *schedule) (err error) {
	t := s.near
	for i, p := range t.span {
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
	if s.near.packed == nil {
		s.near.pieces, s.near.packed = make([][]byte, 0, piecesMax), make([]byte, piece)
	}
	return true
}

// pairEdges finds out which entries are for this member. In a grid it knows. In a graph all members
// show their destinations, and the i-th of them that is this member pairs with the i-th source that is
// the other one. If edges are left over, all members have the error.
func (s *slot) pairEdges(n *comm.Neighbors) error {
	t := s.near
	t.of, t.entry, t.apart, t.wrong = nil, t.entry[:0], false, nil // of is set when the members have met
	var unpaired error
	if n.Grid {
		for i := range n.Sources {
			t.entry = append(t.entry, n.Arrival(i))
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
	var own [2]uint64
	if unpaired != nil {
		own[0] = uint64(1 + s.c.Rank)
	}
	if !s.canRead(n) {
		own[1] = 1
	}
	all, err := s.most(own)
	if err != nil {
		return err
	}
	t.of, t.reads = n, all[1] == 0
	if all[0] > 0 {
		t.wrong = cmp.Or(unpaired, wrong(class.Topology, "edges do not pair, as rank %d has found", all[0]-1))
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
	t, me := s.near, s.c.Rank
	for range n.Sources {
		t.entry = append(t.entry, 0)
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
			if t.entry[i] = at; !planted.EntryOfTheFirst {
				at++
			}
		}
		if there != here && unpaired == nil {
			unpaired = wrong(class.Topology, "rank %d has %d edges to rank %d, which has %d from it", r, there, me, here)
		}
	}
	return unpaired
}
