package file

import (
	"cmp"
	"math"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
)

// DoAll is Do by all members: collective. If the arguments of one member are wrong, all fail and
// nothing moves.
//
// First all members tell each other what they access: an allgather of 104 bytes. If their accesses
// do not interleave, consist of long runs, or have fewer runs than aggregators would have domains, each member makes
// its own access. Else they go through aggregators: see phases.go. Where runs are neither very long nor very short, and
// accesses are repeated, the way that takes less time is found by trials: see trialsOf.
func (f *File) DoAll(d Direction, offset int64, x Data, by call.Number) (int64, error) {
	if err := f.together(by); err != nil {
		return 0, err
	}
	f.queue.wait()
	a, own := f.prepare(d, offset, x, false)
	w := &exchange{f: f, call: by}
	return a.c.done(w.carryOut(a, own))
}

// StartAll is DoAll that does not wait. The individual pointer moves by all that m has.
func (f *File) StartAll(d Direction, offset int64, x Data, by call.Number) (*p2p.Request, error) {
	if err := f.together(by); err != nil {
		return nil, err
	}
	return f.startAll(d, offset, x, by), nil
}

func (f *File) startAll(d Direction, offset int64, x Data, by call.Number) *p2p.Request {
	a, own := f.prepare(d, offset, x, true)
	r := f.request(by)
	f.queue.add(func() {
		w := &exchange{f: f, apart: true, call: by}
		n, err := w.carryOut(a, own)
		f.converted(r, a.c, n, err)
	})
	return r
}

// together returns an error if no collective access can begin.
func (f *File) together(by call.Number) error {
	switch {
	case f.closed.Load():
		return class.Errorf(class.File, "file is closed")
	case f.split.active():
		return class.Errorf(class.Request, "%s has begun and has not been ended", f.split.call)
	}
	return nil
}

// collectiveAccess is a collective access of this member.
type collectiveAccess struct {
	v       *View
	d       Direction
	m       mem.Mem
	at      int64 // position
	pointer bool  // at the individual pointer, which is to move
	ordered bool  // at the shared pointer, in the order of the ranks
	c       *conversion
	h       *Hints // when the call was made: all members have the same then
}

// prepare checks the arguments of a collective access. With ahead the pointer moves at once.
func (f *File) prepare(d Direction, offset int64, x Data, ahead bool) (a collectiveAccess, err error) {
	a = collectiveAccess{v: f.view.Load(), d: d, h: f.hints.Load()}
	if err := x.Err(); err != nil {
		return a, err
	}
	m, c, err := a.v.converted(d, x)
	if err != nil {
		return a, err
	}
	a.m, a.c = m, c
	if err := f.usable(d, offset); err != nil {
		return a, err
	}
	switch {
	case offset == Shared:
		a.ordered = true
		_, err = a.v.position(a.v.unit, 0, m.Len())
	case offset != Individual:
		a.at, err = a.v.position(a.v.unit, offset, m.Len())
	case ahead:
		a.at, err = f.reserve(a.v, m.Len())
	default:
		a.pointer = true
		f.pointer.mu.Lock()
		a.at = f.pointer.at
		f.pointer.mu.Unlock()
		_, err = a.v.position(a.v.unit, a.at/a.v.unit, m.Len())
	}
	return a, err
}

// carryOut makes a collective access. own is the error in the arguments of this member.
func (x *exchange) carryOut(a collectiveAccess, own error) (n int64, err error) {
	f := x.f
	if f.c.Size() == 1 && !a.ordered {
		if own == nil {
			n, err = f.move(a.v, a.d, a.m, a.at, x.apart)
		}
		err = firstError(own, err)
	} else if a.ordered {
		n, err = x.inOrder(a, own)
	} else {
		n, err = x.amongAll(a, own)
	}
	if a.pointer && n > 0 {
		f.pointer.mu.Lock()
		f.pointer.at = a.at + n/a.v.unit*a.v.unit
		f.pointer.mu.Unlock()
	}
	return n, err
}

// plan is what all members know of a collective access.
type plan struct {
	lo, hi int64 // the accesses are in [lo, hi) of the file
	phases bool  // they go through aggregators

	whole       bool  // reads take the holes between the accesses, too: these are most of the file from lo to hi
	shift       uint8 // of the grain: see coverage
	aggregators int   // as many as the hint says, else all members
	buffer      int64 // bytes of the buffer of each

	why        reason
	run, limit int64 // the shortest average length of runs, and that from which on each member makes its own access
	runs, all  int64 // the number of runs, if all are as short, and of domains in all rounds
	bytes      int64 // of all members
	trial      *trial
}

// The numbers that a member tells the others for a plan.
const (
	planClass = iota // of the error in its arguments
	planFirst        // offset of the first byte, and of the end
	planEnd
	planBytes
	planRun    // average length of the first runs
	planGrain  // a number with the lower bits of all ends of runs
	planTwice  // 1 if bytes of the file occur twice in the view
	planLong   // see File.long
	planChoice // of the hints, of which those of rank 0 count: whether to go through aggregators
	planSieve  // 1 if reads may read holes
	planNodes
	planBuffer
	planTook  // ns of the last access, if its time counts: see trialsOf
	planWords // the number of these numbers
)

// The average length of runs from which on each member makes its own access, since the system calls
// take less than the exchange. On one host a call takes 1 us: 4 members write
// blocks of 1 KiB by aggregators in 76 % of the time on tmpfs and in 46 % on ext4, blocks of 4 KiB in 150 %
// and 69 %; data sieving makes short reads cheap. Members on several hosts share a file system over a network, where a call takes as
// long as 100 KiB.
const (
	longWrite  = 8 << 10
	longRead   = 1 << 10
	longStaged = 4 << 10 // of reads through stages, which copy less than data sieving
	longFar    = 256 << 10
)

// wholeShare is the part of the bytes between the first and the last of a collective read from which on
// aggregators read all of them: to mark what members want takes longer than to read the rest.
const wholeShare = 0.75

// long is that length for an access. The members use what rank 0 says.
func (f *File) long(d Direction) int64 {
	switch {
	case f.far():
		return longFar
	case d == Write:
		return longWrite
	case !f.stage.refused:
		return longStaged
	}
	return longRead
}

// amongAll makes an access that is not ordered.
func (x *exchange) amongAll(a collectiveAccess, own error) (int64, error) {
	var mine [planWords]int64
	size := int64(a.m.Len())
	if own != nil {
		mine[planClass] = int64(classOf(own))
	} else if size > 0 {
		mine[planFirst], mine[planEnd] = a.v.Offset(a.at), a.v.Offset(a.at+size-1)+1
		mine[planBytes], mine[planRun], mine[planGrain] = size, a.v.average(a.at, size), a.v.grain|a.at|size
		if a.v.twice {
			mine[planTwice] = 1
		}
	}
	mine[planLong] = x.f.long(a.d)
	choice := a.h.CbWrite
	if a.d == Read {
		choice = a.h.CbRead
	}
	if a.h.Sieve != Disable {
		mine[planSieve] = 1
	}
	t := &x.f.trials
	mine[planChoice], mine[planNodes], mine[planBuffer], mine[planTook] = int64(choice), int64(a.h.CbNodes), int64(a.h.CbBuffer), t.took
	told, err := x.allgather(mine[:])
	if err == nil {
		t.told(told)
	}
	if err != nil || own != nil {
		return 0, firstError(own, err)
	}
	p, err := x.f.plan(told)
	if err != nil {
		return 0, err
	}
	t.try(a.d, &p, x.apart)
	begun := x.f.e.clock()
	n := int64(0)
	if p.phases {
		n, err = x.phases(&a, p)
	} else {
		x.f.tellPlan(a.d, &p, 0)
		n, err = x.f.move(a.v, a.d, a.m, a.at, x.apart)
	}
	if t.last != nil {
		t.took = int64(x.f.e.clock() - begun)
	}
	return n, err
}

// average is the average length of the first runs of an access.
func (v *View) average(at, size int64) int64 {
	if v.dense {
		return size
	}
	var list [batch]run
	k, next := v.tiles.Runs(list[:], at, size)
	if next == at {
		return 0
	}
	return (next - at) / int64(k)
}

// plan decides how an access is made, from what all members have told: all decide the same.
func (f *File) plan(told []int64) (p plan, err error) {
	type extent struct{ lo, hi int64 }
	var list []extent
	run, twice, grain, total := int64(math.MaxInt64), false, int64(0), 0.0
	for r := 0; r*planWords < len(told); r++ {
		x := told[r*planWords:]
		if err := notTaken(r, x[planClass]); err != nil {
			return p, err
		}
		if x[planBytes] > 0 {
			list = append(list, extent{x[planFirst], x[planEnd]})
			run = min(run, x[planRun])
			twice = twice || x[planTwice] != 0
			grain |= x[planGrain]
			total += float64(x[planBytes]) // whose sum may exceed 64 bits
		}
	}
	slices.SortFunc(list, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
	interleaved := false
	for i, e := range list {
		if i == 0 {
			p = plan{lo: e.lo, hi: e.hi}
		}
		interleaved = interleaved || i > 0 && e.lo < p.hi
		p.hi = max(p.hi, e.hi)
	}
	p.shift = shiftOf(grain)
	p.whole = told[planSieve] != 0 && total > wholeShare*float64(p.hi-p.lo)
	p.aggregators, p.buffer = len(told)/planWords, max(1, told[planBuffer])
	if k := told[planNodes]; k > 0 {
		p.aggregators = int(min(k, int64(p.aggregators)))
	}
	p.run, p.limit, p.bytes = run, told[planLong], int64(min(total, 1<<62))
	if interleaved {
		d := p.domains(len(told) / planWords)
		p.runs, p.all = p.bytes/max(1, run), int64(d.rounds)*int64(d.aggregators)
	}
	p.why = f.choose(Choice(told[planChoice]), &p, len(list) > 0, twice, interleaved)
	p.phases = p.why == becauseEnabled || p.why == becauseShort
	return p, nil
}

// choose decides how an access is made: the reason says which way.
func (f *File) choose(choice Choice, p *plan, any, twice, interleaved bool) reason {
	switch {
	case !any:
		return becauseEmpty
	case f.atomic.on.Load():
		return becauseAtomic
	case twice:
		return becauseTwice
	case choice == Disable:
		return becauseDisabled
	case choice == Enable:
		return becauseEnabled
	case !interleaved:
		return becauseApart
	case p.run >= p.limit:
		return becauseLong
	case p.runs < p.all && !planted.FarTogether:
		return becauseFew
	}
	return becauseShort
}
