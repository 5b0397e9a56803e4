package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
)

const (
	// piece is how many bytes a schedule copies or reduces before it gives up the engine's
	// lock for others.
	piece = 64 << 10
	// keepScratch is the longest scratch memory a free schedule keeps, in bytes.
	keepScratch = 4 << 20
	// keepSchedules bounds the free schedules kept for reuse.
	keepSchedules = 16
)

// schedule is a collective that has begun, or a persistent one.
//
// It advances by rounds. An algorithm is a function that starts the sends and
// receives of round number s.round, lists the reductions and copies to do in
// order when they are complete, and reports whether there are more rounds. The
// goroutine that polls begins the next round when the current one is complete. There is
// no list of steps to build, to store or to free, however long the collective is, and
// a persistent one begins again with round 0.
//
// Rejected: a graph of steps with dependencies. It lets one transfer overtake another
// where a round waits for both. But the long algorithms have sends and receives of
// equal length in a round, which end together, so rounds lose little.
//
// When a process has died, the schedules of all communicators with it end with
// class.ProcFailed: receives without a matching message are cancelled, receives in
// transit are waited for, and sends go on with their memory.
type schedule struct {
	Args // after check has cut the sides

	pairs   [2][]Side     // of an Alltoallw: the sides for each rank; of a NeighborAlltoallw, for each neighbour
	inPlace bool          // of an Alltoallw: the send side of each rank is its receive side
	codes   [2]dtype.Code // of the elements sent and received; an Alltoallw has them in pairs
	terms   agree.Terms   // only the roots are used

	e          *Engine
	c          *comm.Comm
	kind       Kind
	step       func(s *schedule) bool // the algorithm
	request    *p2p.Request
	persistent bool
	tag        int32 // of all messages; those between two members are in order
	round      int
	more       bool
	pending    int // parts of the round that are not complete
	ready      bool
	failed     bool
	err        error
	found      error   // an error before the schedule began, which the other members are told
	absent     []int32 // processes that have refused the collective
	parts      []part
	local      []local // the reductions and copies of the round, in order
	done       int     // the number of elements of local that are complete

	// Of an algorithm in stages; see division.
	stage   int
	began   int        // round in which the stage began
	whole   *comm.Comm // while c has only the members of a stage, the whole communicator; else nil
	slotted bool       // the stages on the own node are carried out through a slot
	kept    []byte

	// Of a Bcast by a chain: see bcastChain.
	chained bool
	over    bool // the last segment has been received
	closed  bool // the next rank gets no more segments

	agreement *agreement // in checking mode
	gaps      ungapped   // of a reduction of elements with gaps
	traced    *Round     // nil unless a Tracer asks what the round does

	neighbors *comm.Neighbors // of a neighbourhood collective
	each      [2]int          // bytes of the blocks for each of them and from each, if these are equal

	unit    int  // bytes of a block, if all blocks are equal
	empty   bool // no data moves
	offsets [2][]int
	scratch []byte
}

// part is a send or receive of the current round. gen distinguishes it from later uses of the
// request.
type part struct {
	r   *p2p.Request
	gen uint32
}

// local is the rest of a reduction or copy that has to be done.
type local struct {
	dst, left, right mem.Mem // right is empty for a copy
}

// fresh returns an empty schedule.
func (e *Engine) fresh() *schedule {
	if n := len(e.free); n > 0 {
		s := e.free[n-1]
		e.free = e.free[:n-1]
		return s
	}
	return &schedule{e: e}
}

// newSchedule returns a schedule of algorithm a on c that has not begun. The caller fills in its
// arguments.
func (e *Engine) newSchedule(c *comm.Comm, a choice.Algorithm) *schedule {
	s := e.fresh()
	s.c, s.kind, s.step, s.Width, s.Send.Width, s.Recv.Width = c, a.Kind(), stepOf(a), 1, 1, 1
	return s
}

// start begins s and returns its request.
func (e *Engine) start(s *schedule, tag int32) *p2p.Request {
	what, on := s.c.Operation(s.kind.Number())
	r := e.p2p.NewRequest(s.c, what)
	r.On(on)
	r.OfMembers()
	s.request, s.tag = r, tag
	s.Begin()
	return r
}

// Begin implements p2p.Starter.
func (s *schedule) Begin() {
	e := s.e
	s.round, s.more, s.failed, s.err = 0, true, false, s.found
	s.stage, s.began = 0, 0
	s.over, s.closed = false, false
	e.live = append(e.live, s)
	if s.persistent {
		s.absent = nil
		s.recall()
		if s.agreement != nil {
			s.locate()
		}
	}
	if s.gaps.t != 0 {
		s.gaps.take()
	}
	switch err := e.lost(s.c); {
	case err != nil && !s.Outlasts:
		s.fail(err)
	case s.agreement != nil:
		s.step = agreeing
		e.advance(s)
	case s.empty || s.c.Size() == 1 && s.c.Inter == nil:
		s.alone(s.kind)
		e.end(s)
	default:
		e.advance(s)
	}
}

// wait waits for a request that no other code refers to.
func (e *Engine) wait(r *p2p.Request) error {
	e.p2p.Wait(r)
	err := r.Status.Err
	e.p2p.Free(r)
	return err
}

// advance runs s until s has to wait for a part, or has processed piece bytes.
func (e *Engine) advance(s *schedule) {
	budget := piece
	for s.pending == 0 {
		switch {
		case s.failed || !s.more && len(s.local) == 0:
			e.end(s)
			return
		case len(s.local) > 0:
			if budget <= 0 {
				e.setReady(s)
				return
			}
			if s.User != nil && s.local[s.done].right.Len() > 0 {
				s.call()
				return
			}
			budget -= s.work()
		default:
			s.pending = 1 // keeps the round incomplete while it is started
			s.parts = s.parts[:0]
			s.more = s.step(s)
			s.round++
			s.pending--
		}
	}
}

// end completes the request of s, and frees s if it is not persistent.
func (e *Engine) end(s *schedule) {
	r, err := s.request, s.err
	for i, o := range e.live {
		if o == s {
			last := len(e.live) - 1
			e.live[i], e.live[last] = e.live[last], nil
			e.live = e.live[:last]
			break
		}
	}
	if s.gaps.t != 0 && err == nil {
		s.gaps.give()
	}
	if s.failed {
		s.scratch, s.kept, s.gaps.copies = nil, nil, nil // a send that goes on may still read it
	}
	e.p2p.DropRefusals(s.c.Ctx+1, s.tag)
	if !s.persistent {
		scratch, kept := s.scratch, s.kept
		if cap(scratch) > keepScratch {
			scratch = nil
		}
		if cap(kept) > keepScratch {
			kept = nil
		}
		for i := range s.pairs {
			clear(s.pairs[i])
			s.pairs[i] = s.pairs[i][:0]
		}
		*s = schedule{e: e, parts: s.parts[:0], local: s.local[:0], offsets: s.offsets, scratch: scratch, kept: kept, pairs: s.pairs, gaps: s.gaps.kept()}
		if len(e.free) < keepSchedules {
			e.free = append(e.free, s)
		}
	}
	e.p2p.Finish(r, err)
}

// PartDone implements p2p.Whole. Package p2p calls it from within its own steps, so it only
// marks the schedule.
func (s *schedule) PartDone(r *p2p.Request) {
	s.outcome(r)
	s.pending--
	if s.pending == 0 {
		s.e.setReady(s)
	}
}

// outcome records the error of a part. A message that is shorter than its buffer is also an
// error: the members disagree.
func (s *schedule) outcome(r *p2p.Request) {
	err := r.Status.Err
	switch o := err.(type) {
	case *p2p.OtherRoots:
		err = s.otherRoots(o.Source, o.Roots)
	case *p2p.Refusal:
		err = s.told(r.From(), o)
	case *class.Error:
		if o.Class == class.Truncate && !r.Send {
			err = class.Errorf(class.Truncate, "rank %d to rank %d: %s", r.Status.Source, s.me(), o.Text)
		}
	}
	if got, want := r.Filled(); err == nil && !r.Send && got != want && !r.Status.Cancelled {
		err = class.Errorf(class.Count, "rank %d sends %d bytes, rank %d receives %d", r.Status.Source, got, s.me(), want)
		if got == 0 {
			err = class.Errorf(class.Count, "rank %d sends nothing where rank %d receives %d bytes, as one does who disagrees with another", r.Status.Source, s.me(), want)
		}
	}
	s.note(err)
	if s.chained && !r.Send && !r.Status.Cancelled {
		s.segmentIn(r)
	}
}

// me is the rank of the caller in the communicator whose ranks the requests of s have.
func (s *schedule) me() int {
	if s.whole != nil {
		return s.whole.Rank
	}
	return s.c.Rank
}

// note records an error of a part. After a message of the wrong length the schedule goes on, so
// that it ends at the other members. After the death of a process failLost ends it.
func (s *schedule) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

// fail ends s early.
func (s *schedule) fail(err error) {
	s.failed = true
	s.note(err)
	s.pending++ // keeps the round incomplete during the loop
	for _, q := range s.parts {
		if q.r.Gen.Load() != q.gen || q.r.Done() {
			continue
		}
		if !q.r.Send {
			s.e.p2p.Cancel(q.r)
		} else if s.e.p2p.ClearWhole(q.r) {
			s.pending--
		}
	}
	s.parts = s.parts[:0]
	s.local, s.done = s.local[:0], 0
	s.pending--
	if s.pending == 0 {
		s.e.setReady(s)
	}
}

func (s *schedule) add(r *p2p.Request) {
	if r.Done() {
		s.outcome(r)
		s.e.p2p.Free(r)
		return
	}
	s.e.p2p.SetWhole(r, s)
	s.pending++
	s.parts = append(s.parts, part{r, r.Gen.Load()})
}

// reduce reduces left and right into dst when the messages of the round are complete. left is
// the operand of the lower ranks.
func (s *schedule) reduce(dst, left, right mem.Mem) {
	if dst.Len() > 0 {
		s.later(local{dst, left.First(dst.Len()), right.First(dst.Len())})
	}
}

// copy copies src to dst when the messages of the round are complete.
func (s *schedule) copy(dst, src mem.Mem) {
	if n := min(dst.Len(), src.Len()); n > 0 && !mem.Same(dst, src) {
		s.later(local{dst.First(n), src.First(n), mem.Mem{}})
	}
}

// later does l when the messages of the round are complete.
func (s *schedule) later(l local) {
	if s.traced != nil {
		s.traced.Work += l.dst.Len()
		return
	}
	s.local = append(s.local, l)
}

// work carries out a piece of the round's next reduction or copy, and returns its length.
func (s *schedule) work() int {
	l := &s.local[s.done]
	n := min(l.dst.Len(), piece)
	if l.right.Len() == 0 {
		mem.Copy(l.dst.First(n), l.left)
	} else {
		o := s.Op
		if planted.EnvironmentOfOthers {
			o = o.Bare()
		}
		s.e.choice.Kernel.Apply(o, s.Type, flat(l.dst.First(n)), flat(l.left.First(n)), flat(l.right.First(n)))
		l.right = l.right.From(n)
	}
	l.dst, l.left = l.dst.From(n), l.left.From(n)
	if l.dst.Len() == 0 {
		*l = local{}
		s.done++
		if s.done == len(s.local) {
			s.local, s.done = s.local[:0], 0
		}
	}
	return n
}

// flat returns the bytes of contiguous memory, nil for other memory. Operands of predefined
// operations are contiguous.
func flat(m mem.Mem) []byte {
	b, _ := m.Bytes()
	return b
}

// temp returns n bytes of scratch memory. A schedule calls it with the same n in every round.
func (s *schedule) temp(n int) mem.Mem {
	if cap(s.scratch) < n {
		s.scratch = make([]byte, n)
	}
	return mem.Of(s.scratch[:n])
}

// share returns share i of d, which is divided among the members in whole elements. Shares
// differ by at most one element.
func (s *schedule) share(d mem.Mem, i int) mem.Mem {
	return d.Cut(s.bounds(d.Len(), i))
}

func (s *schedule) bounds(size, i int) (lo, hi int) {
	n, w := s.c.Size(), s.Width
	count := size / w
	return count * i / n * w, count * (i + 1) / n * w
}
