package coll

// bcastLinear has the root send to all others at once. Receivers that copy a long message from
// the root's memory do so in parallel, and each waits for the root only.
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
