package check

// log has the accesses to the memory of a target that are not known to be complete.
type log struct {
	entries   map[entry]*spanSet
	local     []*localAccess   // accesses of the program, while they last
	places    []place          // memory that is or was attached
	size      int              // number of spans in entries
	segments  map[int32]uint64 // by origin: its last known segment
	snapshots snapshots
}

// loggedMax bounds the number of spans in a log, which take 16 MiB: further accesses are not checked.
const loggedMax = 1 << 20

func newLog() log {
	return log{entries: make(map[entry]*spanSet), segments: make(map[int32]uint64)}
}

// add logs an access.
func (l *log) add(c entry, list []span) {
	for _, x := range list {
		if l.size >= loggedMax {
			l.snapshots.turnOff()
			return
		}
		if c.kind == Accumulate {
			c.phase = uint16(x.lo % uint64(c.typ.Size()))
		}
		s := l.entries[c]
		if s == nil {
			s = &spanSet{}
			l.entries[c] = s
		}
		l.size += s.add(x)
	}
}

// remove removes the bytes of a list from the entry equal to c.
func (l *log) remove(c entry, list []span) {
	for _, x := range list {
		if c.kind == Accumulate {
			c.phase = uint16(x.lo % uint64(c.typ.Size()))
		}
		if k, s := l.spansOf(c); s != nil {
			l.size += s.remove(x)
			if len(s.list) == 0 {
				delete(l.entries, k)
			}
		}
	}
}

// drop removes the entries for which complete returns true.
func (l *log) drop(complete func(*entry) bool) {
	for c, s := range l.entries {
		if complete(&c) {
			l.size -= len(s.list)
			delete(l.entries, c)
		}
	}
}

// merge applies change to the entries for which which returns true, and joins entries that have
// become equal. After change which must return false. Without merge the log of a program that
// polls by accumulates, which stay in the log after local flushes and ordering points, would grow
// without limit.
func (l *log) merge(which func(*entry) bool, change func(*entry)) {
	for c, s := range l.entries {
		if !which(&c) {
			continue
		}
		delete(l.entries, c)
		change(&c)
		if to := l.entries[c]; to != nil {
			l.size -= len(s.list)
			for _, x := range s.list {
				l.size += to.add(x)
			}
		} else {
			l.entries[c] = s
		}
	}
}

// advance notes the segment of a new access. Accesses of its origin in earlier segments are not
// concurrent with any later access of this origin, so their segment becomes 0.
func (l *log) advance(c *entry) {
	if c.segment <= l.segments[c.origin] {
		return
	}
	l.segments[c.origin] = c.segment
	l.merge(func(o *entry) bool { return o.origin == c.origin && o.segment != 0 && o.segment < c.segment }, func(o *entry) { o.segment = 0 })
}

// spansOf returns the memory of c and the entry as it is in the log, where merge may have changed its
// segment or generation; nil if it is not in the log.
func (l *log) spansOf(c entry) (entry, *spanSet) {
	for range 2 {
		segment := c.segment
		for range 2 {
			if s := l.entries[c]; s != nil {
				return c, s
			}
			c.segment = 0
		}
		c.segment, c.gen = segment, 0
	}
	return c, nil
}

// conflict returns an access in the log that conflicts with c on some bytes of a list, and these
// bytes. It prefers an access that is certainly not complete to one that may be complete.
func (l *log) conflict(c *entry, list []span) (other entry, where span, found bool) {
	for o, s := range l.entries {
		if !o.concurrent(c) {
			continue
		}
		for _, x := range list {
			if common, ok := s.first(x); ok && o.conflicts(c, x.lo) {
				if !o.request {
					return o, common, true
				}
				other, where, found = o, common, true
				break
			}
		}
	}
	if found || c.kind > Accumulate {
		return other, where, found
	}
	for _, a := range l.local {
		for _, x := range list {
			if common := a.overlap(x); !common.empty() && a.conflicts(c, x.lo) && (c.epoch != Fence || c.fences == a.fences) {
				return a.entry, common, true
			}
		}
	}
	return other, where, false
}

// updates reports whether the log has an access to bytes of x, other than c itself, that may
// change them.
func (l *log) updates(c *entry, x span) bool {
	for o, s := range l.entries {
		if _, found := s.first(x); found && o != *c && o.kind != Get {
			return true
		}
	}
	return false
}

// fenced drops the accesses that were complete after the previous fence.
func (l *log) fenced(fences uint64) {
	l.drop(func(c *entry) bool { return c.epoch == Fence && c.fences < fences })
}
