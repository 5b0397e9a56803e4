package args

import (
	"cmp"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// Significant reports whether Send and Recv are significant at the caller. An argument that is
// not significant may have any value in the program, and is not read.
func Significant(c *comm.Comm, k kind.Kind, root int) (send, recv bool) {
	atRoot, others := c.Rank == root, true // the root, and the members that it exchanges data with
	if c.Inter != nil {
		atRoot, others = root == RootSelf, root != RootSelf && root != RootNone
	}
	switch k {
	case kind.Bcast:
		return false, atRoot || others
	case kind.Gather, kind.Gatherv, kind.Reduce:
		return others, atRoot
	case kind.Scatter, kind.Scatterv:
		return atRoot, others
	}
	return true, true
}

// Check validates what this member can see of the arguments of a collective, removes the
// arguments that are not significant, and cuts memory that may be longer to the part that is
// used. A disagreement between members shows in the lengths of messages, if at all.
func (a *Args) Check(c *comm.Comm, k kind.Kind) error {
	if k == kind.Barrier {
		return nil
	}
	if k.Neighborhood() {
		return a.checkNeighbors(c, k)
	}
	sends, receives := Significant(c, k, a.Root)
	if !sends {
		a.Send = Side{}
	}
	if !receives {
		a.Recv = Side{}
	}
	if err := cmp.Or(a.Send.Err(), a.Recv.Err()); err != nil {
		return err
	}
	a.Measure()
	if c.Inter != nil {
		return a.checkInter(c, k)
	}
	send, recv := &a.Send, &a.Recv
	if k.Rooted() {
		if err := checkRoot(c, a.Root); err != nil {
			return err
		}
	}
	if k.Reduces() {
		if send.IsBuffer {
			a.Width = send.Width
		}
		if err := a.checkOp(); err != nil {
			return err
		}
		send.Width, recv.Width = a.Width, a.Width
	}
	if send.endsWithin() || recv.endsWithin() {
		return class.Errorf(class.Count, "%d bytes to send and %d to receive of elements of %d bytes", send.Len(), recv.Len(), a.Width)
	}
	n, me := c.Size(), c.Rank
	atRoot := c.Rank == a.Root
	switch k {
	case kind.Bcast:
		if !atRoot {
			return recv.receives()
		}
		return nil
	case kind.Reduce, kind.Allreduce, kind.Scan, kind.Exscan:
		if k == kind.Reduce && !atRoot {
			return nil
		}
		if err := recv.cutTo(1, send.Len()); err != nil {
			return err
		}
		return send.apart(recv, 0, "", "receive")
	case kind.Gather, kind.Allgather:
		if k == kind.Gather && !atRoot {
			return nil
		}
		if err := recv.whole(send.Len(), send, "receive"); err != nil {
			return err
		}
		if err := recv.cutTo(n, send.Len()); err != nil {
			return err
		}
		return send.apart(recv, me*send.Len(), "the caller's own block of ", "receive")
	case kind.Gatherv, kind.Allgatherv:
		if k == kind.Gatherv && !atRoot {
			return nil
		}
		if err := recv.checkBlocks(n, "receive", a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		if err := send.fits(recv, me, a.RecvCounts, "send"); err != nil {
			return err
		}
		return apartBlocks(blocks{of: send}, blocks{recv, a.RecvCounts, a.RecvDispls}, recv.offset(me, a.RecvCounts, a.RecvDispls), "the caller's own block of ", "receive")
	case kind.Scatter:
		if !atRoot {
			return recv.receives()
		}
		if err := send.whole(recv.Len(), recv, "send"); err != nil {
			return err
		}
		if recv.Len() > send.Len()/n {
			return class.Errorf(class.Count, "send %s of %d elements, want %d for each of %d members", send.word(), send.count(), send.elements(recv.Len()), n)
		}
		send.Mem = send.First(n * recv.Len())
		return recv.apart(send, me*recv.Len(), "the root's own block of ", "send")
	case kind.Scatterv:
		if !atRoot {
			return recv.receives()
		}
		if err := send.checkBlocks(n, "send", a.SendCounts, a.SendDispls); err != nil {
			return err
		}
		if err := recv.fits(send, me, a.SendCounts, "receive"); err != nil {
			return err
		}
		return apartBlocks(blocks{of: recv}, blocks{send, a.SendCounts, a.SendDispls}, send.offset(me, a.SendCounts, a.SendDispls), "the root's own block of ", "send")
	case kind.Alltoall:
		if err := send.divides(n); err != nil {
			return err
		}
		if err := recv.whole(send.Len()/n, send, "receive"); err != nil {
			return err
		}
		if err := recv.cutTo(1, send.Len()); err != nil {
			return err
		}
		return send.apart(recv, 0, "", "receive")
	case kind.Alltoallv:
		if err := send.checkBlocks(n, "send", a.SendCounts, a.SendDispls); err != nil {
			return err
		}
		if err := recv.checkBlocks(n, "receive", a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		if s, r := a.SendCounts[me]*send.Width, a.RecvCounts[me]*recv.Width; s != r {
			if send.Width == recv.Width {
				return class.Errorf(class.Count, "rank %d sends itself %d elements and receives %d", me, a.SendCounts[me], a.RecvCounts[me])
			}
			return class.Errorf(class.Count, "rank %d sends itself %d bytes and receives %d", me, s, r)
		}
		return apartBlocks(blocks{send, a.SendCounts, a.SendDispls}, blocks{recv, a.RecvCounts, a.RecvDispls}, 0, "", "receive")
	case kind.ReduceScatterBlock:
		if err := send.divides(n); err != nil {
			return err
		}
		if err := recv.cutTo(1, send.Len()/n); err != nil {
			return err
		}
		return recv.apart(send, 0, "the beginning of ", "send")
	case kind.ReduceScatter:
		if err := send.checkBlocks(n, "send", a.SendCounts, nil); err != nil {
			return err
		}
		if want := Sum(a.SendCounts); send.count() != want {
			return class.Errorf(class.Count, "send %s of %d elements, the counts add up to %d", send.word(), send.count(), want)
		}
		if err := recv.cutTo(1, a.SendCounts[me]*send.Width); err != nil {
			return err
		}
		return recv.apart(send, 0, "the beginning of ", "send")
	}
	return nil
}

// checkOp checks the operation. A predefined operation determines the width of the elements.
func (a *Args) checkOp() error {
	if a.User != nil && a.Type != op.Handle {
		return a.User.Check(a.Elem)
	}
	a.Width = a.Type.Size()
	return op.Check(a.Op, a.Type)
}

// Ordered reports whether operands must be combined in the order of the ranks.
func (a *Args) Ordered() bool { return a.User != nil && !a.User.Commutes }

func checkRoot(c *comm.Comm, root int) error {
	if root >= 0 && root < c.Size() {
		return nil
	}
	return class.Errorf(class.Root, "root %d in a communicator of %d", root, c.Size())
}

// flat returns the bytes of contiguous memory, nil for other memory.
func flat(m mem.Mem) []byte {
	b, _ := m.Bytes()
	return b
}
