package wire

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"testing"
)

func newKey(t *testing.T) *ecdh.PrivateKey {
	t.Helper()
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Two processes derive the same secret from each other's public keys, and a third one derives another.
func TestXLCH01_PairsAgreeOnASecret(t *testing.T) {
	a, b, c := newKey(t), newKey(t), newKey(t)
	secret := func(own, peer *ecdh.PrivateKey) [32]byte {
		s, err := PairSecret(own, PublicKey(peer))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if secret(a, b) != secret(b, a) {
		t.Error("the two ends have different secrets")
	}
	for _, other := range [][32]byte{secret(a, c), secret(c, b), {}} {
		if secret(a, b) == other {
			t.Error("two pairs have the same secret")
		}
	}
}

// What is no public key is refused, and so is a key with which everybody derives the same secret.
func TestS6_PublicKeysAreChecked(t *testing.T) {
	own := newKey(t)
	for _, text := range []string{"", "x", PublicKey(own)[:42], PublicKey(own) + "AA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "!AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		if _, err := PairSecret(own, text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// A stream arrives as it was sent, and a piece that was changed, repeated or moved is invalid.
func TestPiecesOfAStream(t *testing.T) {
	d, a := NewDialler(testPair(0, 1)), NewAcceptor(testPair(0, 1), 2)
	if _, _, err := shake(d, a, Accepted, untouched); err != nil {
		t.Fatal(err)
	}
	out, in := d.Sealed(), a.Sealed()
	for _, size := range []int{1, 100, PieceMax} {
		piece := make([]byte, size)
		rand.Read(piece)
		sealed := out.SealPiece(nil, piece)
		if n, err := PieceSize(sealed[:4]); err != nil || n != len(sealed) {
			t.Errorf("a piece of %d bytes takes %d, %v, want %d", size, n, err, len(sealed))
		}
		if n, err := PieceSize(sealed[:3]); n != 0 || err != nil {
			t.Errorf("3 bytes tell %d, %v", n, err)
		}
		got, err := in.OpenPiece(sealed)
		if err != nil || !bytes.Equal(got, piece) {
			t.Errorf("a piece of %d bytes: %d bytes, %v", size, len(got), err)
		}
	}
	for _, head := range [][]byte{{0, 0, 0, 0}, {1, 0, 1, 0}, {255, 255, 255, 255}} {
		if _, err := PieceSize(head); !errors.Is(err, ErrForged) {
			t.Errorf("% x: %v", head, err)
		}
	}
	out.SealPiece(nil, []byte("left out"))
	second := out.SealPiece(nil, []byte("second"))
	if _, err := in.OpenPiece(bytes.Clone(second)); !errors.Is(err, ErrForged) {
		t.Errorf("a piece too early: %v", err)
	}
}
