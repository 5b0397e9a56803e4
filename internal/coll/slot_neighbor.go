package coll

import (
	"cmp"
	"encoding/binary"

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
// Lengths differ between members that are no neighbours. Therefore the first step tells all members
// the length of the longest parcel: it determines the number of steps, in which all take part, and
// whether the blocks go by messages instead.
type near struct {
	blocks schedule        // never begun: the arguments of the current collective
	of     *comm.Neighbors // those that the other fields are about
	entry  []int           // by source: the entry in its parcel that is for this member
	span   []span          // by source: the place of the block in its parcel
	apart  bool            // a member has too many neighbours: all collectives go by messages
	wrong  error           // edges do not pair
}

// span is a range of a parcel.
type span struct{ at, size int }

const (
	// entrySize is the size of an entry in bytes: 56 bits for the place of the block and 8 for the
	// code of its elements, and 64 for its length.
	entrySize = 16
	// nearMax is the longest parcel in bytes.
	nearMax = 4 << 20
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
	longest, err := s.longest(s.feed(x, own[:], 0))
	switch {
	case err != nil:
		return true, err
	case longest > nearMax || longest > SlotPair && len(s.cells) == 2:
		return false, nil
	}
	found := s.entries(x)
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
	return true, cmp.Or(found, x.err)
}

// longest publishes the length of the own parcel and returns that of the longest one, once all members
// have published theirs.
func (s *slot) longest(n int) (int, error) {
	turn := s.Number & 1
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	s.own.PutShort(s.Number, s.terms.said, b[:])
	shmfmt.Publish(&s.own.Number, s.Number)
	all := func() (most uint64) {
		for _, c := range s.cells {
			most = max(most, binary.LittleEndian.Uint64(c.Short[turn][:]))
		}
		return most
	}
	if s.inCells() {
		err := s.gathered(s.Number)
		s.wake()
		if err == nil {
			err = s.judge()
		}
		return int(all()), err
	}
	result := s.head.Release.Data[:8]
	if s.arrive() {
		most, err := all(), s.judge()
		binary.LittleEndian.PutUint64(result, most)
		s.release(err)
		return int(most), err
	}
	if err := s.released(); err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint64(result)), nil
}

// feed copies the bytes of the own parcel from lo on to own, as many as it has room for, and returns the
// length of the parcel.
func (s *slot) feed(x *schedule, own []byte, lo int) int {
	me := s.c.Rank
	dests := x.neighbors.Dests
	at := aligned(len(dests) * entrySize)
	same := x.kind == NeighborAllgather || x.kind == NeighborAllgatherv
	fed := false
	for i, r := range dests {
		var b mem.Mem
		if r >= 0 && r != me {
			b = x.blockTo(i)
		}
		n := b.Len()
		if lo == 0 {
			e := own[i*entrySize:][:entrySize]
			binary.LittleEndian.PutUint64(e, uint64(at)|uint64(x.edgeCode(0, i))<<56)
			binary.LittleEndian.PutUint64(e[8:], uint64(n))
		}
		if n == 0 || same && fed {
			continue
		}
		if from, to := max(lo, at), min(lo+len(own), at+n); from < to {
			b.Pack(own[from-lo:to-lo], from-at)
		}
		if fed = true; !same {
			at += aligned(n)
		}
	}
	if same {
		at += x.Send.Len()
	}
	return at
}

// aligned rounds the length of a block up: long blocks begin with a cache line.
func aligned(n int) int {
	if n < shmfmt.Line {
		return (n + 7) &^ 7
	}
	return (n + shmfmt.Line - 1) &^ (shmfmt.Line - 1)
}

// entries reads the entries for this member. A block of another length or of other elements than are
// received is an error, and is not copied.
func (s *slot) entries(x *schedule) (err error) {
	t := s.near
	t.span = t.span[:0]
	for i, r := range x.neighbors.Sources {
		if r < 0 || r == s.c.Rank {
			t.span = append(t.span, span{})
			continue
		}
		e := s.stage(r, s.Number)[t.entry[i]*entrySize:][:entrySize]
		w := binary.LittleEndian.Uint64(e)
		there := span{int(w &^ (0xff << 56)), int(binary.LittleEndian.Uint64(e[8:]))}
		code, want := dtype.Code(w>>56), x.blockFrom(i).Len()
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
		default:
			t.span = append(t.span, there)
			continue
		}
		t.span = append(t.span, span{})
	}
	return err
}

// drain copies what this member receives of the bytes of all parcels from lo on that are in the stages.
func (s *slot) drain(x *schedule, lo int) {
	for i, p := range s.near.span {
		if from, to := max(lo, p.at), min(lo+shmfmt.StageSize, p.at+p.size); from < to {
			x.blockFrom(i).Unpack(s.stage(x.neighbors.Sources[i], s.Number)[from-lo:to-lo], from-p.at)
		}
	}
}

// pairEdges finds out which entries are for this member. In a grid it knows. In a graph all members
// show their destinations, and the i-th of them that is this member pairs with the i-th source that is
// the other one. If edges are left over, all members have the error.
func (s *slot) pairEdges(n *comm.Neighbors) error {
	t, me := s.near, s.c.Rank
	t.of, t.entry, t.apart, t.wrong = n, t.entry[:0], false, nil
	if n.Grid {
		for i := range n.Sources {
			t.entry = append(t.entry, n.Arrival(i))
		}
		return nil
	}
	for range n.Sources {
		t.entry = append(t.entry, 0)
	}
	t.of = nil // until the members have met
	own, err := s.begin()
	if err != nil {
		return err
	}
	const word = 4
	most := shmfmt.StageSize/entrySize - 1
	binary.LittleEndian.PutUint32(own[:], uint32(min(len(n.Dests), most+1)))
	if len(n.Dests) <= most {
		for i, r := range n.Dests {
			binary.LittleEndian.PutUint32(own[(i+1)*word:], uint32(r))
		}
	}
	if err := s.show(); err != nil {
		return err
	}
	var unpaired error
	for r := range s.cells {
		list := s.stage(r, s.Number)
		k := int(binary.LittleEndian.Uint32(list[:]))
		if t.apart = t.apart || k > most; t.apart || r == me {
			continue
		}
		there, here, at := 0, 0, 0
		for i := range k {
			if int(binary.LittleEndian.Uint32(list[(i+1)*word:])) == me {
				there++
			}
		}
		for i, source := range n.Sources {
			if source != r {
				continue
			}
			for here++; at < k && int(binary.LittleEndian.Uint32(list[(at+1)*word:])) != me; {
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
	s.Number++
	if err := s.settle(); err != nil {
		return err
	}
	finder := 0 // 1 + rank
	if unpaired != nil {
		finder = 1 + me
	}
	if finder, err = s.longest(finder); err != nil {
		return err
	}
	if t.of = n; finder > 0 {
		t.wrong = cmp.Or(unpaired, wrong(class.Topology, "edges do not pair, as rank %d has found", finder-1))
	}
	return nil
}
