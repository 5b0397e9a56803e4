package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Do carries out a collective. It takes the lock.
func (e *Engine) Do(c *comm.Comm, k Kind, a *Args) error {
	o := &stateOf(c).busy
	if err := o.enter(Blocking(k)); err != nil {
		return err
	}
	err := e.doSlices(c, k, a)
	o.leave()
	return err
}

// doSlices is Do within a call that has entered.
func (e *Engine) doSlices(c *comm.Comm, k Kind, a *Args) error {
	if s := e.plain(c, k, a); s != nil && k == Allgather {
		return through(c, s.allgather(memory(a.Send), memory(a.Recv), a.Code, a.Code))
	} else if s != nil {
		return through(c, s.alltoall(memory(a.Send), memory(a.Recv), a.Code, a.Code))
	}
	from, to := slice(a.Send, a.Width), slice(a.Recv, a.Width)
	return e.do(c, k, a, &from, &to)
}

// DoLayouts is Do with layouts that take the place of the slices of a, unless they are
// nil. It copies them, as StartLayouts and InitLayouts do.
func (e *Engine) DoLayouts(c *comm.Comm, k Kind, a *Args, send, recv *dtype.Buffer) error {
	o := &stateOf(c).busy
	if err := o.enter(Blocking(k)); err != nil {
		return err
	}
	from, to := sideOf(a.Send, a.Width, send), sideOf(a.Recv, a.Width, recv)
	err := e.do(c, k, a, &from, &to)
	o.leave()
	return err
}

func (e *Engine) do(c *comm.Comm, k Kind, a *Args, from, to *side) error {
	if err := a.check(c, k, from, to); err != nil {
		return e.refuse(c, k, err)
	}
	switch {
	case k == Allgather && from.n > 0:
		if s := e.short(c, k, from.n); s != nil {
			return through(c, s.allgather(from.data, to.data, a.code(from), a.code(to)))
		}
	case k == Alltoall && from.n > 0:
		if s := e.short(c, k, from.n); s != nil {
			return through(c, s.alltoall(from.data, to.data, a.code(from), a.code(to)))
		}
	case k == Bcast && to.n > 0:
		if s := e.short(c, k, to.n); s != nil {
			return through(c, s.bcast(to.data, a.code(to), a.Root))
		}
	}
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.begin(c, k, a, from, to))
}

// plain returns the slot for an Allgather or Alltoall of slices that are plainly right,
// nil if there is none or check is to judge.
func (e *Engine) plain(c *comm.Comm, k Kind, a *Args) *slot {
	size, n := len(a.Send), c.Size()
	switch {
	case size == 0 || overlap(a.Send, a.Recv):
		return nil
	case k == Allgather && len(a.Recv)/n >= size:
	case k == Alltoall && len(a.Recv) >= size && size%(n*a.Width) == 0:
	default:
		return nil
	}
	return e.short(c, k, size)
}

// Start starts a nonblocking collective and returns its request.
func (e *Engine) Start(c *comm.Comm, k Kind, a *Args) (*p2p.Request, error) {
	return e.StartLayouts(c, k, a, nil, nil)
}

// StartLayouts is Start with layouts.
func (e *Engine) StartLayouts(c *comm.Comm, k Kind, a *Args, send, recv *dtype.Buffer) (*p2p.Request, error) {
	from, to := sideOf(a.Send, a.Width, send), sideOf(a.Recv, a.Width, recv)
	if err := a.check(c, k, &from, &to); err != nil {
		return e.StartRefusing(c, k, a.Call, err)
	}
	return e.begin(c, k, a, &from, &to), nil
}

// Init returns the request of a persistent collective, inactive.
//
// Its messages carry the same tag whenever it is started, from the lower half of
// the tags: the members call Init in the same order, but may start in any.
func (e *Engine) Init(c *comm.Comm, k Kind, a *Args) (*p2p.Request, error) {
	return e.InitLayouts(c, k, a, nil, nil)
}

// InitLayouts is Init with layouts.
func (e *Engine) InitLayouts(c *comm.Comm, k Kind, a *Args, send, recv *dtype.Buffer) (*p2p.Request, error) {
	from, to := sideOf(a.Send, a.Width, send), sideOf(a.Recv, a.Width, recv)
	if err := a.check(c, k, &from, &to); err != nil {
		return nil, err
	}
	s := &schedule{e: e}
	e.fill(s, c, k, a, &from, &to)
	return e.persistent(s), nil
}

// persistent returns the request of s, which Start begins again and again.
func (e *Engine) persistent(s *schedule) *p2p.Request {
	st := stateOf(s.c.Whole())
	st.inits = (st.inits + 1) & 0x7fffffff
	s.persistent, s.tag = true, -st.inits
	s.agreeOn(true)
	s.request = e.p2p.NewRequest(s.c, s.kind.String())
	e.p2p.SetPersistent(s.request, s)
	return s.request
}

// begin starts a collective whose arguments have been checked.
func (e *Engine) begin(c *comm.Comm, k Kind, a *Args, from, to *side) *p2p.Request {
	s := e.fresh()
	e.fill(s, c, k, a, from, to)
	s.agreeOn(false)
	return e.start(s, nextTag(c))
}

// fill gives s what it is to do.
func (e *Engine) fill(s *schedule, c *comm.Comm, k Kind, a *Args, from, to *side) {
	s.c, s.kind, s.Args = c, k, *a
	s.Send, s.Recv = nil, nil
	s.send, s.sendWidth = s.hold(0, a.Send, from), from.width
	s.recv, s.recvWidth = s.hold(1, a.Recv, to), to.width
	s.tell(a.code(from), a.code(to))
	s.pack()
	if c.Inter != nil {
		s.cross()
		return
	}
	unit, size := s.shape()
	s.unit, s.empty = unit, size == 0
	s.step = e.choice.algorithm(k, size, stateOf(c).where, a.ordered()).entry().step
	e.putAgreement(s, from.typeOf(a.Datatype), to.typeOf(a.Datatype))
}

// hold returns the data of a side, which is on the stack of the caller, with a layout
// of the schedule's own. b is the slice, unless there is a layout.
func (s *schedule) hold(i int, b []byte, x *side) data {
	if x.given == nil {
		return memory(b).first(x.n)
	}
	if s.layouts == nil {
		s.layouts = new([2]dtype.Buffer)
	}
	s.layouts[i] = *x.given
	return laidOut(&s.layouts[i]).first(x.n)
}

// short returns the slot to use for a collective of the kind to which each
// member gives size bytes, nil for messages.
func (e *Engine) short(c *comm.Comm, k Kind, size int) *slot {
	st := stateOf(c)
	s := st.slot
	if s == nil || size > slotMax(k, c.Size()) || st.broken || st.checks || !e.choice.slot(k) {
		return nil
	}
	if e.choice.Slot != SlotAuto {
		s.form = e.choice.Slot
	}
	return s
}

// through notes how a collective through the slot of c has ended. If a member is
// gone whoever entered once more would be counted for another. When the members only
// disagree on lengths, types or roots the slot is as it was.
func through(c *comm.Comm, err error) error {
	if err != nil {
		e, ok := err.(*class.Error)
		stateOf(c).broken = !ok || e.Class != class.Truncate && e.Class != class.Count && e.Class != class.Type && e.Class != class.Root
	}
	return err
}

// Barrier returns when all members have called it. It takes the lock.
//
// Cost on one node: a line from each member to each, or a count and a release.
func (e *Engine) Barrier(c *comm.Comm) error {
	o := &stateOf(c).busy
	if err := o.enter(Blocking(Barrier)); err != nil {
		return err
	}
	err := e.barrier(c)
	o.leave()
	return err
}

func (e *Engine) barrier(c *comm.Comm) error {
	if s := e.short(c, Barrier, 0); s != nil {
		return through(c, s.barrier())
	}
	if d := e.across(c, Barrier, 0); d != nil {
		return e.throughNodes(c, d, Barrier, &Args{})
	}
	return e.doSlices(c, Barrier, &Args{})
}

// Bcast copies buf from the root to all others. It takes the lock.
//
// Cost of a short one on a node: the root stores a line, all others load it; of a
// longer one two copies, of which the root makes one.
func (e *Engine) Bcast(c *comm.Comm, buf []byte, root int) error {
	return e.BcastCode(c, buf, dtype.Mixed, root)
}

// BcastCode is Bcast of elements of a code.
func (e *Engine) BcastCode(c *comm.Comm, buf []byte, code dtype.Code, root int) error {
	o := &stateOf(c).busy
	if err := o.enter(Blocking(Bcast)); err != nil {
		return err
	}
	err := e.bcast(c, buf, code, root)
	o.leave()
	return err
}

func (e *Engine) bcast(c *comm.Comm, buf []byte, code dtype.Code, root int) error {
	if s := e.short(c, Bcast, len(buf)); s != nil && len(buf) > 0 && uint(root) < uint(c.Size()) {
		return through(c, s.bcast(memory(buf), code, root))
	}
	return e.doSlices(c, Bcast, &Args{Recv: buf, Width: 1, Code: code, Root: root})
}

// bcastInStep is Bcast of something short in which nobody runs ahead where there
// is a slot, for what is called call. It takes the lock.
func (e *Engine) bcastInStep(c *comm.Comm, buf []byte, root int, call string) error {
	if s := e.short(c, Bcast, len(buf)); s != nil {
		return through(c, s.tell(buf, root))
	}
	a := Args{Recv: buf, Width: 1, Root: root, Call: call}
	if d := e.across(c, Bcast, len(buf)); d != nil && len(buf) > 0 && uint(root) < uint(c.Size()) {
		return e.throughNodes(c, d, Bcast, &a)
	}
	return e.doSlices(c, Bcast, &a)
}

// pass reports whether check has nothing against the slices of a reduction, and cuts
// Recv to what is used of it.
func (a *Args) pass(c *comm.Comm, k Kind) bool {
	if a.checkOp() != nil || len(a.Send)%a.Width != 0 {
		return false
	}
	if k == Reduce && c.Rank != a.Root {
		return uint(a.Root) < uint(c.Size())
	}
	if len(a.Recv) < len(a.Send) {
		return false
	}
	a.Recv = a.Recv[:len(a.Send)]
	return &a.Send[0] == &a.Recv[0] || !overlap(a.Send, a.Recv)
}

// Reduce leaves the reduction of all send in recv at the root; recv is not used
// elsewhere. In place: send is recv at the root. It takes the lock.
func (e *Engine) Reduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, root int) error {
	return e.ReduceCode(c, send, recv, o, t, dtype.Mixed, root)
}

// ReduceCode is Reduce of elements of a code.
func (e *Engine) ReduceCode(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, code dtype.Code, root int) error {
	busy := &stateOf(c).busy
	if err := busy.enter(Blocking(Reduce)); err != nil {
		return err
	}
	err := e.reduce(c, &Args{Send: send, Recv: recv, Op: o, Type: t, Code: code, Root: root})
	busy.leave()
	return err
}

func (e *Engine) reduce(c *comm.Comm, a *Args) error {
	if s := e.short(c, Reduce, len(a.Send)); s != nil && len(a.Send) > 0 && a.pass(c, Reduce) {
		return through(c, s.reduce(a.Send, a.Recv, a.Op, a.Type, a.Code, a.Root))
	}
	if d := e.across(c, Reduce, len(a.Send)); d != nil && len(a.Send) > 0 && a.pass(c, Reduce) {
		return e.throughNodes(c, d, Reduce, a)
	}
	return e.doSlices(c, Reduce, a)
}

// Allreduce leaves the reduction of all send in every recv, the same bits in
// each. In place: send is recv. It takes the lock.
func (e *Engine) Allreduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type) error {
	return e.AllreduceCode(c, send, recv, o, t, dtype.Mixed)
}

// AllreduceCode is Allreduce of elements of a code.
func (e *Engine) AllreduceCode(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, code dtype.Code) error {
	busy := &stateOf(c).busy
	if err := busy.enter(Blocking(Allreduce)); err != nil {
		return err
	}
	err := e.allreduce(c, &Args{Send: send, Recv: recv, Op: o, Type: t, Code: code})
	busy.leave()
	return err
}

func (e *Engine) allreduce(c *comm.Comm, a *Args) error {
	if s := e.short(c, Allreduce, len(a.Send)); s != nil && len(a.Send) > 0 && a.pass(c, Allreduce) {
		return through(c, s.allreduce(a.Send, a.Recv, a.Op, a.Type, a.Code))
	}
	if d := e.across(c, Allreduce, len(a.Send)); d != nil && len(a.Send) > 0 && a.pass(c, Allreduce) {
		return e.throughNodes(c, d, Allreduce, a)
	}
	return e.doSlices(c, Allreduce, a)
}

// allgather leaves all send, in the order of the ranks, in every recv, for what is
// called call. The lock is held.
func (e *Engine) allgather(c *comm.Comm, send, recv []byte, call string) error {
	a := Args{Send: send, Recv: recv, Width: 1, Call: call}
	from, to := slice(send, 1), slice(recv, 1)
	return e.wait(e.begin(c, Allgather, &a, &from, &to))
}
