package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Processes of different jobs, and a process and a port, prove a secret that the two jobs have agreed
// on. The handshake is that of a job. In place of the index of the dialler its Hello contains a tag,
// by which the acceptor finds the secret; it tells nobody else who the dialler is.

const (
	labelBetween = "halo/between"
	labelTag     = "halo/tag"

	// tagBit is set in tags and in no index of a process.
	tagBit = 1 << 30
	// tagMax is above all tags: an int of any platform holds it.
	tagMax = 1<<31 - 1
)

// Between identifies the connections that from opens to to, two texts that name the ends, under a
// secret of both. Each direction has a key and a tag of its own, so nothing that is recorded in one
// is valid in the other.
func Between(secret [32]byte, from, to string) Pair {
	m := hmac.New(sha256.New, secret[:])
	m.Write([]byte(labelBetween))
	m.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(from))))
	m.Write([]byte(from))
	m.Write([]byte(to))
	p := Pair{Secret: [32]byte(m.Sum(nil)), Job: from + " to " + to}
	t := hmac.New(sha256.New, p.Secret[:])
	t.Write([]byte(labelTag))
	p.From = tagBit | int(binary.LittleEndian.Uint32(t.Sum(nil))%(tagMax-tagBit))
	return p
}

// IsTag reports whether the index that a Hello claims is a tag of Between.
func IsTag(from int) bool { return from >= tagBit && from < tagMax }

// NewTagAcceptor returns the acceptor's side of a connection of Between.
func NewTagAcceptor(p Pair) *Acceptor { return NewAcceptor(p, tagMax) }
