package file

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma"
)

// stage is memory of every member that all members of the file map, where they share a node. A
// collective access in two phases needs no messages then: each member copies its bytes to the
// aggregators' stages, or from there, and each aggregator makes system calls on its own.
//
// A stage has two halves, used in turn, so that one barrier a round is enough and members copy while
// aggregators write: when a member has passed the barrier of a round, all have finished with the
// half of the previous round.
//
// The stage is made by the first access that needs it, and made again by one that needs more, up to
// cb_buffer_size. An access that does not block uses what there is, since it cannot make a window.
type stage struct {
	view    *rma.View
	room    int64    // bytes of data of a half; 0 without a stage
	mems    [][]byte // by rank
	refused bool     // some member does not map all stages, or has no memory for its own
}

// half is one half of the stage of a member.
type half struct {
	state *halfState
	cover coverage
	data  []byte
}

// halfState is what an aggregator tells of a half that it has read.
type halfState struct {
	end atomic.Int64 // offset in the file up to which the half has what the file has
}

const (
	halfHeader = 64 // bytes of halfState, which has a cache line of its own
	stageLeast = 64 << 10
)

// halfBytes is the memory of a half with n bytes of data.
func halfBytes(n int64) int64 { return halfHeader + coverageBytes(n) + n }

// roomOf is the room of a stage that takes at most n bytes, at least a page.
func roomOf(n int64) int64 {
	return max((n-2*halfHeader)*4/9&^(pageSize-1), pageSize)
}

// stageFor returns the room of the stage that an access uses whose aggregators have up to each bytes,
// with buffers of at most buffer bytes; 0 if it uses none. All members decide the same.
func (x *exchange) stageFor(each, buffer int64) (int64, error) {
	f := x.f
	s := &f.stage
	if s.refused || f.far() {
		return 0, nil
	}
	most := roomOf(buffer)
	want := int64(stageLeast)
	for want < min(each, most) {
		want *= 2
	}
	want = min(want, most)
	if s.room < want && !x.apart {
		if err := f.makeStage(want); err != nil {
			return 0, err
		}
	}
	return min(s.room, most), nil
}

// makeStage makes the stage: collective.
func (f *File) makeStage(room int64) error {
	s := &f.stage
	if err := s.close(); err != nil {
		return err
	}
	v, err := f.e.rma.Create(f.c, rma.Spec{Flavor: rma.Allocated, DispUnit: 1, Size: 2 * halfBytes(room)})
	if err != nil {
		s.refused = classOf(err) == class.NoMem
		if s.refused {
			return nil // all have this error
		}
		return err
	}
	s.view, s.mems = v, make([][]byte, f.c.Size())
	mapped := int64(1)
	for r := range s.mems {
		s.mems[r], _, err = v.Query(r)
		if err != nil || s.mems[r] == nil {
			mapped = 0
		}
	}
	x := &exchange{f: f, call: call.CollectiveAccess}
	told, err := x.allgather([]int64{mapped})
	if err != nil {
		return err
	}
	for _, m := range told {
		if m == 0 {
			s.refused = true
			return s.close()
		}
	}
	s.room = room
	return nil
}

// close frees the stage, if there is one: collective.
func (s *stage) close() error {
	v := s.view
	s.view, s.mems, s.room = nil, nil, 0
	if v == nil {
		return nil
	}
	return v.Free()
}

// half is half i of the stage of a rank.
func (s *stage) half(rank, i int, shift uint8) half {
	m := s.mems[rank][int64(i)*halfBytes(s.room):]
	words := coverageBytes(s.room)
	return half{
		state: (*halfState)(unsafe.Pointer(&m[0])),
		cover: coverage{unsafe.Slice((*uint64)(unsafe.Pointer(&m[halfHeader])), words/8), shift},
		data:  m[halfHeader+words : halfHeader+words+s.room],
	}
}

// staged is an access in two phases through stages.
type staged struct {
	x    *exchange
	a    *collectiveAccess
	d    domains
	p    plan
	end  int64 // position
	pack bool  // memory is in so short blocks that it is packed run by run
}

// stagedBlock is the average length of blocks of memory from which on they are copied one by one.
const stagedBlock = 64

// staged makes an access through the stages.
func (x *exchange) staged(a *collectiveAccess, p plan) (int64, error) {
	s := &staged{x: x, a: a, d: p.domains(x.f.c.Size()), p: p, end: a.at + int64(a.m.Len())}
	if !a.m.Contiguous() && a.m.Len() > 0 {
		var list [batch][]byte
		k, next := a.m.Blocks(list[:], 0, a.m.Len())
		s.pack = next < k*stagedBlock
	}
	if a.d == Write {
		return s.write()
	}
	return s.read()
}

func (s *staged) write() (int64, error) {
	var failure error
	for round := range s.d.rounds {
		s.each(round, s.pieces)
		if err := s.x.barrier(); err != nil {
			return 0, err
		}
		if h, lo, hi, mine := s.own(round); mine {
			if failure == nil {
				failure = s.flush(&h, lo, hi)
			}
			h.cover.clear(hi - lo)
		}
	}
	return s.end - s.a.at, s.x.outcome(failure)
}

// read reads the domains of a round while members copy what was read in the round before. What
// members want of a round they mark one round earlier, unless the plan is to read all.
func (s *staged) read() (moved int64, err error) {
	var failure error
	mark := func(round int) {
		if round < s.d.rounds && !s.p.whole {
			s.each(round, func(_ *half, m *marker, lo, from, to int64) { s.marks(m, lo, from, to) })
		}
	}
	mark(0)
	for round := range s.d.rounds {
		if round == 0 && !s.p.whole {
			if err := s.x.barrier(); err != nil {
				return 0, err
			}
		}
		if h, lo, hi, mine := s.own(round); mine {
			failure = firstError(failure, s.fill(&h, lo, hi))
		}
		mark(round + 1)
		if err := s.x.barrier(); err != nil {
			return moved, err
		}
		s.each(round, func(h *half, _ *marker, lo, from, to int64) {
			to = min(to, max(from, s.a.v.Position(h.state.end.Load())))
			s.pieces(h, nil, lo, from, to)
			moved += to - from
		})
	}
	return moved, s.x.outcome(failure)
}

// own returns the half of this member in a round, and the domain; mine is false if it has none.
func (s *staged) own(round int) (h half, lo, hi int64, mine bool) {
	rank := s.x.f.c.Rank
	for i := range s.d.aggregators {
		if s.d.rank(i) == rank {
			lo = s.d.begin(round, i)
			return s.x.f.stage.half(rank, round%2, s.p.shift), lo, lo + s.d.size, true
		}
	}
	return half{}, 0, 0, false
}

// each calls do for the domains of a round in which this member has positions [from, to), beginning
// with its own: members copy to different stages at the same time.
func (s *staged) each(round int, do func(h *half, m *marker, lo, from, to int64)) {
	n, v := s.d.aggregators, s.a.v
	first := s.x.f.c.Rank * n / s.d.members
	for k := range n {
		i := (first + k) % n
		lo := s.d.begin(round, i)
		from := min(max(v.Position(lo), s.a.at), s.end)
		to := min(max(v.Position(lo+s.d.size), s.a.at), s.end)
		if from >= to {
			continue
		}
		h := s.x.f.stage.half(s.d.rank(i), round%2, s.p.shift)
		m := marker{c: &h.cover}
		do(&h, &m, lo, from, to)
		m.flush()
	}
}

// pieces copies positions [from, to) between memory and a half with the domain from byte lo on. It
// marks what it copies to the half.
func (s *staged) pieces(h *half, m *marker, lo, from, to int64) {
	var runs [batch]run
	var blocks [batch][]byte
	var b []byte // the rest of the present block of memory
	k, i, got := 0, 0, int(from-s.a.at)
	whole, contiguous := s.a.m.Bytes()
	for at := from; at < to; {
		n, next := s.a.v.runs(runs[:], at, to-at)
		if m != nil {
			m.runs(runs[:n], lo)
		}
		switch {
		case contiguous && m != nil:
			rest := whole[at-s.a.at:]
			for _, r := range runs[:n] {
				copy(h.data[r.Off-lo:], rest[:r.Len])
				rest = rest[r.Len:]
			}
			at = next
			continue
		case contiguous:
			rest := whole[at-s.a.at:]
			for _, r := range runs[:n] {
				copy(rest[:r.Len], h.data[r.Off-lo:])
				rest = rest[r.Len:]
			}
			at = next
			continue
		}
		for _, r := range runs[:n] {
			part := h.data[r.Off-lo : r.Off-lo+r.Len]
			pos := int(at - s.a.at)
			at += r.Len
			switch {
			case s.pack && m != nil:
				s.a.m.Pack(part, pos)
				continue
			case s.pack:
				s.a.m.Unpack(part, pos)
				continue
			}
			for len(part) > 0 {
				if len(b) == 0 {
					if i == k {
						k, got = s.a.m.Blocks(blocks[:], got, int(to-s.a.at))
						i = 0
					}
					b = blocks[i]
					i++
				}
				c := 0
				if m != nil {
					c = copy(part, b)
				} else {
					c = copy(b, part)
				}
				part, b = part[c:], b[c:]
			}
		}
		at = next
	}
}

// marks marks positions [from, to) in a domain from byte lo on.
func (s *staged) marks(m *marker, lo, from, to int64) {
	var runs [batch]run
	for at := from; at < to; {
		n, next := s.a.v.runs(runs[:], at, to-at)
		m.runs(runs[:n], lo)
		at = next
	}
}

// runs returns runs of the file from a position on, at most len(dst) and limit bytes, and the position behind
// them.
func (v *View) runs(dst []run, at, limit int64) (n int, next int64) {
	if v.dense {
		dst[0] = run{Off: v.first + at, Len: limit}
		return 1, at + limit
	}
	n, next = v.tiles.Runs(dst, at, limit)
	for i := range dst[:n] {
		dst[i].Off += v.Disp
	}
	return n, next
}

// flush writes what members have copied to a half with the domain [lo, hi).
func (s *staged) flush(h *half, lo, hi int64) error {
	size := hi - lo
	for at := int64(0); at < size; {
		from, to := h.cover.next(at, size, 0)
		if planted.HoleWritten && from > at && at > 0 {
			from--
		}
		if from < to {
			if _, err := s.x.f.span(h.data[from:to], lo+from, true); err != nil {
				return err
			}
		}
		at = to
	}
	return nil
}

// fill reads what members want of a domain, and short holes.
func (s *staged) fill(h *half, lo, hi int64) error {
	hole := int64(0)
	if s.a.h.Sieve != Disable {
		hole = sieveHole
	}
	size := hi - lo
	h.state.end.Store(hi)
	if s.p.whole {
		from, to := min(max(s.p.lo-lo, 0), size), min(max(s.p.hi-lo, 0), size)
		n, err := s.x.f.span(h.data[from:to], lo+from, false)
		if err != nil || n < to-from {
			h.state.end.Store(lo + from + n)
		}
		return err
	}
	defer h.cover.clear(size)
	for at := int64(0); at < size; {
		from, to := h.cover.next(at, size, hole)
		if from < to {
			n, err := s.x.f.span(h.data[from:to], lo+from, false)
			if err != nil || n < to-from {
				h.state.end.Store(lo + from + n)
				return err
			}
		}
		at = to
	}
	return nil
}
