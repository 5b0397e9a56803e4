package coll

// exchange lets everyone give send and waits until all have: then the cells hold
// what all have given.
func (s *slot) exchange(send []byte) error {
	if err := s.give(send); err != nil {
		return err
	}
	return s.meet()
}

func (s *slot) allgather(send, recv []byte) error {
	s.number, s.kind = s.number+1, Allgather
	if err := s.exchange(send); err != nil {
		return err
	}
	n := len(send)
	for r, c := range s.cells {
		copy(recv[r*n:(r+1)*n], s.data(c, n))
	}
	return nil
}

func (s *slot) alltoall(send, recv []byte) error {
	s.number, s.kind = s.number+1, Alltoall
	if err := s.exchange(send); err != nil {
		return err
	}
	n := len(send) / len(s.cells)
	mine := s.c.Rank * n
	for r, c := range s.cells {
		copy(recv[r*n:(r+1)*n], s.data(c, len(send))[mine:mine+n])
	}
	return nil
}
