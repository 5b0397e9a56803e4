package coll

import (
	"fmt"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
)

// check validates what this member can see of the arguments of a collective, and
// cuts slices that may be longer to what is used of them. What the members must
// agree on is found out by the lengths of messages, as far as it shows.
func (a *Args) check(c *comm.Comm, k Kind) error {
	if k == Barrier {
		return nil
	}
	if k.rooted() {
		if err := checkRoot(c, a.Root); err != nil {
			return err
		}
	}
	if k.reduces() {
		if err := a.checkOp(); err != nil {
			return err
		}
	}
	if w := a.Width; len(a.Send)%w != 0 || len(a.Recv)%w != 0 {
		return wrong(class.Count, "%d bytes to send and %d to receive of elements of %d bytes", len(a.Send), len(a.Recv), w)
	}
	n, me := c.Size(), c.Rank
	atRoot := c.Rank == a.Root
	switch k {
	case Reduce, Allreduce, Scan, Exscan:
		if k == Reduce && !atRoot {
			return nil
		}
		if err := a.cutRecv(len(a.Send)); err != nil {
			return err
		}
		return apart(a.Send, a.Recv, 0, "the receive slice")
	case Gather, Allgather:
		if k == Gather && !atRoot {
			return nil
		}
		if err := a.cutRecv(n * len(a.Send)); err != nil {
			return err
		}
		return apart(a.Send, a.Recv, me*len(a.Send), "the caller's own block of the receive slice")
	case Gatherv, Allgatherv:
		if k == Gatherv && !atRoot {
			return nil
		}
		if err := a.checkBlocks(n, "receive", len(a.Recv), a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		if got, want := len(a.Send)/a.Width, a.RecvCounts[me]; got != want {
			return wrong(class.Count, "send slice of %d elements, the count of rank %d is %d", got, me, want)
		}
		return apart(a.Send, a.Recv, a.offset(me, a.RecvCounts, a.RecvDispls), "the caller's own block of the receive slice")
	case Scatter:
		if !atRoot {
			return nil
		}
		if len(a.Send) < n*len(a.Recv) {
			return wrong(class.Count, "send slice of %d elements, want %d for each of %d members", len(a.Send)/a.Width, len(a.Recv)/a.Width, n)
		}
		a.Send = a.Send[:n*len(a.Recv)]
		return apart(a.Recv, a.Send, me*len(a.Recv), "the root's own block of the send slice")
	case Scatterv:
		if !atRoot {
			return nil
		}
		if err := a.checkBlocks(n, "send", len(a.Send), a.SendCounts, a.SendDispls); err != nil {
			return err
		}
		if got, want := len(a.Recv)/a.Width, a.SendCounts[me]; got != want {
			return wrong(class.Count, "receive slice of %d elements, the count of rank %d is %d", got, me, want)
		}
		return apart(a.Recv, a.Send, a.offset(me, a.SendCounts, a.SendDispls), "the root's own block of the send slice")
	case Alltoall:
		if err := a.divides(n); err != nil {
			return err
		}
		if err := a.cutRecv(len(a.Send)); err != nil {
			return err
		}
		return apart(a.Send, a.Recv, 0, "the receive slice")
	case Alltoallv:
		if err := a.checkBlocks(n, "send", len(a.Send), a.SendCounts, a.SendDispls); err != nil {
			return err
		}
		if err := a.checkBlocks(n, "receive", len(a.Recv), a.RecvCounts, a.RecvDispls); err != nil {
			return err
		}
		if s, r := a.SendCounts[me], a.RecvCounts[me]; s != r {
			return wrong(class.Count, "rank %d sends itself %d elements and receives %d", me, s, r)
		}
		return apart(a.Send, a.Recv, 0, "the receive slice")
	case ReduceScatterBlock:
		if err := a.divides(n); err != nil {
			return err
		}
		if err := a.cutRecv(len(a.Send) / n); err != nil {
			return err
		}
		return apart(a.Recv, a.Send, 0, "the beginning of the send slice")
	case ReduceScatter:
		if err := a.checkBlocks(n, "send", len(a.Send), a.SendCounts, nil); err != nil {
			return err
		}
		if got, want := len(a.Send)/a.Width, sum(a.SendCounts); got != want {
			return wrong(class.Count, "send slice of %d elements, the counts add up to %d", got, want)
		}
		if err := a.cutRecv(a.SendCounts[me] * a.Width); err != nil {
			return err
		}
		return apart(a.Recv, a.Send, 0, "the beginning of the send slice")
	}
	return nil
}

// checkOp checks the operation, which tells the width of elements if it is a
// predefined one.
func (a *Args) checkOp() error {
	if a.User != nil {
		return a.User.Check(a.Elem)
	}
	a.Width = a.Type.Size()
	return op.Check(a.Op, a.Type)
}

// ordered reports whether operands must be combined in the order of the ranks.
func (a *Args) ordered() bool { return a.User != nil && !a.User.Commutes }

// cutRecv makes Recv the n bytes that are used of it.
func (a *Args) cutRecv(n int) error {
	if len(a.Recv) < n {
		return wrong(class.Count, "receive slice of %d elements for %d", len(a.Recv)/a.Width, n/a.Width)
	}
	a.Recv = a.Recv[:n]
	return nil
}

// divides checks that Send is n equal blocks.
func (a *Args) divides(n int) error {
	if count := len(a.Send) / a.Width; count%n != 0 {
		return wrong(class.Count, "send slice of %d elements is not a block for each of %d members", count, n)
	}
	return nil
}

// checkBlocks checks counts and displacements of blocks in a slice of size bytes.
func (a *Args) checkBlocks(n int, what string, size int, counts, displs []int) error {
	if len(counts) != n {
		return wrong(class.Count, "%d %s counts for %d members", len(counts), what, n)
	}
	if displs != nil && len(displs) != n {
		return wrong(class.Arg, "%d %s displacements for %d members", len(displs), what, n)
	}
	room, next := size/a.Width, 0
	for r, k := range counts {
		at := next
		if displs != nil {
			at = displs[r]
		}
		switch {
		case k < 0:
			return wrong(class.Count, "%s count %d of rank %d is negative", what, k, r)
		case k > 0 && (at < 0 || at > room || k > room-at):
			return wrong(class.Count, "%s block of rank %d: %d elements at %d of a slice of %d", what, r, k, at, room)
		}
		next = at + k
	}
	return nil
}

// offset is where the block of rank r begins, in bytes.
func (a *Args) offset(r int, counts, displs []int) int {
	if displs != nil {
		return displs[r] * a.Width
	}
	return sum(counts[:r]) * a.Width
}

// apart checks that part shares no memory with whole, or begins at that place of
// it, which place names.
func apart(part, whole []byte, at int, place string) error {
	if !overlap(part, whole) {
		return nil
	}
	if at < len(whole) && &part[0] == &whole[at] {
		return nil
	}
	return wrong(class.Buffer, "send and receive slices overlap in part: in place the one is %s", place)
}

// overlap reports whether two slices share memory.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// same reports whether a and b begin at the same place.
func same(a, b []byte) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

func checkRoot(c *comm.Comm, root int) error {
	if root >= 0 && root < c.Size() {
		return nil
	}
	return wrong(class.Root, "root %d in a communicator of %d", root, c.Size())
}

// wrong is the error of an argument.
func wrong(cl class.Class, format string, args ...any) error {
	return &class.Error{Class: cl, Text: fmt.Sprintf(format, args...)}
}
