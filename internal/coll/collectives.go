package coll

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// short returns the slot to use for a collective of the kind with size bytes,
// nil for messages.
func (e *Engine) short(c *comm.Comm, k Kind, size int) *slot {
	st := stateOf(c)
	s := st.slot
	if s == nil || st.broken || size > shmfmt.SlotPayload {
		return nil
	}
	if e.forced != (Forced{}) {
		return e.forcedSlot(s, k)
	}
	return s
}

// through notes how a collective through the slot of c has ended. It fails when a
// member is gone, and whoever entered once more would be counted for another.
func through(c *comm.Comm, err error) error {
	if err != nil {
		stateOf(c).broken = true
	}
	return err
}

func (e *Engine) forcedSlot(s *slot, k Kind) *slot {
	if e.forced.Algorithm[k] != Auto || e.forced.Slot == SlotNone {
		return nil
	}
	if e.forced.Slot != SlotAuto {
		s.form = e.forced.Slot
	}
	return s
}

// Barrier returns when all members have called it. It takes the lock.
//
// Cost on one node: a line from each member to each, or a count and a release.
func (e *Engine) Barrier(c *comm.Comm) error {
	if s := e.short(c, Barrier, 0); s != nil {
		return through(c, s.barrier())
	}
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.Ibarrier(c))
}

// Bcast copies buf from the root to all others. It takes the lock.
func (e *Engine) Bcast(c *comm.Comm, buf []byte, root int) error {
	if s := e.short(c, Bcast, len(buf)); s != nil && len(buf) > 0 && checkRoot(c, root) == nil {
		return through(c, s.bcast(buf, root))
	}
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.Ibcast(c, buf, root))
}

// Reduce leaves the reduction of all send in recv at the root; recv is not used
// elsewhere. In place: send is recv at the root. It takes the lock.
func (e *Engine) Reduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, root int) error {
	if s := e.short(c, Reduce, len(send)); s != nil && len(send) > 0 && checkReduce(c, send, recv, o, t, root) == nil {
		return through(c, s.reduce(send, recv, o, t, root))
	}
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.Ireduce(c, send, recv, o, t, root))
}

// Allreduce leaves the reduction of all send in every recv, the same bits in
// each. In place: send is recv. It takes the lock.
func (e *Engine) Allreduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type) error {
	if s := e.short(c, Allreduce, len(send)); s != nil && len(send) > 0 && checkReduce(c, send, recv, o, t, c.Rank) == nil {
		return through(c, s.allreduce(send, recv, o, t))
	}
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.Iallreduce(c, send, recv, o, t))
}

// Gather leaves all send, in the order of the ranks, in recv at the root; recv is
// not used elsewhere. In place: send is the own part of recv at the root. It
// takes the lock.
func (e *Engine) Gather(c *comm.Comm, send, recv []byte, root int) error {
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.Igather(c, send, recv, root))
}

// Ibarrier starts a barrier.
func (e *Engine) Ibarrier(c *comm.Comm) *p2p.Request {
	if c.Size() == 1 {
		return e.finished(c, nil)
	}
	return e.start(e.newSchedule(c, e.choose(Barrier, 0, c.Size())), nextTag(c))
}

// Ibcast starts a bcast.
func (e *Engine) Ibcast(c *comm.Comm, buf []byte, root int) *p2p.Request {
	if err := checkRoot(c, root); err != nil || c.Size() == 1 || len(buf) == 0 {
		return e.finished(c, err)
	}
	s := e.newSchedule(c, e.choose(Bcast, len(buf), c.Size()))
	s.recv, s.root = buf, root
	return e.start(s, nextTag(c))
}

// Ireduce starts a reduce.
func (e *Engine) Ireduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, root int) *p2p.Request {
	if err := checkReduce(c, send, recv, o, t, root); err != nil || c.Size() == 1 || len(send) == 0 {
		if err == nil {
			copy(recv, send)
		}
		return e.finished(c, err)
	}
	s := e.newSchedule(c, e.choose(Reduce, len(send), c.Size()))
	s.send, s.recv, s.op, s.typ, s.root = send, recv, o, t, root
	if c.Rank == root {
		s.recv = recv[:len(send)]
	}
	return e.start(s, nextTag(c))
}

// Iallreduce starts an allreduce.
func (e *Engine) Iallreduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type) *p2p.Request {
	if err := checkReduce(c, send, recv, o, t, c.Rank); err != nil || c.Size() == 1 || len(send) == 0 {
		if err == nil {
			copy(recv, send)
		}
		return e.finished(c, err)
	}
	s := e.newSchedule(c, e.choose(Allreduce, len(send), c.Size()))
	s.send, s.recv, s.op, s.typ = send, recv, o, t
	return e.start(s, nextTag(c))
}

// Igather starts a gather.
func (e *Engine) Igather(c *comm.Comm, send, recv []byte, root int) *p2p.Request {
	err := checkRoot(c, root)
	if err == nil && c.Rank == root && len(recv) != len(send)*c.Size() {
		err = &class.Error{Class: class.Count, Text: fmt.Sprintf(
			"%d bytes to receive at the root from %d ranks with %d bytes each", len(recv), c.Size(), len(send))}
	}
	if err != nil || c.Size() == 1 || len(send) == 0 {
		if err == nil {
			copy(recv, send)
		}
		return e.finished(c, err)
	}
	s := e.newSchedule(c, e.choose(Gather, len(send), c.Size()))
	s.send, s.recv, s.root = send, recv, root
	return e.start(s, nextTag(c))
}

// allgather leaves all send, in the order of the ranks, in every recv. The lock is held.
func (e *Engine) allgather(c *comm.Comm, send, recv []byte) error {
	if c.Size() == 1 {
		copy(recv, send)
		return nil
	}
	s := e.newSchedule(c, e.choose(Allgather, len(send), c.Size()))
	s.send, s.recv = send, recv
	return e.wait(e.start(s, nextTag(c)))
}

// finished returns the request of a collective in which there is nothing to do.
func (e *Engine) finished(c *comm.Comm, err error) *p2p.Request {
	r := e.p2p.NewRequest(c, "a collective")
	e.p2p.Finish(r, err)
	return r
}

func checkRoot(c *comm.Comm, root int) error {
	if root >= 0 && root < c.Size() {
		return nil
	}
	return &class.Error{Class: class.Root, Text: fmt.Sprintf("root %d in a communicator of %d", root, c.Size())}
}

// checkReduce checks the arguments of a reduction whose result the root gets.
func checkReduce(c *comm.Comm, send, recv []byte, o op.Op, t op.Type, root int) error {
	if err := op.Check(o, t); err != nil {
		return err
	}
	if err := checkRoot(c, root); err != nil {
		return err
	}
	if w := t.Size(); len(send)%w != 0 || c.Rank == root && len(recv) != len(send) {
		return &class.Error{Class: class.Count, Text: fmt.Sprintf(
			"%d bytes to send and %d to receive of elements of %d bytes", len(send), len(recv), w)}
	}
	return nil
}
