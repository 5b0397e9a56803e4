package p2p

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/match"
)

// Message is an unexpected message: it has arrived, or was announced, before a receive for
// it. It is pooled; Gen distinguishes its lives.
type Message struct {
	node   match.Node[Message]
	size   uint64
	data   []byte // payload of an eager message
	handle uint64 // the sender's request, if it waits for Ack or Clear
	addr   uint64 // address of the payload in the sender's memory, 0 if unknown; of an eager message its sequence number

	eager      bool
	uncredited bool   // eager without credit
	repaid     bool   // eager, and the credit is returned: see Engine.Repay
	received   bool   // a receive has it from a matched probe
	arriving   bool   // the payload is still arriving into data
	discard    bool   // the memory of receiver cannot be written, or nobody receives the message: the payload is dropped
	hasClaim   bool   // Engine.claims has its claim
	aux        uint32 // of the envelope
	Gen        uint32
	receiver   *Request // the receive that matched while arriving
	sender     *Request // a message to itself whose payload is still in the send buffer

	inline [16]byte // data, if it fits; it ends the second cache line
}

func (e *Engine) newMessage(key match.Key, size uint64) *Message {
	var m *Message
	if n := len(e.messages); n > 0 {
		m = e.messages[n-1]
		e.messages = e.messages[:n-1]
	} else {
		m = &Message{}
		m.node.Owner = m
	}
	m.node.Key = key
	m.size = size
	if e.checkers != nil {
		e.keepClaim(m)
	}
	return m
}

// allocData sets the length of data to n bytes.
func (e *Engine) allocData(m *Message, n int) {
	if n <= len(m.inline) {
		m.data = m.inline[:n]
	} else {
		m.data = e.buffers.get(n)
	}
}

// freeMessage returns m and its buffer to their pools.
func (e *Engine) freeMessage(m *Message) {
	if len(m.data) > len(m.inline) {
		e.buffers.put(m.data)
	}
	if m.hasClaim {
		e.dropClaim(m)
	}
	*m = Message{Gen: m.Gen + 1}
	m.node.Owner = m
	if len(e.messages) < keepMessages {
		e.messages = append(e.messages, m)
	}
}

const (
	// keepMessages bounds the free messages kept for reuse.
	keepMessages = 1 << 16
	// keepBuffers bounds the free bytes kept in each size class of buffers, and the length
	// of the one buffer that is longer than all classes.
	keepBuffers = 4 << 20
	// bufferClasses is the number of powers of two from 64 bytes to wire.MaxPayload.
	bufferClasses = 11
)

// buffers is a pool of payload buffers in powers of two, and of one longer buffer, which
// repeated calls of SendrecvReplace use for their copies.
type buffers struct {
	free [bufferClasses][][]byte
	long []byte
}

func bufferClass(n int) int { return max(bits.Len(uint(n-1))-6, 0) }

// get returns a buffer of n bytes.
func (b *buffers) get(n int) []byte {
	if n == 0 {
		return nil
	}
	c := bufferClass(n)
	if c >= bufferClasses {
		if s := b.long; cap(s) >= n {
			b.long = nil
			return s[:n]
		}
		return make([]byte, n)
	}
	if k := len(b.free[c]); k > 0 {
		s := b.free[c][k-1]
		b.free[c] = b.free[c][:k-1]
		return s[:n]
	}
	return make([]byte, n, 64<<c)
}

// put returns a buffer of get to the pool.
func (b *buffers) put(s []byte) {
	if cap(s) == 0 {
		return
	}
	c := bufferClass(cap(s))
	if c >= bufferClasses {
		if cap(s) <= keepBuffers {
			b.long = s[:0]
		}
		return
	}
	if len(b.free[c])<<(c+6) < keepBuffers {
		b.free[c] = append(b.free[c], s[:0])
	}
}
