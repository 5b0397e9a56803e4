package comm

import "github.com/halo-mpi/halo/internal/proc"

// Inter is the part of an intercommunicator other than its remote group. Local and Union use the
// contexts of the intercommunicator: the two groups are disjoint, so the sender of a message determines
// between which groups the message goes, and one sequence of tags is enough.
type Inter struct {
	Local *Comm // the local group
	Union *Comm // both groups, the first group before the second
	First bool  // the local group is the first one; both sides agree which one that is
}

// NewInter makes an intercommunicator between the group local, in which rank is the own rank, and the
// group remote. first says whether local is the first group.
func NewInter(p *proc.Proc, ctx uint64, rank int, local, remote []int32, first bool) *Comm {
	c := New(p, ctx, rank, remote)
	all := make([]int32, 0, len(local)+len(remote))
	place := rank
	if first {
		all = append(append(all, local...), remote...)
	} else {
		all = append(append(all, remote...), local...)
		place += len(remote)
	}
	c.Inter = &Inter{Local: New(p, ctx, rank, local), Union: New(p, ctx, place, all), First: first}
	c.Inter.Local.Within, c.Inter.Union.Within = c, c
	return c
}

// SetContext sets the context of a communicator that nobody has used yet.
func (c *Comm) SetContext(ctx uint64) {
	c.Ctx = ctx
	if c.Inter != nil {
		c.Inter.Local.Ctx, c.Inter.Union.Ctx = ctx, ctx
	}
}

// Own returns the communicator of the process's own group: the communicator itself, or the
// local group of an intercommunicator.
func (c *Comm) Own() *Comm {
	if c.Inter != nil {
		return c.Inter.Local
	}
	return c
}

// Whole returns the communicator of all processes that a collective call involves: the
// communicator itself, or both groups of an intercommunicator.
func (c *Comm) Whole() *Comm {
	if c.Inter != nil {
		return c.Inter.Union
	}
	return c
}

// Sides divides ranks in the union of both groups into ranks in the local group and ranks
// in the remote group. It keeps their order.
func (c *Comm) Sides(ranks []int) (local, remote []int) {
	first, n := c.Inter.First, c.FirstSize()
	for _, r := range ranks {
		i := r
		if r >= n {
			i -= n
		}
		if (r < n) == first {
			local = append(local, i)
		} else {
			remote = append(remote, i)
		}
	}
	return local, remote
}

// FirstSize returns the size of the first group of an intercommunicator: in the union, the
// ranks of the second group begin at this number.
func (c *Comm) FirstSize() int {
	if c.Inter.First {
		return c.Inter.Local.Size()
	}
	return c.Size()
}
