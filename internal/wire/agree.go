package wire

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/halo-mpi/halo/internal/planted"
)

// Two processes of a job that has no secret agree on one of their own: each has a pair of X25519 keys
// and knows the other's public key. The secret takes the place of the job's in the handshake. Whoever
// can replace a public key on its way can take the part of its owner.

const labelPair = "halo/pair"

// PublicKey returns the text by which others know the owner of a key: 43 characters, letters, digits, '-'
// and '_'.
func PublicKey(own *ecdh.PrivateKey) string {
	return base64.RawURLEncoding.EncodeToString(own.PublicKey().Bytes())
}

// PairSecret returns the secret that the owner of a key shares with the one that text, from PublicKey,
// belongs to.
func PairSecret(own *ecdh.PrivateKey, text string) (secret [32]byte, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	var peer *ecdh.PublicKey
	if err == nil {
		peer, err = ecdh.X25519().NewPublicKey(b)
	}
	var shared []byte
	if err == nil {
		shared, err = own.ECDH(peer)
	}
	if err != nil {
		return secret, fmt.Errorf("wire: public key %.60q: %w", text, err)
	}
	if planted.KeyIgnored {
		return secret, nil
	}
	low, high := own.PublicKey().Bytes(), b
	if bytes.Compare(low, high) > 0 {
		low, high = high, low
	}
	m := hmac.New(sha256.New, shared)
	m.Write([]byte(labelPair))
	m.Write(low)
	m.Write(high)
	return [32]byte(m.Sum(nil)), nil
}
