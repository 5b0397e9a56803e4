package histories_test

import "testing"

// payloadPattern is the source of payloads, which repeat it. Its length is a prime that shares
// no factor with the lengths of the pieces into which protocols divide messages, so that no two
// pieces of a message are alike. Payloads are copied from it because that is fast under the race
// detector: a copy is checked once, while a loop over bytes is checked eight times for each
// word.
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

// fill writes the payload of a seed.
func fill(b []byte, seed uint64) {
	at := int((seed*0x9e3779b97f4a7c15 + 1) >> 20 % uint64(len(payloadPattern)))
	for ; len(b) > 0; at = 0 {
		b = b[copy(b, payloadPattern[at:]):]
	}
}

// payload returns n bytes of the payload of a seed.
func payload(n int, seed uint64) []byte {
	b := make([]byte, n)
	fill(b, seed)
	return b
}

// ok fails the test if err is not nil.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
