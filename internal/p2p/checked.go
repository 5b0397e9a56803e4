package p2p

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/wire"
)

// With HALO_CHECK=1 a process tells the receivers of its messages what they are: a
// Check frame stands directly before the envelope (Eager, EagerSync or Ready), and
// holds the signature and, for people, the types in words. The receiver keeps it for
// the peer's next envelope, and compares it with what the message is received as
// where the two meet. A message of other types is received as far as it fits, with an
// error that names both sides; the sender does not hear of it.
//
// Only point-to-point messages of programs are told about: collectives have a
// comparison of their own, before any data moves. Which processes check each of them
// knows from the start; one that does not check ignores Check frames.
//
// What a peer may cost beside its messages is bounded: one claim that waits for its
// envelope, and the texts of those that wait in the table (textsMax).

const (
	// claimHead is the length of a claim without its text, in bytes.
	claimHead = 8 + 8 + 8 + 1
	// textMax is the longest text in a claim, in bytes.
	textMax = 400
	// textsMax bounds the texts kept for the messages of a peer that nobody has
	// received yet, in bytes. Signatures are part of what a message costs anyway.
	textsMax = 1 << 20
)

// A claim is what the sender of a message has told about it.
type claim struct {
	dtype.Signature
	text string // count and type in words; empty if there was no room for it
}

// told is what the engine keeps of what a peer tells, in checking mode.
type told struct {
	claim *claim // about its next message, nil if nothing
	texts int    // bytes of text in the claims of its messages
}

// Check makes this process check types: messages for those processes of the job that
// check, too, are told about. It is called before anything is sent.
func (e *Engine) Check(checkers []bool) {
	e.checkers = checkers
	e.told = make([]told, len(e.peers))
	e.claims = make(map[*Message]*claim)
}

// encode is the payload of a Check frame.
func (c *claim) encode() []byte {
	b := make([]byte, claimHead, claimHead+len(c.text))
	binary.LittleEndian.PutUint64(b, uint64(c.Elements))
	binary.LittleEndian.PutUint64(b[8:], uint64(c.Bytes))
	binary.LittleEndian.PutUint64(b[16:], c.Hash)
	if c.Raw {
		b[24] = 1
	}
	return append(b, c.text...)
}

// decodeClaim reads what a correct process can have told; of the text only what can
// be shown.
func decodeClaim(b []byte) (c claim, ok bool) {
	if len(b) < claimHead || len(b) > claimHead+textMax || b[24] > 1 {
		return c, false
	}
	c.Elements = int64(binary.LittleEndian.Uint64(b))
	c.Bytes = int64(binary.LittleEndian.Uint64(b[8:]))
	c.Hash = binary.LittleEndian.Uint64(b[16:])
	c.Raw = b[24] == 1
	c.text = Printable(b[claimHead:])
	return c, c.Elements >= 0 && c.Bytes >= 0
}

// Printable is the text that a peer has sent, as far as it can be shown.
func Printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(b))
}

// claim is what r is, if it is known.
func (r *Request) claim() (c claim, known bool) {
	t, n := r.typ, r.count
	if t == nil {
		return c, false
	}
	c = claim{t.Signature(n), t.Describe(n)}
	if len(c.text) > textMax {
		c.text = strings.ToValidUTF8(c.text[:textMax], "")
	}
	return c, c.Elements > 0
}

// tell says what is to be said about r, whose envelope is next. The header of that
// may be in e.hdr already.
func (e *Engine) tell(r *Request) {
	if e.checkers != nil {
		e.tellChecker(r)
	}
}

func (e *Engine) tellChecker(r *Request) {
	if !e.checkers[r.peer] || r.ctx != r.comm.Ctx {
		return
	}
	c, known := r.claim()
	switch {
	case !known:
	case r.peer == e.me:
		e.told[e.me].claim = &c
	default:
		payload := c.encode()
		e.aside = wire.Header{Kind: wire.Check, Size: uint32(len(payload))}
		e.p.Queue(int(r.peer), &e.aside, payload, nil)
	}
}

// hear takes a Check frame.
func (e *Engine) hear(from int, payload []byte) {
	if e.checkers == nil {
		return
	}
	c, ok := decodeClaim(payload)
	if !ok {
		e.Refuse(from, "it has told the type of a message in %d bytes that mean none", len(payload))
		return
	}
	e.told[from].claim = &c
}

// compareNext compares r with what has been told about the message whose envelope is
// here, and which r has matched.
func (e *Engine) compareNext(from int32, r *Request) {
	if e.checkers != nil {
		e.compareClaim(from, r)
	}
}

func (e *Engine) compareClaim(from int32, r *Request) {
	q := &e.told[from]
	if c := q.claim; c != nil {
		q.claim = nil
		e.compare(r, c)
	}
}

// keepClaim keeps what has been told about m, the envelope of which is here.
func (e *Engine) keepClaim(m *Message) {
	q := &e.told[m.node.Src]
	c := q.claim
	if c == nil {
		return
	}
	q.claim = nil
	if q.texts+len(c.text) > textsMax {
		c.text = ""
	}
	q.texts += len(c.text)
	m.told = true
	e.claims[m] = c
}

// dropClaim forgets it.
func (e *Engine) dropClaim(m *Message) {
	e.told[m.node.Src].texts -= len(e.claims[m].text)
	delete(e.claims, m)
}

// compareKept compares r with what has been told about m, which it has matched.
func (e *Engine) compareKept(r *Request, m *Message) {
	if m.told {
		e.compare(r, e.claims[m])
	}
}

// compare gives r, whose envelope is known, an error if the message is not what r
// receives. A message that is too long is an error already, which then says more.
func (e *Engine) compare(r *Request, c *claim) {
	t, n := r.typ, r.count
	if t == nil || r.Status.Source < 0 {
		return
	}
	err, _ := c.Check(t, n).(*class.Error)
	if err == nil {
		return
	}
	sent := c.text
	if sent == "" {
		sent = fmt.Sprintf("%d basic elements in %d bytes", c.Elements, c.Bytes)
	}
	text := fmt.Sprintf("rank %d sends %s, rank %d receives %s", r.Status.Source, sent, r.comm.Rank, t.Describe(n))
	if old, ok := r.Status.Err.(*class.Error); ok {
		r.Status.Err = &class.Error{Class: old.Class, Text: old.Text + ": " + text}
	} else {
		r.Status.Err = &class.Error{Class: err.Class, Text: text}
	}
}
