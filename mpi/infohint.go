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

// with is h changed by the keys of info that are hints and have a legal value.
func (h hints) with(info *Info) hints {
	for i, name := range hintNames() {
		switch v, _ := info.Get(name); v {
		case "true":
			h |= 1 << i
		case "false":
			h &^= 1 << i
		}
	}
	return h
}

// SetInfo changes the hints of the communicator: those in info that are known and
// have a legal value. Collective over c, with the same hints everywhere, but it
// does not communicate. Known are four booleans, false unless set:
//
//   - mpi_assert_no_any_tag: no receive or probe uses AnyTag. One that does is
//     ErrTag.
//   - mpi_assert_no_any_source: none uses AnySource. One that does is ErrRank.
//   - mpi_assert_exact_length: messages are as long as their receive buffers.
//   - mpi_assert_allow_overtaking: messages may be received in another order.
//
// Halo gains nothing from the last two, and does not look whether they hold.
//
// C: MPI_Comm_set_info, section 7.4.4.
func (c *Comm) SetInfo(info *Info) error {
	if err := c.usable(callSetInfo); err != nil {
		return err
	}
	for {
		h := c.hints.Load()
		if c.hints.CompareAndSwap(h, uint32(hints(h).with(info))) {
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
