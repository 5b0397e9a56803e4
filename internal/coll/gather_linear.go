package coll

// gatherLinear has everyone send to the root, which receives in place.
func gatherLinear(s *schedule) bool {
	size := len(s.send)
	if s.c.Rank != s.root {
		s.sendTo(s.root, s.send)
		return false
	}
	for r := range s.c.Size() {
		if r != s.root {
			s.recvFrom(r, s.recv[r*size:(r+1)*size])
		}
	}
	s.copy(s.recv[s.root*size:(s.root+1)*size], s.send)
	return false
}
