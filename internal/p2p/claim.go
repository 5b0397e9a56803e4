package p2p

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/wire"
)

// With HALO_CHECK=1 a process describes its messages to their receivers: a Check frame
// goes directly before the envelope (Eager, EagerSync or Ready). It contains a claim: the
// type signature and, for error messages, the type in words and the place of the call. The receiver keeps the claim
// for the peer's next envelope, and compares it with the type of the receive when message
// and receive match. A message of another type is received as far as it fits, with an
// error that names both types; the sender gets no error.
//
// Only point-to-point messages of programs have claims: collectives compare types by
// themselves before any data moves. Each process knows from the start which processes
// check. A process that does not check ignores Check frames.
//
// The memory that the claims of a peer cost is bounded: one claim that waits for its
// envelope, and the texts for the messages in the table (textBytesMax).

const (
	// claimHeadSize is the length of an encoded claim without its texts, in bytes.
	claimHeadSize = 8 + 8 + 8 + 1 + 1
	// textMax is the longest description of the elements in a claim, in bytes.
	textMax = 400
	// textBytesMax bounds the texts for the unexpected messages of a peer, in bytes.
	// The signatures need no bound of their own: each is part of the cost of a message.
	textBytesMax = 1 << 20
)

// A claim is what the sender of a message says about its type, and about the call that sends it.
type claim struct {
	dtype.Signature
	typed bool   // the type is known
	at    string // place of the call, as in callsite.Locator.Portable; empty if it is not known or textBytesMax was reached
	text  string // count and type in words; empty if textBytesMax was reached
}

// peerClaim is the state of the claims of a peer, in checking mode.
type peerClaim struct {
	next      *claim // of the peer's next message, nil if it has sent none
	textBytes int    // bytes of text in the claims of its unexpected messages
}

// Check makes this process check types, and send claims to the processes that check too: checkers
// has those of the job. It must be called before anything is sent.
func (e *Engine) Check(checkers []bool) {
	e.checkers = checkers
	e.claims = make(map[*Message]*claim)
	e.guards.seed = maphash.MakeSeed()
}

// Locate makes reports of checking mode say where calls are, by l. The caller holds the lock.
func (e *Engine) Locate(l callsite.Locator) { e.locator = l }

// The bits of the flags in an encoded claim.
const (
	claimRaw = 1 << iota
	claimTyped
)

// encode is the payload of a Check frame.
func (c *claim) encode() []byte {
	b := make([]byte, claimHeadSize, claimHeadSize+len(c.at)+len(c.text))
	binary.LittleEndian.PutUint64(b, uint64(c.Elements))
	binary.LittleEndian.PutUint64(b[8:], uint64(c.Bytes))
	binary.LittleEndian.PutUint64(b[16:], c.Hash)
	if c.Raw {
		b[24] |= claimRaw
	}
	if c.typed {
		b[24] |= claimTyped
	}
	b[25] = byte(len(c.at))
	return append(append(b, c.at...), c.text...)
}

// decodeClaim decodes a Check frame. It reports false for a claim that no correct process
// sends. Characters of the texts that cannot be printed are replaced.
func decodeClaim(b []byte) (c claim, ok bool) {
	if len(b) < claimHeadSize || b[24] > claimRaw|claimTyped || b[25] > callsite.Max || len(b) < claimHeadSize+int(b[25]) {
		return c, false
	}
	c.Elements = int64(binary.LittleEndian.Uint64(b))
	c.Bytes = int64(binary.LittleEndian.Uint64(b[8:]))
	c.Hash = binary.LittleEndian.Uint64(b[16:])
	c.Raw, c.typed = b[24]&claimRaw != 0, b[24]&claimTyped != 0
	at, text := b[claimHeadSize:][:b[25]], b[claimHeadSize+int(b[25]):]
	c.at, c.text = callsite.Printable(at), callsite.Printable(text)
	return c, len(text) <= textMax && c.Elements >= 0 && c.Bytes >= 0
}

// claim describes the message of r.
func (e *Engine) claim(r *Request) (c claim, known bool) {
	c.at = e.place(r)
	if r.checked != nil && r.checked.typ != nil {
		t, n := r.checked.typ, r.checked.count
		c.Signature, c.text = t.Signature(n), t.Describe(n)
		c.typed = c.Elements > 0
		if len(c.text) > textMax {
			c.text = strings.ToValidUTF8(c.text[:textMax], "")
		}
	}
	return c, c.typed || c.at != ""
}

// sendClaim sends the claim of r. The caller sends the envelope of r next; its header may
// be in e.hdr already.
func (e *Engine) sendClaim(r *Request) {
	if e.checkers != nil {
		e.sendClaimSlow(r)
	}
}

func (e *Engine) sendClaimSlow(r *Request) {
	if !e.checkers.Has(int(r.peer)) || r.ctx != r.comm.Ctx {
		return
	}
	c, known := e.claim(r)
	switch {
	case !known:
	case r.peer == e.me:
		e.peerClaims.At(int(e.me)).next = &c
	default:
		payload := c.encode()
		e.checkHdr = wire.Header{Kind: wire.Check, Size: uint32(len(payload))}
		e.p.Queue(int(r.peer), &e.checkHdr, payload, nil)
	}
}

// receiveClaim handles a Check frame.
func (e *Engine) receiveClaim(from int, payload []byte) {
	if e.checkers == nil {
		return
	}
	c, ok := decodeClaim(payload)
	if !ok {
		e.Refuse(from, "it has told the type of a message in %d bytes that mean none", len(payload))
		return
	}
	e.peerClaims.At(from).next = &c
}

// compareNextClaim compares r with the claim of the message that it has matched, whose
// envelope has just arrived.
func (e *Engine) compareNextClaim(from int32, r *Request) {
	if e.checkers != nil {
		e.compareNextClaimSlow(from, r)
	}
}

func (e *Engine) compareNextClaimSlow(from int32, r *Request) {
	q := e.peerClaims.At(int(from))
	if c := q.next; c != nil {
		q.next = nil
		e.compareClaim(r, c)
	}
}

// keepClaim keeps the claim of the unexpected message m, whose envelope has just arrived.
func (e *Engine) keepClaim(m *Message) {
	q := e.peerClaims.At(int(m.node.Src))
	c := q.next
	if c == nil {
		return
	}
	q.next = nil
	if q.textBytes+c.textBytes() > textBytesMax {
		c.at, c.text = "", ""
	}
	q.textBytes += c.textBytes()
	m.hasClaim = true
	e.claims[m] = c
}

func (c *claim) textBytes() int { return len(c.at) + len(c.text) }

// dropClaim deletes the claim of m.
func (e *Engine) dropClaim(m *Message) {
	e.peerClaims.At(int(m.node.Src)).textBytes -= e.claims[m].textBytes()
	delete(e.claims, m)
}

// compareMessageClaim compares r with the claim of the unexpected message m that it has
// matched.
func (e *Engine) compareMessageClaim(r *Request, m *Message) {
	if m.hasClaim {
		e.compareClaim(r, e.claims[m])
	}
}

// compareClaim sets the error of r, whose envelope is known, if c does not match the type
// of r. If the message is too long r has an error already, and compareClaim extends it.
func (e *Engine) compareClaim(r *Request, c *claim) {
	if r.checked == nil || r.checked.typ == nil || !c.typed || r.Status.Source < 0 {
		return
	}
	t, n := r.checked.typ, r.checked.count
	err, _ := c.Check(t, n).(*class.Error)
	if err == nil {
		return
	}
	sent := c.text
	if sent == "" {
		sent = fmt.Sprintf("%d basic elements in %d bytes", c.Elements, c.Bytes)
	}
	text := fmt.Sprintf("rank %d sends %s, rank %d receives %s", r.Status.Source, sent, r.comm.Rank, t.Describe(n)) +
		callsite.Pair(r.Status.Source, c.at, r.comm.Rank, e.place(r))
	if old, ok := r.Status.Err.(*class.Error); ok {
		r.Status.Err = &class.Error{Class: old.Class, Text: old.Text + ": " + text}
	} else {
		r.Status.Err = &class.Error{Class: err.Class, Text: text}
	}
}
