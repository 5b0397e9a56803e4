package wire

import (
	"fmt"
	"io"
)

// Meet runs the dialler's side of the handshake over a connection. It returns the seal of the connection
// if the acceptor takes it.
func Meet(conn io.ReadWriter, p Pair) (*Sealed, error) {
	h := NewDialler(p)
	var hello [HelloSize]byte
	h.Hello(&hello)
	if _, err := conn.Write(hello[:]); err != nil {
		return nil, err
	}
	var challenge [ChallengeSize]byte
	if _, err := io.ReadFull(conn, challenge[:]); err != nil {
		return nil, fmt.Errorf("no answer to the greeting: %w", err)
	}
	if err := h.Challenge(&challenge); err != nil {
		return nil, err
	}
	var proof [ProofSize]byte
	h.Proof(&proof)
	if _, err := conn.Write(proof[:]); err != nil {
		return nil, err
	}
	var verdict [VerdictSize]byte
	if _, err := io.ReadFull(conn, verdict[:]); err != nil {
		return nil, fmt.Errorf("no verdict: %w", err)
	}
	v, err := h.Verdict(&verdict)
	if err != nil {
		return nil, err
	}
	if v != Accepted {
		return nil, ErrRefused
	}
	return h.Sealed(), nil
}

// Welcome runs the acceptor's side of the handshake over a connection. It returns the index of the
// dialler and the seal of the connection. pair returns the Pair of a dialler that claims to be process
// from; the claim is checked after that, and refused if from is not below size. After an error the
// caller of Welcome closes the connection.
func Welcome(conn io.ReadWriter, size int, pair func(from int) (Pair, error)) (from int, s *Sealed, err error) {
	var hello [HelloSize]byte
	if _, err := io.ReadFull(conn, hello[:]); err != nil {
		return 0, nil, err
	}
	p, err := pair(HelloFrom(&hello))
	if err != nil {
		return 0, nil, err
	}
	h := NewAcceptor(p, size)
	from, err = h.Hello(&hello)
	if err != nil {
		return 0, nil, err
	}
	var challenge [ChallengeSize]byte
	h.Challenge(&challenge)
	if _, err := conn.Write(challenge[:]); err != nil {
		return 0, nil, err
	}
	var proof [ProofSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return 0, nil, err
	}
	if err := h.Proof(&proof); err != nil {
		return 0, nil, err
	}
	var verdict [VerdictSize]byte
	h.Verdict(&verdict, Accepted)
	if _, err := conn.Write(verdict[:]); err != nil {
		return 0, nil, err
	}
	return from, h.Sealed(), nil
}

// A Stream is a connection whose bytes are sealed in pieces. One goroutine at a time may read, and one may
// write.
type Stream struct {
	conn io.ReadWriter
	seal *Sealed

	in     []byte // the memory of the piece that is read
	opened []byte // the bytes of that piece that Read has not returned yet
	out    []byte // the memory of the piece that is written
}

// NewStream returns a Stream over a connection whose handshake has returned seal.
func NewStream(conn io.ReadWriter, seal *Sealed) *Stream { return &Stream{conn: conn, seal: seal} }

// Read implements io.Reader.
func (c *Stream) Read(b []byte) (int, error) {
	if len(c.opened) == 0 {
		var head [recordLength]byte
		if _, err := io.ReadFull(c.conn, head[:]); err != nil {
			return 0, err
		}
		n, err := PieceSize(head[:])
		if err != nil {
			return 0, err
		}
		if cap(c.in) < n {
			c.in = make([]byte, n)
		}
		c.in = c.in[:n]
		copy(c.in, head[:])
		if _, err := io.ReadFull(c.conn, c.in[recordLength:]); err != nil {
			return 0, err
		}
		c.opened, err = c.seal.OpenPiece(c.in)
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, c.opened)
	c.opened = c.opened[n:]
	return n, nil
}

// Write implements io.Writer.
func (c *Stream) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		piece := b[n:min(n+PieceMax, len(b))]
		c.out = c.seal.SealPiece(c.out[:0], piece)
		_, err = c.conn.Write(c.out)
		if err == nil {
			n += len(piece)
		}
	}
	return n, err
}
