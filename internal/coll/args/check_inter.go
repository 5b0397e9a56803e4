package args

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// The values of Args.Root on an intercommunicator beside ranks. The root gives RootSelf. The
// other members of its group give RootNone and take no part. The members of the other group give
// the rank of the root.
const (
	RootSelf = -4
	RootNone = -3
)

// checkInter is check for an intercommunicator, where data goes to the remote group and comes
// from the remote group. No member sends to itself, so there is no in-place form.
func (a *Args) checkInter(c *comm.Comm, k kind.Kind) error {
	send, recv := &a.Send, &a.Recv
	if k == kind.Scan || k == kind.Exscan {
		return class.Errorf(class.Comm, "there is no %v on an intercommunicator", k)
	}
	n, local, me := c.Size(), c.Inter.Local.Size(), c.Rank
	atRoot := a.Root == RootSelf
	if k.Rooted() {
		if a.Root == RootNone {
			return nil
		}
		if !atRoot && (a.Root < 0 || a.Root >= n) {
			return class.Errorf(class.Root, "root %d is none of a remote group of size %d, neither Root nor ProcNull", a.Root, n)
		}
	}
	if k.Reduces() {
		switch {
		case send.IsBuffer:
			a.Width = send.Width
		case recv.IsBuffer:
			a.Width = recv.Width
		}
		if err := a.checkOp(); err != nil {
			return err
		}
		send.Width, recv.Width = a.Width, a.Width
	}
	if send.endsWithin() || recv.endsWithin() {
		return class.Errorf(class.Count, "%d bytes to send and %d to receive of elements of %d bytes", send.Len(), recv.Len(), a.Width)
	}
	switch k {
	case kind.Bcast:
		if !atRoot {
			return recv.receives()
		}
		return nil
	case kind.Reduce, kind.Gather, kind.Gatherv:
		if !atRoot {
			return nil
		}
		switch k {
		case kind.Gather:
			return recv.dealt("receive", n)
		case kind.Gatherv:
			return recv.checkBlocks(n, "receive", a.RecvCounts, a.RecvDispls)
		}
		return recv.receives()
	case kind.Scatter, kind.Scatterv:
		if !atRoot {
			return recv.receives()
		}
		if k == kind.Scatter {
			return send.divides(n)
		}
		return send.checkBlocks(n, "send", a.SendCounts, a.SendDispls)
	case kind.Allreduce:
		if err := recv.cutTo(1, send.Len()); err != nil {
			return err
		}
	case kind.Allgather:
		if err := recv.dealt("receive", n); err != nil {
			return err
		}
	case kind.Allgatherv:
		if err := recv.checkBlocks(n, "receive", a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		return separateBlocks(blocks{of: send}, blocks{recv, a.RecvCounts, a.RecvDispls})
	case kind.Alltoall:
		if err := send.divides(n); err != nil {
			return err
		}
		if err := recv.dealt("receive", n); err != nil {
			return err
		}
	case kind.Alltoallv:
		if err := send.checkBlocks(n, "send", a.SendCounts, a.SendDispls); err != nil {
			return err
		}
		if err := recv.checkBlocks(n, "receive", a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		return separateBlocks(blocks{send, a.SendCounts, a.SendDispls}, blocks{recv, a.RecvCounts, a.RecvDispls})
	case kind.ReduceScatterBlock:
		if err := send.divides(local); err != nil {
			return err
		}
		if err := recv.cutTo(1, send.Len()/local); err != nil {
			return err
		}
	case kind.ReduceScatter:
		if err := send.checkBlocks(local, "send", a.SendCounts, nil); err != nil {
			return err
		}
		if want := Sum(a.SendCounts); send.count() != want {
			return class.Errorf(class.Count, "send %s of %d elements, the counts add up to %d", send.word(), send.count(), want)
		}
		if err := recv.cutTo(1, a.SendCounts[me]*send.Width); err != nil {
			return err
		}
	}
	return send.separate(recv)
}

// dealt checks that x, a receive side, consists of n equal blocks.
func (x *Side) dealt(what string, n int) error {
	if count := x.count(); count%n != 0 {
		return class.Errorf(class.Count, "%s %s of %d elements is not a block for each of a remote group of size %d", what, x.word(), count, n)
	}
	return x.receives()
}

// separate checks that x, a send side, and y, a receive side, do not share memory.
func (x *Side) separate(y *Side) error {
	if !x.shares(y) {
		return nil
	}
	return class.Errorf(class.Buffer, "the send and the receive %s share memory: there is no in place on an intercommunicator", x.word())
}

// shares reports whether x and y share memory. Of layouts it compares only where they begin.
func (x *Side) shares(y *Side) bool {
	a, row := x.Bytes()
	b, rowToo := y.Bytes()
	switch {
	case x.Len() == 0 || y.Len() == 0:
		return false
	case row && rowToo:
		return mem.Overlap(a, b)
	}
	return mem.Same(x.Mem, y.Mem)
}

// separateBlocks is separate for blocks: a block of one side may be between blocks of the other.
func separateBlocks(x, y blocks) error {
	if err := x.of.separate(y.of); err != nil && x.meets(y) {
		return err
	}
	return nil
}
