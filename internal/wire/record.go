package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Between hosts each frame travels in a record:
//
//	length uint32 | header and payload of the frame, sealed | tag 16
//
// length, little-endian, is the length of the frame: HeaderSize to HeaderSize+MaxPayload
// bytes, or 0 for an empty record, which is a keepalive. length is checked against its
// bounds before it is used, and the tag authenticates it.
//
// The seal is AES-256-GCM. Each direction of each connection has its own key:
// HMAC-SHA256 under the job secret over the transcript of the handshake, which
// contains both fresh nonces, with a label for the direction. So a record is not valid on
// another connection or in the other direction. The nonce is the number of the record
// under its key and is not sent: a record that is replayed or reordered, or that follows an
// omitted one, is invalid. After rekeyAfter records both ends replace the key by HMAC-SHA256
// of labelRekey under the old key, and count from 0 again.
//
// An invalid record ends the connection; nothing of it is parsed.
const (
	// RecordOverhead is what a record adds to a frame, in bytes.
	RecordOverhead = recordLength + recordTag
	// RecordMax is the size of the longest record in bytes.
	RecordMax = RecordOverhead + HeaderSize + MaxPayload

	recordLength = 4
	recordTag    = 16

	// rekeyAfter is the number of records sealed under one key: with 2^22 records of 2^12
	// blocks each, sealed bytes differ from random ones with an advantage below 2^-60.
	rekeyAfter = 1 << 22
)

const (
	labelKeyDial   = "halo/dial/key"
	labelKeyAccept = "halo/acc/key"
	labelRekey     = "halo/rekey"
)

// ErrForged is the error for a record that the peer has not sealed for this position in the stream.
var ErrForged = errors.New("a record does not prove that the peer sealed it for this place: it was changed, repeated, moved or left out on the way")

// Sealed seals and opens the records of one connection, at one of its ends.
type Sealed struct{ out, in chain }

// Sealed returns the seal of the connection, once the verdict is Accepted.
func (d *Dialler) Sealed() *Sealed { return d.t.sealed(labelKeyDial, labelKeyAccept) }

// Sealed returns the seal of the connection, once the verdict is Accepted.
func (a *Acceptor) Sealed() *Sealed { return a.t.sealed(labelKeyAccept, labelKeyDial) }

func (t *transcript) sealed(out, in string) *Sealed {
	s := &Sealed{}
	s.out.start(t.mac(out), rekeyAfter)
	s.in.start(t.mac(in), rekeyAfter)
	return s
}

// chain is the sealing state of one direction.
type chain struct {
	aead  cipher.AEAD
	key   [sha256.Size]byte
	nonce [12]byte // the number of the next record, little-endian, and zeros
	n     uint64   // records under this key so far
	limit uint64   // records for each key
}

func (c *chain) start(key []byte, limit uint64) {
	copy(c.key[:], key)
	c.n, c.limit = 0, limit
	block, err := aes.NewCipher(c.key[:])
	if err == nil {
		c.aead, err = cipher.NewGCM(block)
	}
	if err != nil {
		panic("wire: AES-256-GCM: " + err.Error()) // only wrong sizes make these functions fail
	}
}

// next moves to the key and nonce of the next record.
func (c *chain) next() {
	if c.n == c.limit {
		m := hmac.New(sha256.New, c.key[:])
		m.Write([]byte(labelRekey))
		c.start(m.Sum(nil), c.limit)
	}
	binary.LittleEndian.PutUint64(c.nonce[:], c.n)
	c.n++
}

// Seal appends the record of a frame to dst. It does not allocate if dst has room. A nil h
// makes an empty record.
func (s *Sealed) Seal(dst []byte, h *Header, payload []byte) []byte {
	size := 0
	if h != nil {
		size = HeaderSize + len(payload)
	}
	at := len(dst)
	if need := at + size + RecordOverhead; need > cap(dst) {
		dst = append(make([]byte, 0, need), dst...)
	}
	b := dst[at : at+recordLength+size]
	binary.LittleEndian.PutUint32(b, uint32(size))
	if frame := b[recordLength:]; h != nil {
		h.Encode(frame)
		copy(frame[HeaderSize:], payload)
	}
	s.out.next()
	s.out.aead.Seal(b[recordLength:recordLength], s.out.nonce[:], b[recordLength:], b[:recordLength])
	return dst[:at+size+RecordOverhead]
}

// A stream of bytes is sealed in pieces, which have the form of records without a header. A connection
// carries either frames or a stream.

// PieceMax is the length of the longest piece of a stream in bytes, without its overhead.
const PieceMax = MaxPayload

// SealPiece seals a piece of a stream, of 1 to PieceMax bytes, and appends it to dst.
func (s *Sealed) SealPiece(dst, piece []byte) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(piece)))
	s.out.next()
	return s.out.aead.Seal(dst, s.out.nonce[:], piece, dst[at:at+recordLength])
}

// PieceSize returns the size of the sealed piece that begins with b, 0 if b is too short to tell. The
// error wraps ErrForged if the piece announces a length that no piece has.
func PieceSize(b []byte) (int, error) {
	if len(b) < recordLength {
		return 0, nil
	}
	size := binary.LittleEndian.Uint32(b)
	if size == 0 || size > PieceMax {
		return 0, fmt.Errorf("wire: a piece announces %d bytes: %w", size, ErrForged)
	}
	return int(size) + RecordOverhead, nil
}

// OpenPiece opens a whole sealed piece in place, and returns its bytes, a part of b. After an error it
// must not be called again.
func (s *Sealed) OpenPiece(b []byte) ([]byte, error) {
	s.in.next()
	piece, err := s.in.aead.Open(b[recordLength:recordLength], s.in.nonce[:], b[recordLength:], b[:recordLength])
	if err != nil {
		return nil, ErrForged
	}
	return piece, nil
}

// RecordSize returns the size of the record that begins with b, 0 if b is too short to tell. The
// error wraps ErrForged if the record announces a length that no record has.
func RecordSize(b []byte) (int, error) {
	if len(b) < recordLength {
		return 0, nil
	}
	size := binary.LittleEndian.Uint32(b)
	if size != 0 && (size < HeaderSize || size > HeaderSize+MaxPayload) {
		return 0, fmt.Errorf("wire: a record announces %d bytes: %w", size, ErrForged)
	}
	return int(size) + RecordOverhead, nil
}

// Open opens, in place, the record at the beginning of b. It returns the length of the
// record, 0 if the record is not whole yet, and the frame: its header, checked, and its
// payload, a part of b. For an empty record it sets h.Kind to 0. After an error Open
// must not be called again.
func (s *Sealed) Open(b []byte, h *Header) (n int, payload []byte, err error) {
	n, err = RecordSize(b)
	if n == 0 || n > len(b) {
		return 0, nil, err
	}
	s.in.next()
	frame, err := s.in.aead.Open(b[recordLength:recordLength], s.in.nonce[:], b[recordLength:n], b[:recordLength])
	if err != nil {
		return 0, nil, ErrForged
	}
	if len(frame) == 0 {
		*h = Header{}
		return n, nil, nil
	}
	if err := h.Decode(frame); err != nil {
		return 0, nil, err
	}
	if int(h.Size) != len(frame)-HeaderSize {
		return 0, nil, fmt.Errorf("wire: a frame of %d bytes in a record for %d", h.Size, len(frame)-HeaderSize)
	}
	return n, frame[HeaderSize:len(frame):len(frame)], nil
}
