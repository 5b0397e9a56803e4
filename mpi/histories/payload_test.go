package histories_test

import "testing"

// payloadPattern is what payloads are cut from, again and again: its length, a prime, shares no
// factor with any length that a protocol cuts messages into, so that no two pieces of a
// message are alike. Copying costs the race detector one look where making each byte
// costs it eight a word.
var payloadPattern = func() []byte {
	b := make([]byte, 1<<20+7)
	x := uint64(0x9e3779b97f4a7c15)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
	return b
}()

// fill writes the payload that belongs to seed.
func fill(b []byte, seed uint64) {
	at := int((seed*0x9e3779b97f4a7c15 + 1) >> 20 % uint64(len(payloadPattern)))
	for ; len(b) > 0; at = 0 {
		b = b[copy(b, payloadPattern[at:]):]
	}
}

// payload returns n bytes that belong to seed.
func payload(n int, seed uint64) []byte {
	b := make([]byte, n)
	fill(b, seed)
	return b
}

// ok fails the test when a call has failed.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
