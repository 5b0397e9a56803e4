package coll

import (
	"cmp"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
)

// Significant reports whether Send and Recv are significant at the caller. An argument that is
// not significant may have any value in the program, and is not read.
func Significant(c *comm.Comm, k Kind, root int) (send, recv bool) {
	atRoot, others := c.Rank == root, true // the root, and the members that it exchanges data with
	if c.Inter != nil {
		atRoot, others = root == RootSelf, root != RootSelf && root != RootNone
	}
	switch k {
	case Bcast:
		return false, atRoot || others
	case Gather, Gatherv, Reduce:
		return others, atRoot
	case Scatter, Scatterv:
		return atRoot, others
	}
	return true, true
}

// check validates what this member can see of the arguments of a collective, removes the
// arguments that are not significant, and cuts memory that may be longer to the part that is
// used. A disagreement between members shows in the lengths of messages, if at all.
func (a *Args) check(c *comm.Comm, k Kind) error {
	if k == Barrier {
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
	a.measure()
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
		if send.buffer {
			a.Width = send.width
		}
		if err := a.checkOp(); err != nil {
			return err
		}
		send.width, recv.width = a.Width, a.Width
	}
	if send.endsWithin() || recv.endsWithin() {
		return class.Errorf(class.Count, "%d bytes to send and %d to receive of elements of %d bytes", send.Len(), recv.Len(), a.Width)
	}
	n, me := c.Size(), c.Rank
	atRoot := c.Rank == a.Root
	switch k {
	case Bcast:
		if !atRoot {
			return recv.receives()
		}
		return nil
	case Reduce, Allreduce, Scan, Exscan:
		if k == Reduce && !atRoot {
			return nil
		}
		if err := recv.cutTo(1, send.Len()); err != nil {
			return err
		}
		return send.apart(recv, 0, "", "receive")
	case Gather, Allgather:
		if k == Gather && !atRoot {
			return nil
		}
		if err := recv.whole(send.Len(), send, "receive"); err != nil {
			return err
		}
		if err := recv.cutTo(n, send.Len()); err != nil {
			return err
		}
		return send.apart(recv, me*send.Len(), "the caller's own block of ", "receive")
	case Gatherv, Allgatherv:
		if k == Gatherv && !atRoot {
			return nil
		}
		if err := recv.checkBlocks(n, "receive", a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		if err := send.fits(recv, me, a.RecvCounts, "send"); err != nil {
			return err
		}
		return apartBlocks(blocks{of: send}, blocks{recv, a.RecvCounts, a.RecvDispls}, recv.offset(me, a.RecvCounts, a.RecvDispls), "the caller's own block of ", "receive")
	case Scatter:
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
	case Scatterv:
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
	case Alltoall:
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
	case Alltoallv:
		if err := send.checkBlocks(n, "send", a.SendCounts, a.SendDispls); err != nil {
			return err
		}
		if err := recv.checkBlocks(n, "receive", a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		if s, r := a.SendCounts[me]*send.width, a.RecvCounts[me]*recv.width; s != r {
			if send.width == recv.width {
				return class.Errorf(class.Count, "rank %d sends itself %d elements and receives %d", me, a.SendCounts[me], a.RecvCounts[me])
			}
			return class.Errorf(class.Count, "rank %d sends itself %d bytes and receives %d", me, s, r)
		}
		return apartBlocks(blocks{send, a.SendCounts, a.SendDispls}, blocks{recv, a.RecvCounts, a.RecvDispls}, 0, "", "receive")
	case ReduceScatterBlock:
		if err := send.divides(n); err != nil {
			return err
		}
		if err := recv.cutTo(1, send.Len()/n); err != nil {
			return err
		}
		return recv.apart(send, 0, "the beginning of ", "send")
	case ReduceScatter:
		if err := send.checkBlocks(n, "send", a.SendCounts, nil); err != nil {
			return err
		}
		if want := sum(a.SendCounts); send.count() != want {
			return class.Errorf(class.Count, "send %s of %d elements, the counts add up to %d", send.word(), send.count(), want)
		}
		if err := recv.cutTo(1, a.SendCounts[me]*send.width); err != nil {
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

// ordered reports whether operands must be combined in the order of the ranks.
func (a *Args) ordered() bool { return a.User != nil && !a.User.Commutes }

func checkRoot(c *comm.Comm, root int) error {
	if root >= 0 && root < c.Size() {
		return nil
	}
	return class.Errorf(class.Root, "root %d in a communicator of %d", root, c.Size())
}
