package main

import "github.com/halo-mpi/halo/mpi"

// sent sends tiles as messages. One receive for each slot is posted ahead.
type sent struct {
	*pipe
	in, out  [][]uint64
	coming   []mpi.Request
	on       []mpi.Request
	received int // how many receives were posted
}

func byMessages(p *pipe) (stream, error) {
	s := &sent{pipe: p, in: p.slots(), out: p.slots(), coming: make([]mpi.Request, p.depth), on: make([]mpi.Request, p.depth)}
	for range min(p.depth, p.tiles) {
		s.post()
	}
	return s, nil
}

// post posts the next receive.
func (s *sent) post() {
	slot := s.received % s.depth
	s.coming[slot] = mpi.Irecv(s.world, s.in[slot], s.before, tileTag)
	s.received++
}

func (s *sent) receive(i int) ([]uint64, error) {
	slot := i % s.depth
	_, err := s.coming[slot].Wait()
	return s.in[slot], err
}

func (s *sent) release(int) error {
	if s.received < s.tiles {
		s.post()
	}
	return nil
}

func (s *sent) space(i int) ([]uint64, error) {
	slot := i % s.depth
	_, err := s.on[slot].Wait()
	return s.out[slot], err
}

func (s *sent) send(i int) error {
	slot := i % s.depth
	s.on[slot] = mpi.Isend(s.world, s.out[slot], s.next, tileTag)
	return nil
}

func (s *sent) free() error {
	if err := mpi.Waitall(s.on, nil); err != nil {
		return err
	}
	return mpi.Waitall(s.coming, nil)
}
