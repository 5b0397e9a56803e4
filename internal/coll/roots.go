package coll

// agreeOn makes the terms of s those of the communicator, where it names its root; or if it is
// persistent, and so may be started in any order, its own. Members of an intercommunicator name
// roots in different ways, which are not compared.
func (s *schedule) agreeOn(persistent bool) {
	if !s.e.tells || s.c.Inter != nil {
		return
	}
	t := &stateOf(s.c).terms
	if persistent {
		fresh := s.e.newTerms()
		t = &fresh
	}
	if s.kind.rooted() {
		t.name(s.kind, s.Root)
	}
	s.terms = *t
}

// otherRoots is the error of a rank that tells other roots.
func (s *schedule) otherRoots(rank int, roots uint16) error {
	t := &s.terms
	return t.compare(rank, uint32(roots)<<16, s.c.Rank, uint32(t.roots)<<16, s.c.Size())
}
