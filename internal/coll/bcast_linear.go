package coll

// bcastLinear has the root send to all others at once. Where the receivers fetch
// a long message from the root's memory they do so side by side, and nobody
// waits for anybody but the root.
func bcastLinear(s *schedule) bool {
	if s.c.Rank != s.Root {
		s.recvFrom(s.Root, s.Recv.Mem)
		return false
	}
	for r := range s.c.Size() {
		if r != s.Root {
			s.sendTo(r, s.Recv.Mem)
		}
	}
	return false
}
