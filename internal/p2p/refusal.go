package p2p

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/planted"
)

// Refuses and Refused are codes of empty messages of collectives. A member whose own arguments of
// a collective are wrong takes no part in it: it sends a message with Refuses to each other
// member, with the tag of the collective, and discards all messages with that tag (Shun). A member
// that learns this way that another one takes no part sends Refused where it would have passed on
// data. The two bytes for roots are the rank of the member that takes no part, and the highest byte
// is 1 + the class of its error.
const (
	Refuses dtype.Code = 0xfd
	Refused dtype.Code = 0xfc
)

// A Refusal says that a member of a collective takes no part in it, because its own arguments are
// wrong. It is the error of a receive that has got a message with Refuses or Refused.
type Refusal struct {
	Rank  int // of that member; in an intercommunicator, among the members of both groups
	Class class.Class
	Own   bool // the sender of the message is that member
}

// Error implements error.
func (f *Refusal) Error() string { return fmt.Sprintf("rank %d takes no part", f.Rank) }

// Refuse makes v the envelope of a message that tells the Refusal f.
func (v *Envelope) Refuse(f *Refusal) {
	v.Code = Refused
	if f.Own {
		v.Code = Refuses
	}
	v.Roots, v.Own = uint16(f.Rank), dtype.Code(1+f.Class)
}

// refuses reports whether a message with code c tells a Refusal.
func refuses(c dtype.Code) bool { return c == Refuses || c == Refused }

// refusalOf returns the Refusal that a message with aux in its header tells.
func refusalOf(aux uint32) *Refusal {
	return &Refusal{int(rootsOf(aux)), class.Class(ownOf(aux)) - 1, codeOf(aux) == Refuses}
}

// OnRefusal sets the function that is called, with the lock held, for a message with Refuses for which
// no receive is posted. f reports whether nobody will receive the message.
func (e *Engine) OnRefusal(f func(from int32, ctx uint64, tag int32, r *Refusal) bool) {
	e.onRefusal = f
}

// shunsMax is how many collectives a process shuns at a time. The next one takes the place of the
// oldest, for which nobody sends messages any more, unless a member is behind by shunsMax refused
// collectives.
const shunsMax = 1 << 14

// conversation is the context and the tag of the messages of one collective.
type conversation struct {
	ctx uint64
	tag int32
}

// shuns is the conversations whose messages are discarded.
type shuns struct {
	all  map[conversation]struct{}
	list []conversation // the same, the oldest at next
	next int
}

// Shun discards the messages of a context with a tag, now and in future.
func (e *Engine) Shun(ctx uint64, tag int32) {
	c, s := conversation{ctx, tag}, &e.shuns
	if planted.ShunnedOnce {
		c = conversation{}
	}
	if s.all == nil {
		s.all = make(map[conversation]struct{})
	}
	s.all[c] = struct{}{}
	if len(s.list) < shunsMax {
		s.list = append(s.list, c)
	} else {
		delete(s.all, s.list[s.next])
		s.list[s.next] = c
		s.next = (s.next + 1) % shunsMax
	}
	for n := range e.table.Messages() {
		if n.Ctx == ctx && n.Tag == tag {
			e.table.Remove(n)
			e.reject(n.Owner)
		}
	}
}

// reject is discard for a message that may be arriving.
func (e *Engine) reject(m *Message) {
	m.discard = true // Placed then releases it
	e.discard(m)
}

// unwanted reports whether nobody will receive m, an unexpected message.
func (e *Engine) unwanted(m *Message) bool {
	if codeOf(m.aux) != Refuses && len(e.shuns.list) == 0 || m.node.Ctx&1 == 0 {
		return false
	}
	if _, shunned := e.shuns.all[conversation{m.node.Ctx, m.node.Tag}]; shunned {
		return true
	}
	if codeOf(m.aux) != Refuses || m.size != 0 || e.onRefusal == nil {
		return false
	}
	if e.onRefusal(m.node.Src, m.node.Ctx, m.node.Tag, refusalOf(m.aux)) {
		return true
	}
	e.refusals = true
	return false
}

// DropRefusals discards the messages with Refuses that have been kept for a collective. It is called
// when the collective has ended.
func (e *Engine) DropRefusals(ctx uint64, tag int32) {
	if !e.refusals {
		return
	}
	e.refusals = false
	for n := range e.table.Messages() {
		switch m := n.Owner; {
		case codeOf(m.aux) != Refuses:
		case n.Ctx == ctx && n.Tag == tag:
			e.table.Remove(n)
			e.reject(m)
		default:
			e.refusals = true
		}
	}
}

// From is the process that a receive is from, AnySource if it may be any.
func (r *Request) From() int32 { return r.peer }
