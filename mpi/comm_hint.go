package mpi

import "github.com/halo-mpi/halo/internal/call"

// hints are the assertions of a program about a communicator, as bits.
type hints uint32

const (
	noAnyTag hints = 1 << iota
	noAnySource
	exactLength
	allowOvertaking
	strictOrdering
	allHints = iota
)

// hintNames are the info keys, by bit.
func hintNames() [allHints]string {
	return [allHints]string{"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length", "mpi_assert_allow_overtaking",
		"mpi_assert_strict_persistent_collective_ordering"}
}

// NoAnyTag asserts that no receive or probe on the communicator uses AnyTag. A call that does is
// ErrTag. The default is false.
//
// C: info key mpi_assert_no_any_tag, section 7.4.4.
type NoAnyTag bool

// NoAnySource asserts that no receive or probe on the communicator uses AnySource. A call that
// does is ErrRank. The default is false.
//
// C: info key mpi_assert_no_any_source, section 7.4.4.
type NoAnySource bool

// ExactLength asserts that messages are as long as their receive buffers. The default is false.
// Halo does not use it for optimization, and does not check it.
//
// C: info key mpi_assert_exact_length, section 7.4.4.
type ExactLength bool

// AllowOvertaking asserts that messages may be received in another order than they were sent.
// The default is false. Halo does not use it for optimization.
//
// C: info key mpi_assert_allow_overtaking, section 7.4.4.
type AllowOvertaking bool

// StrictPersistentOrdering asserts that all members start persistent collectives on the communicator in
// the same order. The default is false: members may start them in different orders. Halo does not use it
// for optimization, and does not check it.
//
// C: info key mpi_assert_strict_persistent_collective_ordering, section 7.4.4.
type StrictPersistentOrdering bool

// commOptions is the hints for a communicator.
type commOptions struct {
	hints
	kinds *string // the kinds of memory that AssertMemoryAllocKinds names; nil: not asserted
}

func (v NoAnyTag) commHint(o *commOptions)        { o.set(noAnyTag, bool(v)) }
func (v NoAnySource) commHint(o *commOptions)     { o.set(noAnySource, bool(v)) }
func (v ExactLength) commHint(o *commOptions)     { o.set(exactLength, bool(v)) }
func (v AllowOvertaking) commHint(o *commOptions) { o.set(allowOvertaking, bool(v)) }

func (v StrictPersistentOrdering) commHint(o *commOptions) { o.set(strictOrdering, bool(v)) }

// commHint sets the hints whose keys the Info has with legal values.
func (i *Info) commHint(o *commOptions) {
	for bit, name := range hintNames() {
		value, _ := i.Get(name)
		if b, ok := boolean(value); ok {
			o.set(1<<bit, b)
		}
	}
	if v, found := i.Get(keyAssertKinds); found {
		AssertMemoryAllocKinds(v).commHint(o)
	}
}

func (h *hints) set(bit hints, v bool) {
	*h &^= bit
	if v {
		*h |= bit
	}
}

// with returns o as changed by a list of hints.
func (o commOptions) with(list []CommHint) commOptions {
	for _, h := range list {
		if h != nil {
			h.commHint(&o)
		}
	}
	return o
}

// SetInfo changes hints of the communicator; see CommHint. It is collective over c, and all
// members pass the same hints, but it does not communicate.
//
// C: MPI_Comm_set_info, section 7.4.4.
func (c *Comm) SetInfo(list ...CommHint) error {
	if err := c.usable(call.CommSetInfo); err != nil {
		return err
	}
	checkKeys(c, call.CommSetInfo, list...)
	c.setHints(list)
	return nil
}

func (c *Comm) setHints(list []CommHint) {
	for {
		h := c.hints.Load()
		o := commOptions{hints: hints(h)}.with(list)
		if c.hints.CompareAndSwap(h, uint32(o.hints)) {
			c.asserted.set(o.kinds, c.self.kinds)
			c.w.P2P.AllowAnyTag(c.core.Ctx, hints(c.hints.Load())&noAnyTag == 0)
			return
		}
	}
}

// Info returns all known hints of the communicator, with the values that were set or else the
// defaults, and the kinds of memory that are supported, or asserted.
//
// C: MPI_Comm_get_info, section 7.4.4.
func (c *Comm) Info() (*Info, error) {
	if err := c.usable(call.CommGetInfo); err != nil {
		return nil, err
	}
	i, h := NewInfo(), hints(c.hints.Load())
	for bit, name := range hintNames() {
		v := "false"
		if h>>bit&1 != 0 {
			v = "true"
		}
		if err := i.Set(name, v); err != nil {
			return nil, err
		}
	}
	for _, p := range c.asserted.pairs(c.self.kinds) {
		if err := i.Set(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// forbids reports whether hints of the communicator forbid a wildcard, with the reason.
func (c *Comm) forbids(peer, tag int) (cl Class, why string) {
	switch h := hints(c.hints.Load()); {
	case h == 0 || peer == ProcNull:
	case peer == AnySource && h&noAnySource != 0:
		return ErrRank, "AnySource on a communicator with mpi_assert_no_any_source"
	case tag == AnyTag && h&noAnyTag != 0:
		return ErrTag, "AnyTag on a communicator with mpi_assert_no_any_tag"
	}
	return Success, ""
}
