package mpi_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// sizes of messages in bytes, on both sides of every boundary between protocols. The limits are
// those of an 8-byte store, a line of a ring, an eager message through memory, a frame of a
// ring, an eager message over tcp, a frame, and a single read.
func sizes() []int {
	all := []int{0, 1, 3, 1000, 12345, 100_001, 1 << 20, 1<<20 + 3}
	for _, limit := range []int{8, 24, 64, 8 << 10, 16<<10 - 40, 64<<10 - 128, 64 << 10, 256 << 10} {
		all = append(all, limit-1, limit, limit+1)
	}
	return all
}

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

// from is the index in payloadPattern at which the payload of a seed begins.
func from(seed uint64) int {
	return int((seed*0x9e3779b97f4a7c15 + 1) >> 20 % uint64(len(payloadPattern)))
}

// fill writes the payload of a seed.
func fill(b []byte, seed uint64) {
	for at := from(seed); len(b) > 0; at = 0 {
		b = b[copy(b, payloadPattern[at:]):]
	}
}

// payload returns n bytes of the payload of a seed.
func payload(n int, seed uint64) []byte {
	b := make([]byte, n)
	fill(b, seed)
	return b
}

// wantPayload checks that b is the first len(b) bytes of the payload of a seed with total bytes.
func wantPayload(t testing.TB, b []byte, total int, seed uint64) {
	t.Helper()
	done := 0
	for at := from(seed); done < len(b); at = 0 {
		want := payloadPattern[at:min(len(payloadPattern), at+len(b)-done)]
		got := b[done:][:len(want)]
		if !bytes.Equal(got, want) {
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("byte %d of %d is %#x, want %#x (seed %d)", done+i, total, got[i], want[i], seed)
				}
			}
		}
		done += len(want)
	}
}

// ok fails the test if err is not nil.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantClass fails the test unless err has that class.
func wantClass(t testing.TB, err error, class mpi.Class) {
	t.Helper()
	if !errors.Is(err, class) {
		t.Fatalf("error is %v, want %v", err, class)
	}
	var e *mpi.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is a %T, want *mpi.Error", err)
	}
}

// wantStatus checks the status of a received message.
func wantStatus(t testing.TB, st mpi.Status, source, tag, bytes int) {
	t.Helper()
	if st.Source != source || st.Tag != tag || st.Bytes() != int64(bytes) || st.Cancelled() {
		t.Fatalf("status is source %d tag %d bytes %d cancelled %v, want source %d tag %d bytes %d",
			st.Source, st.Tag, st.Bytes(), st.Cancelled(), source, tag, bytes)
	}
}

// wantEmpty checks that a status is the empty one.
func wantEmpty(t testing.TB, st mpi.Status) {
	t.Helper()
	wantStatus(t, st, mpi.AnySource, mpi.AnyTag, 0)
	if st.Err != nil {
		t.Fatalf("status has the error %v", st.Err)
	}
}
