package file

import (
	"cmp"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/planted"
)

// A collective access in two phases. The part of the file that all members access is divided into
// domains of at most the size of an aggregator's buffer; in each round every aggregator has one
// domain. Offsets ascend in a view, so what a member accesses in a domain is one range of its
// memory: it goes to the aggregator, or comes from there, without a copy. With it go the runs of
// the file that it belongs to, as progressions of runs of equal lengths.
//
// The aggregator writes the runs, merged where they touch, and none of the holes between them.
// It reads holes between short runs, like any access with data sieving.
//
// A member's memory is used as it is. An aggregator has a buffer for its domain, and one for what it
// receives, whatever the size of the file.

// run is a run of bytes of the file.
type run = dtype.Run

// pageSize is what the ends of domains are multiples of.
const pageSize = 4096

// progression is count runs of length bytes, stride bytes apart, from offset off of the file on.
type progression struct{ off, length, stride, count int64 }

const progressionWords = 4

// progressions describes the runs of positions [at, end) of the view.
func (v *View) progressions(at, end int64) (list []progression) {
	add := func(off, length int64) {
		if k := len(list) - 1; k >= 0 && list[k].length == length {
			switch p := &list[k]; {
			case p.count == 1:
				p.stride, p.count = off-p.off, 2
				return
			case off == p.off+p.count*p.stride:
				p.count++
				return
			}
		}
		list = append(list, progression{off, length, 0, 1})
	}
	if v.dense {
		add(v.first+at, end-at)
		return list
	}
	var runs [batch]run
	for at < end {
		k, next := v.tiles.Runs(runs[:], at, end-at)
		if k == 0 {
			break
		}
		for _, r := range runs[:k] {
			add(v.Disp+r.Off, r.Len)
		}
		at = next
	}
	return list
}

// domains divides [lo, hi) of the file among aggregators.
type domains struct {
	lo, size    int64 // of the first domain of a round, and of every domain
	aggregators int
	rounds      int
	members     int
}

// each is how many bytes of the file an aggregator has in all.
func (p *plan) each() int64 {
	return (p.hi-p.lo&^(pageSize-1)-1)/int64(p.aggregators) + 1
}

// domains returns the domains of a plan.
func (p *plan) domains(members int) domains {
	d := domains{lo: p.lo &^ (pageSize - 1), aggregators: p.aggregators, members: members}
	d.size = (min(p.each(), p.buffer) + pageSize - 1) &^ (pageSize - 1)
	round := d.size * int64(d.aggregators)
	d.rounds = int((p.hi-d.lo-1)/round) + 1
	return d
}

// rank is the member that is aggregator i.
func (d *domains) rank(i int) int { return i * d.members / d.aggregators }

// begin is the offset of the domain of aggregator i in a round.
func (d *domains) begin(round, i int) int64 {
	lo := d.lo + (int64(round)*int64(d.aggregators)+int64(i))*d.size
	if planted.DomainByOne && round+i > 0 {
		lo++
	}
	return lo
}

// phases makes an access in two phases.
func (x *exchange) phases(a *collectiveAccess, p plan) (int64, error) {
	members := x.f.c.Size()
	room, err := x.stageFor(p.each(), p.buffer)
	if err != nil {
		return 0, err
	}
	x.f.tellPlan(a.d, &p, room)
	if room > 0 {
		p.buffer = room
		return x.staged(a, p)
	}
	d := p.domains(members)
	s := &shares{x: x, a: a, d: d, n: members}
	var total int64
	var failure error
	for round := range d.rounds {
		moved, err := s.round(round, failure)
		if err != nil {
			return total, err // the exchange has failed: the members cannot go on
		}
		total += moved
		failure = firstError(failure, s.failure)
	}
	return total, x.outcome(failure)
}

// shares is what a member exchanges with the others in a round.
type shares struct {
	x       *exchange
	a       *collectiveAccess
	d       domains
	n       int   // members
	failure error // of the file, at this aggregator
}

// parcel is progressions of one member, and the bytes that belong to them.
type parcel struct {
	list  []progression
	bytes int64
}

// round makes the accesses of all in one domain of each aggregator.
func (s *shares) round(round int, failed error) (moved int64, err error) {
	a, n := s.a, s.n
	// What this member has in each domain.
	from, to := make([]int64, n), make([]int64, n) // positions, by rank of the aggregator
	sizes := make([]int64, 2*n)
	var words []int64
	metaCounts := make([]int, n)
	end := a.at + int64(a.m.Len())
	for i := range s.d.aggregators {
		r, lo := s.d.rank(i), s.d.begin(round, i)
		from[r], to[r] = min(max(a.v.Position(lo), a.at), end), min(max(a.v.Position(lo+s.d.size), a.at), end)
		if from[r] >= to[r] {
			from[r], to[r] = 0, 0
			continue
		}
		for _, p := range a.v.progressions(from[r], to[r]) {
			words = append(words, p.off, p.length, p.stride, p.count)
			metaCounts[r] += 8 * progressionWords
		}
		sizes[2*r], sizes[2*r+1] = int64(metaCounts[r]), to[r]-from[r]
	}
	theirs, err := s.x.alltoall(sizes)
	if err != nil {
		return 0, err
	}
	parcels, err := s.parcels(words, metaCounts, theirs)
	if err != nil {
		return 0, err
	}
	// An aggregator that cannot use a parcel takes part in the exchange all the same: others wait for it.
	s.failure = s.check(round, parcels)
	if planted.ParcelAbandoned && s.failure != nil {
		return 0, s.failure
	}
	if a.d == Write {
		return s.write(from, to, parcels, firstError(failed, s.failure))
	}
	return s.read(from, to, parcels)
}

// parcels exchanges the progressions. theirs are, for each member, the bytes of its progressions and
// of its data.
func (s *shares) parcels(words []int64, counts []int, theirs []int64) ([]parcel, error) {
	give := make([]byte, 8*len(words))
	encode(give, words)
	recv, total := make([]int, s.n), 0
	for r := range recv {
		recv[r] = int(theirs[2*r])
		total += recv[r]
	}
	got := make([]byte, total)
	args := (&coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(got)}).WithSendBlocks(counts, nil).WithRecvBlocks(recv, nil)
	if err := s.x.do(coll.Alltoallv, &args); err != nil {
		return nil, err
	}
	list, all := make([]parcel, s.n), decode(got)
	for r := range list {
		list[r].bytes = theirs[2*r+1]
		for k := 0; k < recv[r]/8/progressionWords; k++ {
			list[r].list = append(list[r].list, progression{all[0], all[1], all[2], all[3]})
			all = all[progressionWords:]
		}
	}
	return list, nil
}

// check returns an error unless what members say of their accesses is within the domain of this
// aggregator: it is the index into a buffer.
func (s *shares) check(round int, list []parcel) error {
	lo, hi := int64(0), int64(0)
	for i := range s.d.aggregators {
		if s.d.rank(i) == s.x.f.c.Rank {
			lo = s.d.begin(round, i)
			hi = lo + s.d.size
		}
	}
	for r := range list {
		total := int64(0)
		for _, p := range list[r].list {
			span := hi - lo
			if p.length <= 0 || p.length > span || p.count <= 0 || p.count > span || p.stride < 0 || p.stride > span || p.off < lo ||
				p.off > hi || p.off+(p.count-1)*p.stride+p.length > hi || total > list[r].bytes {
				return class.Errorf(class.Intern, "rank %d accesses %d runs of %d bytes, %d apart from byte %d on, in the domain [%d, %d)", r, p.count, p.length, p.stride, p.off, lo, hi)
			}
			total += p.count * p.length
		}
		if total != list[r].bytes {
			return class.Errorf(class.Intern, "rank %d accesses %d bytes and sends %d", r, total, list[r].bytes)
		}
	}
	return nil
}

// blocks returns counts and displacements, in bytes of the member's memory, of the ranges of positions.
func (s *shares) blocks(from, to []int64) (counts, displs []int) {
	counts, displs = make([]int, s.n), make([]int, s.n)
	for r := range counts {
		counts[r] = int(to[r] - from[r])
		if counts[r] > 0 {
			displs[r] = int(from[r] - s.a.at)
		}
	}
	return counts, displs
}

// sizesOf returns the bytes of each parcel, and of all.
func sizesOf(list []parcel) (counts []int, total int) {
	counts = make([]int, len(list))
	for r := range list {
		counts[r] = int(list[r].bytes)
		total += counts[r]
	}
	return counts, total
}

// extent returns the bytes of the file that parcels are in, and their runs in the order of offsets,
// merged where they touch or overlap, or where the hole between them is at most as long as given.
func extent(list []parcel, hole int64) (lo, hi int64, runs []run) {
	for _, p := range list {
		for _, g := range p.list {
			for i := range g.count {
				runs = append(runs, run{Off: g.off + i*g.stride, Len: g.length})
			}
		}
	}
	if len(runs) == 0 {
		return 0, 0, nil
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.Off, b.Off) })
	merged := runs[:1]
	for _, r := range runs[1:] {
		last := &merged[len(merged)-1]
		if r.Off > last.Off+last.Len+hole {
			merged = append(merged, r)
			continue
		}
		last.Len = max(last.Len, r.Off+r.Len-last.Off)
	}
	last := merged[len(merged)-1]
	return merged[0].Off, last.Off + last.Len, merged
}

// each calls do for the bytes of each run of a parcel: data is what belongs to the parcel, and buf the
// bytes of the file from lo on.
func (p *parcel) each(data, buf []byte, lo int64, do func(data, file []byte)) {
	for _, g := range p.list {
		for i := range g.count {
			off := g.off + i*g.stride - lo
			do(data[:g.length], buf[off:off+g.length])
			data = data[g.length:]
		}
	}
}

// write gives the aggregators what this member writes, and writes what it gets as an aggregator.
func (s *shares) write(from, to []int64, list []parcel, failed error) (int64, error) {
	f := s.x.f
	counts, displs := s.blocks(from, to)
	recv, total := sizesOf(list)
	got := f.e.buffers.get(total)
	defer f.e.buffers.put(got)
	args := (&coll.Args{Send: coll.Side{Mem: s.a.m}, Recv: coll.Bytes(got)}).WithSendBlocks(counts, displs).WithRecvBlocks(recv, nil)
	if err := s.x.do(coll.Alltoallv, &args); err != nil {
		return 0, err
	}
	moved := int64(0)
	for _, n := range counts {
		moved += int64(n)
	}
	if failed != nil || total == 0 {
		return moved, nil
	}
	hole := int64(0)
	if planted.HoleJoined {
		hole = 8
	}
	lo, hi, runs := extent(list, hole)
	buf := f.e.buffers.get(int(hi - lo))
	defer f.e.buffers.put(buf)
	rest := got
	for r := range list {
		list[r].each(rest, buf, lo, func(data, file []byte) { copy(file, data) })
		rest = rest[recv[r]:]
	}
	for _, r := range runs {
		_, s.failure = f.span(buf[r.Off-lo:r.Off-lo+r.Len], r.Off, true)
		if s.failure != nil {
			break
		}
	}
	return moved, nil
}

// read reads what the members want of this aggregator's domain, and gets what this member wants.
func (s *shares) read(from, to []int64, list []parcel) (int64, error) {
	f := s.x.f
	hole := int64(0)
	if s.a.h.Sieve != Disable {
		hole = sieveHole
	}
	if s.failure != nil {
		list = make([]parcel, s.n) // nobody gets anything
	}
	lo, hi, runs := extent(list, hole)
	buf := f.e.buffers.get(int(hi - lo))
	defer f.e.buffers.put(buf)
	eof := hi
	for _, r := range runs {
		n, err := f.span(buf[r.Off-lo:r.Off-lo+r.Len], r.Off, false)
		s.failure = err
		if err != nil || n < r.Len {
			eof = r.Off + n
			break
		}
	}
	_, total := sizesOf(list)
	give := f.e.buffers.get(total)
	defer f.e.buffers.put(give)
	valid, counts, rest := make([]int64, s.n), make([]int, s.n), give
	for r := range list {
		p := &list[r]
		p.each(rest[:p.bytes], buf, lo, func(data, file []byte) { copy(data, file) })
		valid[r] = p.before(eof)
		counts[r] = int(valid[r])
		copy(give[sum(counts[:r]):], rest[:counts[r]])
		rest = rest[p.bytes:]
	}
	theirs, err := s.x.alltoall(valid)
	if err != nil {
		return 0, err
	}
	recv, displs := s.blocks(from, to)
	moved := int64(0)
	for r := range recv {
		if n := theirs[r]; n < 0 || n > int64(recv[r]) {
			return 0, class.Errorf(class.Intern, "rank %d gives %d bytes where %d are wanted", r, n, recv[r])
		}
		recv[r] = int(theirs[r])
		moved += theirs[r]
	}
	args := (&coll.Args{Send: coll.Bytes(give[:sum(counts)]), Recv: coll.Side{Mem: s.a.m}}).WithSendBlocks(counts, nil).WithRecvBlocks(recv, displs)
	return moved, s.x.do(coll.Alltoallv, &args)
}

// before is how many bytes of the parcel are before an offset: those that the file has.
func (p *parcel) before(eof int64) (n int64) {
	for _, g := range p.list {
		for i := range g.count {
			k := min(max(eof-g.off-i*g.stride, 0), g.length)
			n += k
			if k < g.length {
				return n
			}
		}
	}
	return n
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}
