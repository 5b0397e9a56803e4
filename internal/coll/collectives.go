package coll

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Do carries out a collective. It takes the lock.
func (e *Engine) Do(c *comm.Comm, k Kind, a *Args) error {
	o := &stateOf(c).busy
	if err := o.enter(k.Number()); err != nil {
		return err
	}
	err := e.do(c, k, a)
	o.leave()
	return err
}

// do is Do for a caller that has already entered the call.
func (e *Engine) do(c *comm.Comm, k Kind, a *Args) error {
	if err := a.Check(c, k); err != nil {
		return e.refuse(c, k, a, err)
	}
	switch {
	case k == Allgather && a.Send.Len() > 0:
		if s := e.short(c, k, a.Send.Len()); s != nil {
			return s.Ended(s.Allgather(a.Send.Mem, a.Recv.Mem, a.Send.Code, a.Recv.Code))
		}
	case k == Alltoall && a.Send.Len() > 0:
		if s := e.short(c, k, a.Send.Len()); s != nil {
			return s.Ended(s.Alltoall(a.Send.Mem, a.Recv.Mem, a.Send.Code, a.Recv.Code))
		}
	case k.Neighborhood():
		if s := e.short(c, k, 0); s != nil {
			x := e.amongNeighbors(c, k)
			x.Args = *a
			x.tell(a.Send.Code, a.Recv.Code)
			x.pack()
			if done, err := x.throughSlot(s); done {
				return err
			}
		}
	case k == Bcast && a.Recv.Len() > 0:
		if s := e.short(c, k, a.Recv.Len()); s != nil {
			return s.Ended(s.Bcast(a.Recv.Mem, a.Recv.Code, a.Root))
		}
	}
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.begin(c, k, a))
}

// Exchange carries out an Allgather or Alltoall of slices of a code, whose elements have width bytes,
// through a slot. If it returns false it has done nothing, and the caller has to call Do: the slices
// are long, check might refuse them, or there is no slot. It takes no Args, since to fill them in
// takes a fifth of an exchange of 8 bytes.
func (e *Engine) Exchange(c *comm.Comm, k Kind, send, recv []byte, width int, code dtype.Code) (done bool, err error) {
	o := &stateOf(c).busy
	if err := o.enter(k.Number()); err != nil {
		return true, err
	}
	s := e.exchangeSlot(c, k, send, recv, width)
	switch {
	case s == nil:
	case k == Allgather:
		err = s.Ended(s.Allgather(mem.Of(send), mem.Of(recv), code, code))
	default:
		err = s.Ended(s.Alltoall(mem.Of(send), mem.Of(recv), code, code))
	}
	o.leave()
	return s != nil, err
}

// exchangeSlot returns the slot for an Allgather or Alltoall of slices, nil if there is none or check
// might refuse the slices.
func (e *Engine) exchangeSlot(c *comm.Comm, k Kind, send, recv []byte, width int) *slot.Slot {
	size, n := len(send), c.Size()
	switch {
	case size == 0 || mem.Overlap(send, recv):
		return nil
	case k == Allgather && len(recv)/n >= size:
	case k == Alltoall && len(recv) >= size && size%(n*width) == 0:
	default:
		return nil
	}
	return e.short(c, k, size)
}

// Start starts a nonblocking collective and returns its request, or the request of a persistent
// one, inactive. The lock is held.
//
// The messages of a persistent collective carry the same tag whenever it is started, from the
// lower half of the tags: the members prepare in the same order, but may start in any.
func (e *Engine) Start(c *comm.Comm, k Kind, f Form, a *Args) (*p2p.Request, error) {
	err := a.Check(c, k)
	switch {
	case f == Persistent && err == nil:
		s := &schedule{e: e}
		e.fill(s, c, k, a)
		return e.persistent(s), nil
	case f == Persistent:
		e.initRefusing(c, err)
		return nil, err
	case err != nil:
		return e.startRefusing(c, k, a, a.Call, err)
	}
	return e.begin(c, k, a), nil
}

// persistent returns the persistent request of s: starting it begins s again.
func (e *Engine) persistent(s *schedule) *p2p.Request {
	st := stateOf(s.c.Whole())
	st.inits = (st.inits + 1) & 0x7fffffff
	s.persistent, s.tag = true, -st.inits
	s.agreeOn(true)
	s.request = e.p2p.NewRequest(s.c, s.kind.Number())
	s.request.OfMembers()
	e.p2p.SetPersistent(s.request, s)
	return s.request
}

// begin starts a collective whose arguments have been checked.
func (e *Engine) begin(c *comm.Comm, k Kind, a *Args) *p2p.Request {
	s := e.fresh()
	e.fill(s, c, k, a)
	s.agreeOn(false)
	return e.start(s, nextTag(c))
}

// fill gives s its kind and arguments, and chooses its algorithm.
func (e *Engine) fill(s *schedule, c *comm.Comm, k Kind, a *Args) {
	s.c, s.kind, s.Args, s.neighbors = c, k, *a, c.Neighbors
	s.tell(a.Send.Code, a.Recv.Code)
	s.pack()
	s.ungap()
	if c.Inter != nil {
		s.cross()
		return
	}
	if k.Neighborhood() {
		s.divide()
	}
	unit, size := s.shape()
	s.unit, s.empty = unit, size == 0
	s.step = stepOf(e.choice.Algorithm(k, size, stateOf(c).where, a.Ordered()))
	e.putAgreement(s, typeOf(&a.Send, a.Datatype), typeOf(&a.Recv, a.Datatype))
}

// short returns the slot to use for a collective of the kind to which each member gives size
// bytes, nil if the collective has to use messages.
func (e *Engine) short(c *comm.Comm, k Kind, size int) *slot.Slot {
	st := stateOf(c)
	s := &st.slot
	if s.SlotState == nil || size > slot.Max(k, c.Size()) || s.Broken && !s.Mended() || st.checks || !e.choice.UsesSlot(k) {
		return nil
	}
	if e.choice.Slot != slot.Auto {
		s.Form = uint8(e.choice.Slot)
	}
	return s
}

// Barrier returns when all members have called it. It takes the lock.
//
// Cost on one node: each member reads one cache line of each other member, or increments a
// counter and waits for the release.
func (e *Engine) Barrier(c *comm.Comm) error {
	o := &stateOf(c).busy
	if err := o.enter(call.Barrier); err != nil {
		return err
	}
	var err error
	if s := e.short(c, Barrier, 0); s != nil {
		err = s.Ended(s.Barrier())
	} else if d := e.across(c, Barrier, 0); d != nil {
		err = e.throughNodes(c, d, Barrier, &Args{})
	} else {
		err = e.do(c, Barrier, &Args{})
	}
	o.leave()
	return err
}

// Bcast copies buf, elements of a code, from the root to all other members. It takes the lock.
//
// Cost of a short Bcast on a node: the root stores a cache line, all others load it. A longer
// Bcast costs two copies; the root makes one of them.
func (e *Engine) Bcast(c *comm.Comm, buf []byte, code dtype.Code, root int) error {
	o := &stateOf(c).busy
	if err := o.enter(call.Bcast); err != nil {
		return err
	}
	var err error
	if s := e.short(c, Bcast, len(buf)); s != nil && len(buf) > 0 && uint(root) < uint(c.Size()) {
		err = s.Ended(s.Bcast(mem.Of(buf), code, root))
	} else {
		err = e.do(c, Bcast, &Args{Recv: Slice(buf, code), Width: 1, Root: root})
	}
	o.leave()
	return err
}

// bcastInStep is Bcast of a few bytes; through a slot, no member runs ahead of the others. call
// is the name of the call. It takes the lock.
func (e *Engine) bcastInStep(c *comm.Comm, buf []byte, root int, by call.Number) error {
	if s := e.short(c, Bcast, len(buf)); s != nil {
		return s.Ended(s.Tell(buf, root))
	}
	a := Args{Recv: Bytes(buf), Width: 1, Root: root, Call: by}
	if d := e.across(c, Bcast, len(buf)); d != nil && len(buf) > 0 && uint(root) < uint(c.Size()) {
		return e.throughNodes(c, d, Bcast, &a)
	}
	return e.do(c, Bcast, &a)
}

// used reports whether check accepts the memory of a reduction of slices, and returns the part
// of recv that the reduction uses. The caller has checked that the operation is defined on the
// elements.
func used(c *comm.Comm, k Kind, send, recv []byte, root int) (result []byte, ok bool) {
	switch {
	case len(send) == 0:
		return nil, false
	case k == Reduce && c.Rank != root:
		return recv, uint(root) < uint(c.Size())
	case len(recv) < len(send):
		return nil, false
	}
	recv = recv[:len(send)]
	return recv, &send[0] == &recv[0] || !mem.Overlap(send, recv)
}

// Reduce puts the reduction of the send slices of all members into recv at the root; other
// members do not use recv. In place, send is recv at the root. It takes the lock.
//
// The caller has checked that o is defined on t, and gives whole elements.
func (e *Engine) Reduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, code dtype.Code, root int) error {
	busy := &stateOf(c).busy
	if err := busy.enter(call.Reduce); err != nil {
		return err
	}
	s, result, ok := e.short(c, Reduce, len(send)), recv, false
	if s != nil {
		result, ok = used(c, Reduce, send, recv, root)
	}
	var err error
	if ok && t.Gaps() {
		if c.Rank != root {
			result = nil
		}
		from, to := stateOf(c).ungapped(t, send, result)
		err = s.Ended(s.Reduce(from, to, o, t, code, root))
		t.Copy(result, to)
	} else if ok {
		err = s.Ended(s.Reduce(send, result, o, t, code, root))
	} else {
		err = e.reduceMessages(c, Reduce, send, recv, o, t, code, root)
	}
	busy.leave()
	return err
}

// Allreduce puts the reduction of the send slices of all members into recv at each member, with
// the same bits. In place, send is recv. It takes the lock.
//
// The caller has checked that o is defined on t, and gives whole elements.
func (e *Engine) Allreduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, code dtype.Code) error {
	busy := &stateOf(c).busy
	if err := busy.enter(call.Allreduce); err != nil {
		return err
	}
	s, result, ok := e.short(c, Allreduce, len(send)), recv, false
	if s != nil {
		result, ok = used(c, Allreduce, send, recv, 0)
	}
	var err error
	if ok && t.Gaps() {
		from, to := stateOf(c).ungapped(t, send, result)
		err = s.Ended(s.Allreduce(from, to, o, t, code))
		t.Copy(result, to)
	} else if ok {
		err = s.Ended(s.Allreduce(send, result, o, t, code))
	} else {
		err = e.reduceMessages(c, Allreduce, send, recv, o, t, code, 0)
	}
	busy.leave()
	return err
}

// reduceMessages carries out a Reduce or Allreduce of slices that does not use the slot of c,
// for a caller that has entered the call.
func (e *Engine) reduceMessages(c *comm.Comm, k Kind, send, recv []byte, o op.Op, t op.Type, code dtype.Code, root int) error {
	a := Args{Send: Slice(send, code), Recv: Slice(recv, code), Op: o, Type: t, Root: root}
	if d := e.across(c, k, len(send)); d != nil {
		if result, ok := used(c, k, send, recv, root); ok {
			a.Recv.Mem, a.Width = mem.Of(result), t.Size()
			if !t.Gaps() {
				return e.throughNodes(c, d, k, &a)
			}
			if k == Reduce && c.Rank != root {
				result = nil
			}
			from, to := stateOf(c).ungapped(t, send, result)
			a.Send.Mem, a.Recv.Mem = mem.Of(from), mem.Of(to)
			err := e.throughNodes(c, d, k, &a)
			t.Copy(result, to)
			return err
		}
	}
	return e.do(c, k, &a)
}

// allgather puts the send slices of all members, in the order of the ranks, into recv at each
// member. by is the call. The lock is held.
func (e *Engine) allgather(c *comm.Comm, send, recv []byte, by call.Number) error {
	a := Args{Send: Bytes(send), Recv: Bytes(recv), Width: 1, Call: by}
	a.Measure()
	return e.wait(e.begin(c, Allgather, &a))
}
