package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// The handshake opens a connection by four messages of fixed size. Integers are
// little-endian. The dialler sends first:
//
//	Hello     80  dialler   "HALO" | layout uint16 | version uint16 | from uint32 | to uint32 | nonce 32 | mac 32
//	Challenge 68  acceptor  version uint16 | zero uint16 | nonce 32 | mac 32
//	Proof     32  dialler   mac 32
//	Verdict   33  acceptor  verdict uint8 | mac 32
//
// Every mac is HMAC-SHA256 under the job secret over one fixed transcript:
//
//	label 16 | layout uint16 | version of dialler uint16 | version of acceptor uint16 |
//	from uint32 | to uint32 | dialler's nonce 32 | acceptor's nonce 32 | verdict uint8 | job id
//
// in which fields that are not known yet are zero, and the label identifies message and
// direction. Therefore: a caller without the secret gets no byte, because Hello must carry
// a mac; a replayed Hello gets a Challenge, but the recorded Proof does not match the fresh
// nonce; a message sent back to its own sender has the wrong label; and a message for
// another pair of processes, or another job, has the wrong transcript.
//
// layout is the version of the handshake, version that of the frames that follow. Each side
// sends its version inside a mac: the dialler reports a mismatch once it knows that the
// acceptor belongs to its job; the acceptor only closes. Another layout cannot be
// authenticated and is refused without an answer.
//
// The handshake does not protect the frames that follow. Between hosts they are sealed
// with keys derived from the same transcript under further labels (see Sealed).
const (
	// HandshakeLayout is the version of the handshake itself.
	HandshakeLayout = 1

	NonceSize     = 32
	MACSize       = sha256.Size
	HelloSize     = 4 + 2 + 2 + 4 + 4 + NonceSize + MACSize
	ChallengeSize = 2 + 2 + NonceSize + MACSize
	ProofSize     = MACSize
	VerdictSize   = 1 + MACSize
)

// Labels of the four messages, padded to 16 bytes in the transcript.
const (
	labelHello     = "halo/dial/hello"
	labelChallenge = "halo/acc/chall"
	labelProof     = "halo/dial/proof"
	labelVerdict   = "halo/acc/verdict"
)

// Verdict is the acceptor's decision.
type Verdict uint8

const (
	// Accepted: this connection becomes the only one of the pair.
	Accepted Verdict = 1
	// Crossed: the acceptor is dialling too, and the connection that it opens stays.
	Crossed Verdict = 2
)

var (
	// ErrRefused is the error for any failed proof. It gives no details, on purpose.
	ErrRefused = errors.New("handshake refused")
	// ErrVersion is the error for a peer of the same job with another version of frames.
	ErrVersion = errors.New("different protocol versions in one job")
)

// Pair identifies a connection to be opened: dialler, acceptor and job.
type Pair struct {
	Secret [32]byte
	Job    string
	From   int // index of the process that dials
	To     int // index of the process that accepts
}

// transcript holds the values that every mac authenticates.
type transcript struct {
	Pair
	dialVersion, acceptVersion uint16
	dialNonce, acceptNonce     [NonceSize]byte
	verdict                    Verdict
}

func (t *transcript) mac(label string) []byte {
	var b [16 + 2 + 2 + 2 + 4 + 4 + 2*NonceSize + 1]byte
	le := binary.LittleEndian
	copy(b[:16], label)
	le.PutUint16(b[16:], HandshakeLayout)
	le.PutUint16(b[18:], t.dialVersion)
	le.PutUint16(b[20:], t.acceptVersion)
	le.PutUint32(b[22:], uint32(t.From))
	le.PutUint32(b[26:], uint32(t.To))
	copy(b[30:], t.dialNonce[:])
	copy(b[30+NonceSize:], t.acceptNonce[:])
	b[30+2*NonceSize] = byte(t.verdict)
	m := hmac.New(sha256.New, t.Secret[:])
	m.Write(b[:])
	m.Write([]byte(t.Job))
	return m.Sum(nil)
}

// Dialler is the side that opens a connection. Its methods are called once
// each, in the order Hello, Challenge, Proof, Verdict.
type Dialler struct{ t transcript }

// NewDialler returns a dialler with a fresh nonce.
func NewDialler(p Pair) *Dialler {
	d := &Dialler{transcript{Pair: p, dialVersion: Version}}
	rand.Read(d.t.dialNonce[:])
	return d
}

// Hello writes the first message.
func (d *Dialler) Hello(b *[HelloSize]byte) {
	le := binary.LittleEndian
	copy(b[:4], "HALO")
	le.PutUint16(b[4:], HandshakeLayout)
	le.PutUint16(b[6:], d.t.dialVersion)
	le.PutUint32(b[8:], uint32(d.t.From))
	le.PutUint32(b[12:], uint32(d.t.To))
	copy(b[16:], d.t.dialNonce[:])
	copy(b[16+NonceSize:], d.t.mac(labelHello))
}

// Challenge checks the acceptor's proof, then its version.
func (d *Dialler) Challenge(b *[ChallengeSize]byte) error {
	le := binary.LittleEndian
	d.t.acceptVersion = le.Uint16(b[:])
	copy(d.t.acceptNonce[:], b[4:])
	if le.Uint16(b[2:]) != 0 || !hmac.Equal(b[4+NonceSize:], d.t.mac(labelChallenge)) {
		return ErrRefused
	}
	if d.t.acceptVersion != d.t.dialVersion {
		return fmt.Errorf("process %d speaks frame version %d, process %d version %d: %w",
			d.t.From, d.t.dialVersion, d.t.To, d.t.acceptVersion, ErrVersion)
	}
	return nil
}

// Proof writes the third message.
func (d *Dialler) Proof(b *[ProofSize]byte) { copy(b[:], d.t.mac(labelProof)) }

// Verdict reads the last message.
func (d *Dialler) Verdict(b *[VerdictSize]byte) (Verdict, error) {
	d.t.verdict = Verdict(b[0])
	if !hmac.Equal(b[1:], d.t.mac(labelVerdict)) || d.t.verdict != Accepted && d.t.verdict != Crossed {
		return 0, ErrRefused
	}
	return d.t.verdict, nil
}

// Acceptor is the side that accepts a connection. Its methods are called once each,
// in the order Hello, Challenge, Proof, Verdict; after an error the caller closes the
// connection without an answer.
type Acceptor struct {
	t    transcript
	size int
}

// NewAcceptor returns an acceptor with a fresh nonce. p.From is not known yet; size is
// the number of processes in the job.
func NewAcceptor(p Pair, size int) *Acceptor {
	a := &Acceptor{transcript{Pair: p, acceptVersion: Version}, size}
	rand.Read(a.t.acceptNonce[:])
	return a
}

// HelloFrom returns the index that a Hello claims. It proves nothing: it selects the secret under which
// Acceptor.Hello checks the claim.
func HelloFrom(b *[HelloSize]byte) int { return int(binary.LittleEndian.Uint32(b[8:])) }

// Hello checks the first message and returns the index of the dialler.
func (a *Acceptor) Hello(b *[HelloSize]byte) (from int, err error) {
	le := binary.LittleEndian
	t := a.t
	t.dialVersion, t.acceptVersion = le.Uint16(b[6:]), 0
	t.acceptNonce = [NonceSize]byte{}
	f, to := le.Uint32(b[8:]), le.Uint32(b[12:])
	if !bytes.Equal(b[:4], []byte("HALO")) || le.Uint16(b[4:]) != HandshakeLayout ||
		uint64(f) >= uint64(a.size) || f == to || uint64(to) != uint64(a.t.To) {
		return 0, ErrRefused
	}
	t.From = int(f)
	copy(t.dialNonce[:], b[16:])
	if !hmac.Equal(b[16+NonceSize:], t.mac(labelHello)) {
		return 0, ErrRefused
	}
	a.t.From, a.t.dialVersion, a.t.dialNonce = t.From, t.dialVersion, t.dialNonce
	return t.From, nil
}

// Challenge writes the second message.
func (a *Acceptor) Challenge(b *[ChallengeSize]byte) {
	*b = [ChallengeSize]byte{}
	binary.LittleEndian.PutUint16(b[:], a.t.acceptVersion)
	copy(b[4:], a.t.acceptNonce[:])
	copy(b[4+NonceSize:], a.t.mac(labelChallenge))
}

// Proof checks the third message.
func (a *Acceptor) Proof(b *[ProofSize]byte) error {
	if !hmac.Equal(b[:], a.t.mac(labelProof)) {
		return ErrRefused
	}
	if a.t.dialVersion != a.t.acceptVersion {
		return fmt.Errorf("process %d speaks frame version %d, process %d version %d: %w",
			a.t.From, a.t.dialVersion, a.t.To, a.t.acceptVersion, ErrVersion)
	}
	return nil
}

// Verdict writes the last message.
func (a *Acceptor) Verdict(b *[VerdictSize]byte, v Verdict) {
	a.t.verdict = v
	b[0] = byte(v)
	copy(b[1:], a.t.mac(labelVerdict))
}
