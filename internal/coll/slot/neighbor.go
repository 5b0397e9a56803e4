package slot

import (
	"cmp"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/args"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// A blocking neighbourhood collective goes through the stages of a slot. What a member sends is a parcel: an
// entry, which says where in the parcel the blocks are, and the blocks. If they have different lengths there is
// an entry for each. A member puts its parcel into its stage, publishes its number, and waits for the numbers of
// its sources only. So with more members than cores a member that gets a core goes through as many
// collectives as its neighbours have entered, mostly two, before it has to yield: the others are no farther
// behind than the topology makes them. The member knows from the topology, or has found out at the first
// collective, which of the blocks of a source is its own.
//
// A parcel that is longer than a stage goes through it in steps. The first step uses the stage of the number, and
// the further ones use both in turn. The member shows each step (Shown), and fills a stage again when its
// destinations have taken the step that was there (Taken). A member fills its own step before it takes
// those of its sources with the same number, so that members do not wait for each other in a circle.
//
// Long blocks in contiguous memory stay out of the parcel, if all members can read the memory of their
// sources. Their entries are addresses, and each member copies such a block directly, once, by the kernel.
// A member whose destinations have to read its memory, or further steps, returns when they have taken all.
//
// Rejected: steps in which all members meet. There the slowest of all members holds up each, and a core switches to
// each of its processes in each collective.
type neighborhood struct {
	edges          Edges           // of the current collective
	of             *comm.Neighbors // those that the other fields are about
	index          []int           // by source: which of its blocks is for this member
	place          []place         // by source: where the block is
	sources, dests []int           // the other members among the sources and destinations, each once
	refused        []int           // sources that take no part in the current collective
	alone          bool            // no destination is missing, or the member itself
	reads          bool            // all members can read the memory of their sources
	apart          bool            // a member has too many neighbours: all collectives go by messages
	wrong          error           // edges do not pair
	tells          [2]bool         // what this member tells all others of its edges: they do not pair; it can read
	way            copies          // of blocks of which it depends on the machine how they are copied best
	pieces         [][]byte        // memory that a block is read into
	packed         []byte          // the same for a layout

	last     uint64         // the number of the last neighbourhood collective
	row      int            // as many collectives before the current one were neighbourhood collectives, too
	beside   []*shmfmt.Cell // of the members on the core of this one, when it looked
	nextLook uint64         // the number from which on it looks again
	backoff  uint64         // as in SlotState
	nextSpin uint64         // the number from which on it spins again
}

const (
	// directMin is the length in bytes from which blocks stay out of the parcel. Those of copiesMin and
	// more stay out if that takes less time: see copies.
	directMin = 256 << 10
	// piecesMax is the number of pieces of memory in one call of the kernel.
	piecesMax = 64
	// packedPiece is the length in bytes of the pieces in which a block is read that the kernel does not gather.
	packedPiece = 64 << 10
	// stepBits is the number of bits of a step in Shown and Taken. The others are the number of the collective.
	stepBits = 24
)

// Edges is what a member gives to a neighbourhood collective, and gets from it.
type Edges struct {
	neighbors *comm.Neighbors
	kind      kind.Kind
	To, From  Blocks // by destination and by source
}

// Blocks are what a member sends along its edges, or receives along them.
type Blocks struct {
	All            mem.Mem     // their memory; nothing in an Alltoallw
	Code           dtype.Code  // of the elements
	Same           bool        // the whole memory goes along each edge
	Each           int         // the length of each in bytes, if all are equal
	Width          int         // of an element in bytes, where there are Counts
	Counts, Displs []int       // in elements; nil if all are equal
	Sides          []args.Side // of an Alltoallw, instead of the others
}

// at returns the i-th block, and codeAt the code of its elements.
func (b *Blocks) at(i int) mem.Mem {
	switch {
	case b.Sides != nil:
		return b.Sides[i].Mem
	case b.Same:
		return b.All
	}
	return args.Block(b.All, i, b.Each, b.Width, b.Counts, b.Displs)
}

func (b *Blocks) codeAt(i int) dtype.Code {
	if b.Sides != nil {
		return b.Sides[i].Code
	}
	return b.Code
}

// copyOwn copies the blocks of the edges from the member to itself.
func (x *Edges) copyOwn(me int) (err error) {
	x.neighbors.Own(me, func(to, from int) {
		dst, src := x.From.at(from), x.To.at(to)
		if dst.Len() == src.Len() {
			mem.Copy(dst, src)
		} else if err == nil {
			err = class.Errorf(class.Count, "rank %d sends itself %d bytes and receives %d", me, src.Len(), dst.Len())
		}
	})
	return err
}

// AmongNeighbors returns where the caller puts the edges of a neighbourhood collective of a kind.
func (s *Slot) AmongNeighbors(k kind.Kind, n *comm.Neighbors) *Edges {
	if s.neighborhood == nil {
		s.neighborhood = new(neighborhood)
	}
	x := &s.neighborhood.edges
	x.kind, x.neighbors = k, n
	return x
}

// ExchangeNeighbors carries out the collective x, which AmongNeighbors has returned. If it returns false
// it has moved nothing, at all members, and they have to use messages.
func (s *Slot) ExchangeNeighbors(x *Edges) (done bool, err error) {
	t := s.neighborhood
	s.Kind = uint8(x.kind)
	if t.of != x.neighbors {
		err = s.pairEdges(x.neighbors)
	}
	if err == nil && !t.apart {
		err = t.wrong
		if err == nil {
			s.pairwise = true
			err = s.passParcels(x)
			s.pairwise = false
		}
	}
	x.To, x.From = Blocks{}, Blocks{}
	return err != nil || !t.apart, s.Ended(err)
}

func (s *Slot) passParcels(x *Edges) error {
	t := s.neighborhood
	t.row++
	if t.last != s.Number {
		t.row = 0
	}
	s.Number++
	t.last = s.Number
	if err := s.vacate(0); err != nil {
		return err
	}
	parcel := s.fill(x, 0)
	shmfmt.Publish(&s.own.Number, s.Number)
	found, err := s.meetSources()
	if err != nil {
		return err
	}
	last, reads, wrong := s.takeEntries(x)
	for step := 1; step <= max(parcel.last(), last); step++ {
		shmfmt.Publish(&s.own.Taken, s.at(step))
		if step <= parcel.last() {
			if err := s.vacate(step); err != nil {
				return err
			}
			s.fill(x, step)
			shmfmt.Publish(&s.own.Shown, s.at(step))
		}
		if err := s.takeStep(x, step); err != nil {
			return err
		}
	}
	if reads {
		wrong = cmp.Or(wrong, s.readDirect(x))
	}
	shmfmt.Publish(&s.own.Taken, s.after())
	var own error
	if !t.alone {
		own = x.copyOwn(s.me)
	}
	if (parcel.outside || parcel.last() > 0) && !planted.ReadUnmet {
		for _, r := range t.dests {
			if err := s.await(&s.cells[r].Taken, s.after()); err != nil {
				return err
			}
		}
	}
	s.wake()
	t.way.ended()
	return cmp.Or(found, wrong, own)
}

// at is a step of the current collective in a word, and after is the end of the collective.
func (s *Slot) at(step int) uint64 { return s.Number<<stepBits | uint64(step) }
func (s *Slot) after() uint64      { return (s.Number + 1) << stepBits }

// vacate waits until the own stage for a step of the current collective may be filled: all that may read it
// have left the last but one collective, the last one, or the last but one step.
func (s *Slot) vacate(step int) error {
	t := s.neighborhood
	if planted.StageRefilled {
		return nil
	}
	if step > 1 {
		for _, r := range t.dests {
			if err := s.await(&s.cells[r].Taken, s.at(step-1)); err != nil {
				return err
			}
		}
		return nil
	}
	entered := s.Number - 1 + uint64(step)
	switch {
	case t.row+step >= 2: // neighbourhood collectives, in which only destinations read the stage
		for _, r := range t.dests {
			if err := s.await(&s.cells[r].Number, entered); err != nil && !agree.IsRefusal(err) {
				return err
			}
		}
	case s.Known < entered:
		for _, c := range s.others {
			if err := s.await(&c.Number, entered); err != nil && !agree.IsRefusal(err) {
				return err
			}
		}
	}
	return nil
}

// meetSources waits until all sources have shown their parcels. It notes those that refuse the collective, and
// returns the error of one of them.
func (s *Slot) meetSources() (found, err error) {
	t := s.neighborhood
	t.refused = t.refused[:0]
	if s.Cores > 0 {
		s.spinForSources()
	}
	for _, r := range t.sources {
		if err := s.await(&s.cells[r].Number, s.Number); agree.IsRefusal(err) {
			t.refused, found = append(t.refused, r), err
		} else if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// spinForSources is spin for sources. A yield helps only if a member on the same core is behind. So a member looks
// now and then which members these are, and spins unless one of them is.
func (s *Slot) spinForSources() {
	t := s.neighborhood
	if s.Number >= t.nextLook {
		t.nextLook = s.Number + BalanceEvery
		s.node.Balance()
		t.beside = t.beside[:0]
		for r, m := range s.members {
			if r != s.me && s.node.Beside(s.node.LocalIndex(int(m))) {
				t.beside = append(t.beside, s.cells[r])
			}
		}
	}
	if s.Number < t.nextSpin {
		return
	}
	for _, c := range t.beside {
		if c.Number.Load() < s.Number {
			return
		}
	}
	for i, k := 0, 0; k < Spins; k++ {
		for i == len(t.sources) || s.cells[t.sources[i]].Number.Load() >= s.Number {
			if i == len(t.sources) {
				t.backoff = 0
				return
			}
			i++
		}
	}
	t.backoff = min(2*t.backoff+1, BackOffMax)
	t.nextSpin = s.Number + 1 + t.backoff
}

// takeEntries finds the blocks for this member, and copies those that are in the first step as a whole. A
// block of another length or of other elements than are received is an error, and is not copied. last is the last step with a
// block for this member, and reads says that blocks are outside of the parcels.
func (s *Slot) takeEntries(x *Edges) (last int, reads bool, err error) {
	t := s.neighborhood
	t.place = t.place[:0]
	for i, r := range x.neighbors.Sources {
		var later place // nothing
		if r >= 0 && r != s.me && (len(t.refused) == 0 || !slices.Contains(t.refused, r)) {
			to := x.From.at(i)
			p, code := s.blockIn(r, t.index[i])
			var e error
			switch {
			case p.size != to.Len():
				e = class.Errorf(lengthClass(p.size, to.Len()), "rank %d sends %d bytes, rank %d receives %d", r, p.size, s.me, to.Len())
			case code.Differs(x.From.codeAt(i)):
				e = class.Errorf(class.Type, "rank %d sends %v, rank %d receives %v", r, code, s.me, x.From.codeAt(i))
			case p.direct:
				later, reads = p, true
			case p.at < shmfmt.Line:
				to.Unpack(s.cells[r].Parcels[s.Number&1][p.at:p.at+p.size], 0)
			case p.last() > 0:
				later, last = p, max(last, p.last())
			default:
				to.Unpack(s.stage(r, s.Number)[p.at-shmfmt.Line:][:p.size], 0)
			}
			if err == nil {
				err = e
			}
		}
		t.place = append(t.place, later)
	}
	if last > 0 {
		s.empty(x, 0)
	}
	return last, reads, err
}

// lengthClass is the class of an error of a block that is sent in another length than it is received.
func lengthClass(sent, received int) class.Class {
	if sent > received {
		return class.Truncate
	}
	return class.Count
}

// takeStep waits for a step of all sources that have a part of a block for this member there, and copies it.
func (s *Slot) takeStep(x *Edges, step int) error {
	for i, p := range s.neighborhood.place {
		if !p.direct && p.size > 0 && stepOf(p.at) <= step && step <= p.last() {
			if err := s.await(&s.cells[x.neighbors.Sources[i]].Shown, s.at(step)); err != nil {
				return err
			}
		}
	}
	s.empty(x, step)
	return nil
}

// empty copies what this member receives of a step from the stages.
func (s *Slot) empty(x *Edges, step int) {
	lo := shmfmt.Line + step*shmfmt.StageSize
	for i, p := range s.neighborhood.place {
		if from, to := max(lo, p.at), min(lo+shmfmt.StageSize, p.at+p.size); from < to && !p.direct {
			stage := s.stage(x.neighbors.Sources[i], s.Number+uint64(step))
			x.From.at(i).Unpack(stage[from-lo:to-lo], from-p.at)
		}
	}
}

// readDirect copies the blocks that stay out of the parcels from the memory of their senders. Blocks of a
// layout that the kernel does not gather are read in pieces and unpacked.
func (s *Slot) readDirect(x *Edges) (err error) {
	t := s.neighborhood
	for i, p := range t.place {
		if !p.direct {
			continue
		}
		r, to := x.neighbors.Sources[i], x.From.at(i)
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
			err = s.node.Read(int(s.members[r]), list, uint64(p.at+at))
			if err != nil {
				err = class.Errorf(class.Buffer, "the %d bytes at %#x that rank %d sends cannot be read: %v", p.size, p.at, r, err)
			} else if !to.Gathers() {
				to.Unpack(list[0], at)
			}
		}
	}
	clear(t.pieces[:cap(t.pieces)])
	return err
}
