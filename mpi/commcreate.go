package mpi

import "github.com/halo-mpi/halo/internal/comm"

// Dup makes a communicator of the same members whose messages never mix with
// those of c. Collective over c.
//
// C: MPI_Comm_dup, section 7.4.2.
func (c *Comm) Dup() (*Comm, error) {
	if err := c.usable(callDup); err != nil {
		return nil, err
	}
	d, err := c.w.Coll.Dup(c.core)
	if err != nil {
		return nil, wrap(err, callDup, c, Undefined, Undefined)
	}
	return c.derive(d), nil
}

// Split makes a communicator for each color, of the members of c that pass it,
// in the order of key and then of rank. A member that passes Undefined gets
// nil. Collective over c.
//
// C: MPI_Comm_split, section 7.4.2.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if err := c.usable(callSplit); err != nil {
		return nil, err
	}
	if color < 0 && color != Undefined {
		return nil, fail(ErrArg, "Split", c, "color %d is negative and not Undefined", color)
	}
	d, err := c.w.Coll.Split(c.core, color, key)
	if err != nil {
		return nil, wrap(err, callSplit, c, Undefined, Undefined)
	}
	if d == nil {
		return nil, nil
	}
	return c.derive(d), nil
}

// Free gives the communicator up: no call on it may follow in this process.
// Operations that are pending on it complete, and so do the messages in a buffer
// attached to it, which is detached. Collective over c; the world and self
// cannot be freed.
//
// C: MPI_Comm_free, section 7.4.3.
func (c *Comm) Free() error {
	if err := c.usable(callFree); err != nil {
		return err
	}
	if c.fixed {
		return fail(ErrComm, "Free", c, "the first communicators cannot be freed")
	}
	if c.freed.Swap(true) {
		return fail(ErrComm, "Free", c, "communicator has been freed")
	}
	c.w.Coll.Free(c.core)
	c.w.P2P.Abandon(c.core.Ctx)
	return nil
}

// Comparison is how two communicators relate.
//
// C: MPI_IDENT and so on, section 7.4.1.
type Comparison int

// The results of Compare.
//
// C: MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL, section 7.4.1.
const (
	Ident     Comparison = 201 // the same communicator
	Congruent Comparison = 202 // the same members in the same order
	Similar   Comparison = 203 // the same members in another order
	Unequal   Comparison = 204 // other members
)

// Compare tells how c and d relate. It is local.
//
// C: MPI_Comm_compare, section 7.4.1.
func (c *Comm) Compare(d *Comm) (Comparison, error) {
	if err := c.usable(callCompare); err != nil {
		return Unequal, err
	}
	if err := d.usable(callCompare); err != nil {
		return Unequal, err
	}
	switch {
	case c.w != d.w:
		return Unequal, nil
	case c.core.Ctx == d.core.Ctx:
		return Ident, nil
	case c.Size() != d.Size():
		return Unequal, nil
	}
	return compareMembers(c.core, d.core), nil
}

func compareMembers(a, b *comm.Comm) Comparison {
	result := Congruent
	for r, m := range a.Members {
		if b.RankOf(m) < 0 {
			return Unequal
		}
		if b.Members[r] != m {
			result = Similar
		}
	}
	return result
}
