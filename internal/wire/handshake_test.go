package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func testPair(from, to int) Pair {
	p := Pair{Job: "job-1", From: from, To: to}
	for i := range p.Secret {
		p.Secret[i] = byte(i)
	}
	return p
}

// exchange holds the messages of one handshake.
type exchange struct {
	hello     [HelloSize]byte
	challenge [ChallengeSize]byte
	proof     [ProofSize]byte
	verdict   [VerdictSize]byte
}

// shake runs a whole handshake; spoil may change each message on its way.
func shake(d *Dialler, a *Acceptor, v Verdict, spoil func(step int, b []byte)) (x exchange, got Verdict, err error) {
	d.Hello(&x.hello)
	spoil(1, x.hello[:])
	_, err = a.Hello(&x.hello)
	if err != nil {
		return x, 0, err
	}
	a.Challenge(&x.challenge)
	spoil(2, x.challenge[:])
	err = d.Challenge(&x.challenge)
	if err != nil {
		return x, 0, err
	}
	d.Proof(&x.proof)
	spoil(3, x.proof[:])
	err = a.Proof(&x.proof)
	if err != nil {
		return x, 0, err
	}
	a.Verdict(&x.verdict, v)
	spoil(4, x.verdict[:])
	got, err = d.Verdict(&x.verdict)
	return x, got, err
}

// fixed returns the messages of a handshake with constant nonces.
func fixed(from, to int) exchange {
	d, a := NewDialler(testPair(from, to)), NewAcceptor(testPair(0, to), 8)
	for i := range NonceSize {
		d.t.dialNonce[i], a.t.acceptNonce[i] = byte(0xa0+i), byte(0x50+i)
	}
	x, v, err := shake(d, a, Accepted, untouched)
	if v != Accepted || err != nil {
		panic(err)
	}
	return x
}

func untouched(int, []byte) {}

func TestHandshakeLayoutIsGolden(t *testing.T) {
	x := fixed(3, 5)
	golden(t, "handshake.golden", []string{"hello", "challenge", "proof", "verdict"},
		[][]byte{x.hello[:], x.challenge[:], x.proof[:], x.verdict[:]})
}

func TestHandshakeOfTheJobSucceeds(t *testing.T) {
	for _, v := range []Verdict{Accepted, Crossed} {
		_, got, err := shake(NewDialler(testPair(0, 1)), NewAcceptor(testPair(0, 1), 2), v, untouched)
		if got != v || err != nil {
			t.Errorf("verdict %d arrived as %d, %v", v, got, err)
		}
	}
}

func TestEveryBitOfTheHandshakeCounts(t *testing.T) {
	for step, size := range map[int]int{1: HelloSize, 2: ChallengeSize, 3: ProofSize, 4: VerdictSize} {
		for bit := range size * 8 {
			_, _, err := shake(NewDialler(testPair(0, 1)), NewAcceptor(testPair(0, 1), 2), Accepted, func(s int, b []byte) {
				if s == step {
					b[bit/8] ^= 1 << (bit % 8)
				}
			})
			if !errors.Is(err, ErrRefused) {
				t.Fatalf("message %d with bit %d changed: %v", step, bit, err)
			}
		}
	}
}

func TestHandshakeIsBoundToSecretJobAndRanks(t *testing.T) {
	change := func(f func(*Pair)) Pair { p := testPair(0, 1); f(&p); return p }
	for name, p := range map[string]Pair{
		"secret":     change(func(p *Pair) { p.Secret[31] ^= 1 }),
		"job":        change(func(p *Pair) { p.Job = "job-2" }),
		"longer job": change(func(p *Pair) { p.Job += "x" }),
		"to":         change(func(p *Pair) { p.To = 2 }),
		"self":       change(func(p *Pair) { p.From = 1 }),
		"outside":    change(func(p *Pair) { p.From = 3 }),
		"negative":   change(func(p *Pair) { p.From = -1 }),
	} {
		if _, _, err := shake(NewDialler(p), NewAcceptor(testPair(0, 1), 3), Accepted, untouched); !errors.Is(err, ErrRefused) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func TestReplayFails(t *testing.T) {
	d, a := NewDialler(testPair(0, 1)), NewAcceptor(testPair(0, 1), 2)
	x, _, err := shake(d, a, Accepted, untouched)
	if err != nil {
		t.Fatal(err)
	}
	// The acceptor gets the earlier messages of the dialler again.
	again := NewAcceptor(testPair(0, 1), 2)
	if _, err := again.Hello(&x.hello); err != nil {
		t.Fatalf("a hello proves no freshness, and gets a challenge: %v", err)
	}
	if err := again.Proof(&x.proof); !errors.Is(err, ErrRefused) {
		t.Errorf("replayed proof: %v", err)
	}
	// The dialler gets the earlier messages of the acceptor again.
	if err := NewDialler(testPair(0, 1)).Challenge(&x.challenge); !errors.Is(err, ErrRefused) {
		t.Errorf("replayed challenge: %v", err)
	}
	fresh := NewDialler(testPair(0, 1))
	if _, err := fresh.Verdict(&x.verdict); !errors.Is(err, ErrRefused) {
		t.Errorf("replayed verdict: %v", err)
	}
}

func TestReflectionFails(t *testing.T) {
	// The attacker sends each side its own messages.
	d := NewDialler(testPair(0, 1))
	var hello [HelloSize]byte
	d.Hello(&hello)
	if _, err := NewAcceptor(testPair(0, 0), 2).Hello(&hello); !errors.Is(err, ErrRefused) {
		t.Errorf("hello back to its sender: %v", err)
	}
	var challenge [ChallengeSize]byte
	copy(challenge[4:], hello[16:])
	challenge[0] = Version
	if err := d.Challenge(&challenge); !errors.Is(err, ErrRefused) {
		t.Errorf("hello as a challenge: %v", err)
	}
	a := NewAcceptor(testPair(0, 1), 2)
	if _, err := a.Hello(&hello); err != nil {
		t.Fatal(err)
	}
	a.Challenge(&challenge)
	var proof [ProofSize]byte
	copy(proof[:], challenge[4+NonceSize:])
	if err := a.Proof(&proof); !errors.Is(err, ErrRefused) {
		t.Errorf("challenge as a proof: %v", err)
	}
	copy(proof[:], hello[16+NonceSize:])
	if err := a.Proof(&proof); !errors.Is(err, ErrRefused) {
		t.Errorf("hello as a proof: %v", err)
	}
	if err := d.Challenge(&challenge); err != nil {
		t.Fatal(err)
	}
	d.Proof(&proof)
	verdict := [VerdictSize]byte{byte(Accepted)}
	copy(verdict[1:], proof[:])
	if _, err := d.Verdict(&verdict); !errors.Is(err, ErrRefused) {
		t.Errorf("proof as a verdict: %v", err)
	}
}

func TestVersionMismatchIsToldToTheDialler(t *testing.T) {
	d, a := NewDialler(testPair(0, 1)), NewAcceptor(testPair(0, 1), 2)
	d.t.dialVersion = Version + 1
	_, _, err := shake(d, a, Accepted, untouched)
	want := fmt.Sprintf("process 0 speaks frame version %d, process 1 version %d", Version+1, Version)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	// A dialler that continues after the mismatch is refused.
	var proof [ProofSize]byte
	d.Proof(&proof)
	if err := a.Proof(&proof); !errors.Is(err, ErrVersion) {
		t.Error(err)
	}
}

func FuzzHandshake(f *testing.F) {
	x := fixed(0, 1)
	f.Add(x.hello[:], x.challenge[:], x.proof[:], x.verdict[:])
	f.Add([]byte("HALO"), []byte{Version}, []byte{}, []byte{1})
	f.Fuzz(func(t *testing.T, hello, challenge, proof, verdict []byte) {
		var y exchange
		copy(y.hello[:], hello)
		copy(y.challenge[:], challenge)
		copy(y.proof[:], proof)
		copy(y.verdict[:], verdict)
		a := NewAcceptor(testPair(0, 1), 2)
		if _, err := a.Hello(&y.hello); err == nil && y.hello != x.hello {
			t.Fatalf("took hello % x", y.hello)
		}
		if a.Proof(&y.proof) == nil {
			t.Fatalf("took proof % x", y.proof)
		}
		d := NewDialler(testPair(0, 1))
		if d.Challenge(&y.challenge) == nil {
			t.Fatalf("took challenge % x", y.challenge)
		}
		if _, err := d.Verdict(&y.verdict); err == nil {
			t.Fatalf("took verdict % x", y.verdict)
		}
	})
}
