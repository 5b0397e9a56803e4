package tcp

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// keyed returns the configurations of a job of n processes that has no secret: each has a key.
func keyed(t *testing.T, n int, l limits) (list []Config) {
	t.Helper()
	for i := range n {
		j := job(i, n)
		j.Secret = [32]byte{}
		var err error
		j.Key, err = ecdh.X25519().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, Config{Job: j, limits: l})
	}
	return list
}

// Processes of a job without a secret connect by the public keys in their addresses, whether they know
// all addresses or look them up one by one.
func TestXLCH01_KeysInAddresses(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, addrs := open(t, mk, keyed(t, 3, limits{})...)
			for _, a := range addrs {
				if _, key, ok := strings.Cut(a, KeyMark); !ok || len(key) != 43 {
					t.Errorf("address %q has no key", a)
				}
			}
			start(t, addrs, fs...)
			meet(t, fs)

			fs, addrs = open(t, mk, keyed(t, 3, limits{})...)
			for _, f := range fs {
				f.Connector().startLookup(func(_ context.Context, of int) (string, error) { return addrs[of], nil })
			}
			meet(t, fs)
		})
	}
}

// A process that has another key than the others think, or none, is kept out. Both ends refuse it.
func TestS2ProcessWithAnotherKeyIsKeptOut(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, addrs := open(t, mk, keyed(t, 2, impatient())...)
			other := keyed(t, 1, impatient())[0].Job.Key
			endpoint, _, _ := strings.Cut(addrs[0], KeyMark)
			start(t, []string{endpoint + KeyMark + wire.PublicKey(other), addrs[1]}, fs[1])
			start(t, addrs, fs[0])
			s := newInbox(t)
			fs[0].Send(1, &wire.Header{Kind: wire.User}, nil)
			if err := awaitDown(fs[0], s, 1); err == nil {
				t.Error("process 0 reached one that knows it by another key")
			}
			fs, addrs = open(t, mk, keyed(t, 2, impatient())...)
			endpoint, _, _ = strings.Cut(addrs[1], KeyMark)
			start(t, []string{addrs[0], endpoint}, fs[0])
			fs[0].Send(1, &wire.Header{Kind: wire.User}, nil)
			if err := awaitDown(fs[0], newInbox(t), 1); err == nil || !strings.Contains(err.Error(), "public key") {
				t.Errorf("an address without a key: %v", err)
			}
		})
	}
}
