package rma

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/op"
)

// claim is what a target knows of accesses that are alike: all of one call in the source,
// say, between two flushes. What memory they are to is kept beside it.
type claim struct {
	call   Call
	origin int32 // rank
	deed   Deed
	how    standing
	op     op.Op
	typ    op.Type
	alike  bool   // of accumulates: the program has promised that all have one operation
	phase  uint16 // of accumulates: where elements begin, modulo their size
	// request says that there is one for each: of gets that are over when it is.
	request bool
	epoch   uint64 // of standsFence: how many fences have ended before
	gen     uint64 // check.gen of the origin
	// turn is check.turn of the origin; 0: each is in a turn of its own, as those of views in
	// order are. One number for all of them keeps the log short, however many there are.
	turn uint64
}

// checkLog is what a target keeps.
type checkLog struct {
	claims map[claim]*spans
	loads  []*localAccess   // of the program, while they last
	places []place          // of memory that is or was attached
	logged int              // spans in claims
	turns  map[int32]uint64 // by origin, the last one known
	kept   keeping
}

// loggedMax bounds spans in a log: what goes beyond is not checked. It is 16 MiB.
const loggedMax = 1 << 20

func newCheckLog() checkLog {
	return checkLog{claims: make(map[claim]*spans), turns: make(map[int32]uint64)}
}

// localAccess is loads or stores of the program that are under way.
type localAccess struct {
	claim
	span
}

// place is memory that was attached to a dynamic window, by attach, until detach.
type place struct {
	span
	attach, detach Call
}

// placesMax is how many places are kept.
const placesMax = 1024

// add logs an access.
func (l *checkLog) add(c claim, list []span) {
	for _, x := range list {
		if l.logged >= loggedMax {
			l.kept.turnOff()
			return
		}
		if c.deed == DeedAccumulate {
			c.phase = uint16(x.lo % uint64(c.typ.Size()))
		}
		s := l.claims[c]
		if s == nil {
			s = &spans{}
			l.claims[c] = s
		}
		l.logged += s.add(x)
	}
}

// remove takes bytes out of claims of that kind.
func (l *checkLog) remove(c claim, list []span) {
	for _, x := range list {
		if c.deed == DeedAccumulate {
			c.phase = uint16(x.lo % uint64(c.typ.Size()))
		}
		if k, s := l.spansOf(c); s != nil {
			l.logged += s.remove(x)
			if len(s.list) == 0 {
				delete(l.claims, k)
			}
		}
	}
}

// drop removes the claims that over says are.
func (l *checkLog) drop(over func(*claim) bool) {
	for c, s := range l.claims {
		if over(&c) {
			l.logged -= len(s.list)
			delete(l.claims, c)
		}
	}
}

// merge changes the claims of which which is true, so that it is not any more, and makes one
// of those that do not differ then. Else a program that polls by accumulates, which local
// flushes and ordering points leave in the log, would make it longer and longer.
func (l *checkLog) merge(which func(*claim) bool, change func(*claim)) {
	for c, s := range l.claims {
		if !which(&c) {
			continue
		}
		delete(l.claims, c)
		change(&c)
		if to := l.claims[c]; to != nil {
			l.logged -= len(s.list)
			for _, x := range s.list {
				l.logged += to.add(x)
			}
		} else {
			l.claims[c] = s
		}
	}
}

// turned is told of an access: those of its origin in turns before have no other to meet in
// theirs.
func (l *checkLog) turned(c *claim) {
	if c.turn <= l.turns[c.origin] {
		return
	}
	l.turns[c.origin] = c.turn
	l.merge(func(o *claim) bool { return o.origin == c.origin && o.turn != 0 && o.turn < c.turn }, func(o *claim) { o.turn = 0 })
}

// spansOf is where bytes of c are, which may have been merged, and as what; nil if nowhere.
func (l *checkLog) spansOf(c claim) (claim, *spans) {
	for range 2 {
		turn := c.turn
		for range 2 {
			if s := l.claims[c]; s != nil {
				return c, s
			}
			c.turn = 0
		}
		c.turn, c.gen = turn, 0
	}
	return c, nil
}

// meets returns an access in the log that conflicts with c on some of the bytes of a list,
// and on which. One that is certain comes before one that may be over.
func (l *checkLog) meets(c *claim, list []span) (other claim, where span, found bool) {
	for o, s := range l.claims {
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
	if found || c.deed > DeedAccumulate {
		return other, where, found
	}
	for _, a := range l.loads {
		for _, x := range list {
			if common := a.overlap(x); !common.empty() && a.conflicts(c, x.lo) && (c.how != standsFence || c.epoch == a.epoch) {
				return a.claim, common, true
			}
		}
	}
	return other, where, false
}

// concurrent reports whether an access c that comes now is concurrent with those of a in
// the log.
func (a *claim) concurrent(c *claim) bool {
	switch {
	case c.deed > DeedAccumulate:
		return a.how != standsFence || a.epoch == c.epoch
	case a.how != c.how || a.how == standsFence && a.epoch != c.epoch:
		return false
	}
	return a.origin != c.origin || a.turn == c.turn && a.turn != 0
}

// conflicts reports whether two concurrent accesses to one place conflict (MPI-5, 12.7). lo
// is where c begins.
func (a *claim) conflicts(c *claim, lo uint64) bool {
	x, y := a, c
	if x.deed > y.deed {
		x, y = y, x
	}
	switch {
	case x.deed == DeedPut:
		return true
	case x.deed == DeedGet:
		return y.deed == DeedStore || y.deed == DeedAccumulate && y.op != op.NoOp
	case x.deed != DeedAccumulate:
		return false // both are the program's own
	case y.deed == DeedLoad:
		return x.op != op.NoOp
	case y.deed == DeedStore:
		return true
	case a.op == op.NoOp && c.op == op.NoOp:
		return false
	case !sameElements(a.typ, c.typ) || uint64(a.phase) != lo%uint64(c.typ.Size()):
		return true // of other elements they are neither atomic nor, of one origin, in order
	case a.origin == c.origin:
		return false // they have an order, whatever operations they are
	case a.alike && c.alike:
		return a.op != c.op && a.op != 0 && c.op != 0
	}
	return false
}

// sameElements reports whether two types of elements are one to accumulates. Bytes of a slice of
// Go are either.
func sameElements(a, b op.Type) bool {
	return a == b || a == op.Byte && b == op.Uint8 || a == op.Uint8 && b == op.Byte
}

// fenced forgets what was over when the fence before was.
func (l *checkLog) fenced(fences uint64) {
	l.drop(func(c *claim) bool { return c.how == standsFence && c.epoch < fences })
}

// spans are bytes in order, no two overlapping or touching.
type spans struct{ list []span }

// at is the first of the spans that ends at or behind lo.
func (s *spans) at(lo uint64) int {
	i, _ := slices.BinarySearchFunc(s.list, lo, func(x span, lo uint64) int { return cmp.Compare(x.hi, lo) })
	return i
}

// first is the first overlap with x.
func (s *spans) first(x span) (span, bool) {
	if i := s.at(x.lo + 1); i < len(s.list) {
		common := s.list[i].overlap(x)
		return common, !common.empty()
	}
	return span{}, false
}

// add adds x, and returns how many spans there are more.
func (s *spans) add(x span) int {
	before := len(s.list)
	i := s.at(x.lo)
	j := i
	for ; j < len(s.list) && s.list[j].lo <= x.hi; j++ {
		x.lo, x.hi = min(x.lo, s.list[j].lo), max(x.hi, s.list[j].hi)
	}
	s.list = slices.Replace(s.list, i, j, x)
	return len(s.list) - before
}

// remove takes x out, and returns how many spans there are more.
func (s *spans) remove(x span) int {
	before := len(s.list)
	i := s.at(x.lo + 1)
	j := i
	var rest []span
	for ; j < len(s.list) && s.list[j].lo < x.hi; j++ {
		if left := (span{s.list[j].lo, x.lo}); !left.empty() {
			rest = append(rest, left)
		}
		if right := (span{x.hi, s.list[j].hi}); !right.empty() {
			rest = append(rest, right)
		}
	}
	s.list = slices.Replace(s.list, i, j, rest...)
	return len(s.list) - before
}

// says is a claim as people read it. The place of its call is known.
func (a *claim) says() string {
	text := a.call.Name
	if a.deed == DeedAccumulate && a.op != 0 {
		text += fmt.Sprintf(" (%v of %v)", a.op, a.typ)
	} else if a.deed == DeedAccumulate {
		text += fmt.Sprintf(" (of %v)", a.typ)
	}
	return fmt.Sprintf("%s by rank %d at %s", text, a.origin, a.call.Site)
}

// conflict is the error of an access c of this process to memory of t that meets another. No
// lock is held.
func (t *target) conflict(c, other *claim, where span) error {
	mine, its := *c, *other
	t.w.locate(&mine)
	t.w.locate(&its)
	c, other = &mine, &its
	why := ", which is not complete"
	switch {
	case other.deed > DeedAccumulate:
		why = ", which is under way"
	case other.how == standsFence:
		why = " between the same two fences"
	case other.how == standsStart:
		why = " in the same epoch of Post"
	}
	return fail(class.RMAConflict, "%s: %s conflicts with %s%s", t.bytes(where), c.says(), other.says(), why)
}

// bytes is a piece of the memory of t in words.
func (t *target) bytes(x span) string {
	if t.w.flavor == Dynamic {
		return fmt.Sprintf("bytes %#x to %#x of rank %d", x.lo, x.hi-1, t.rank)
	}
	text := fmt.Sprintf("bytes %d to %d of rank %d", x.lo, x.hi-1, t.rank)
	if unit := uint64(t.rec.Unit); unit > 1 {
		first, last := x.lo/unit, (x.hi-1)/unit
		if text += fmt.Sprintf(" (displacement %d", first); last != first {
			text += fmt.Sprintf(" to %d", last)
		}
		text += ")"
	}
	return text
}
