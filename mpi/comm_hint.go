package mpi

// hints are what a program asserts of a communicator, as bits.
type hints uint32

const (
	noAnyTag hints = 1 << iota
	noAnySource
	exactLength
	allowOvertaking
	allHints = iota
)

// hintNames are the info keys, by bit.
func hintNames() [allHints]string {
	return [allHints]string{"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length", "mpi_assert_allow_overtaking"}
}

// NoAnyTag asserts that no receive or probe on the communicator uses AnyTag. One that does is
// ErrTag. It is false unless set.
//
// C: info key mpi_assert_no_any_tag, section 7.4.4.
type NoAnyTag bool

// NoAnySource asserts that no receive or probe on the communicator uses AnySource. One that does
// is ErrRank. It is false unless set.
//
// C: info key mpi_assert_no_any_source, section 7.4.4.
type NoAnySource bool

// ExactLength asserts that messages are as long as their receive buffers. It is false unless set.
// Halo gains nothing from it, and does not check it.
//
// C: info key mpi_assert_exact_length, section 7.4.4.
type ExactLength bool

// AllowOvertaking asserts that messages may be received in another order. It is false unless set.
// Halo gains nothing from it, and does not check it.
//
// C: info key mpi_assert_allow_overtaking, section 7.4.4.
type AllowOvertaking bool

func (v NoAnyTag) commHint(h *hints)        { h.set(noAnyTag, bool(v)) }
func (v NoAnySource) commHint(h *hints)     { h.set(noAnySource, bool(v)) }
func (v ExactLength) commHint(h *hints)     { h.set(exactLength, bool(v)) }
func (v AllowOvertaking) commHint(h *hints) { h.set(allowOvertaking, bool(v)) }

// commHint sets the hints that keys of the Info name, and that have a legal value.
func (i *Info) commHint(h *hints) {
	for bit, name := range hintNames() {
		value, _ := i.Get(name)
		if b, ok := boolean(value); ok {
			h.set(1<<bit, b)
		}
	}
}

func (h *hints) set(bit hints, v bool) {
	*h &^= bit
	if v {
		*h |= bit
	}
}

// with is h changed by a list.
func (h hints) with(list []CommHint) hints {
	for _, x := range list {
		if x != nil {
			x.commHint(&h)
		}
	}
	return h
}

// SetInfo changes hints of the communicator; see CommHint. Collective over c, with the same hints
// everywhere, but it does not communicate.
//
// C: MPI_Comm_set_info, section 7.4.4.
func (c *Comm) SetInfo(list ...CommHint) error {
	if err := c.usable(callSetInfo); err != nil {
		return err
	}
	checkKeys(c, callSetInfo, list...)
	for {
		h := c.hints.Load()
		if c.hints.CompareAndSwap(h, uint32(hints(h).with(list))) {
			return nil
		}
	}
}

// Info returns the hints of the communicator: all that are known, with what was
// set or else the default.
//
// C: MPI_Comm_get_info, section 7.4.4.
func (c *Comm) Info() (*Info, error) {
	if err := c.usable(callGetInfo); err != nil {
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
	return i, nil
}

// forbids reports why a wildcard must not be used on the communicator.
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
