package tcp

import (
	"errors"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// S6: a lost peer is soon down, however much it continues to send.
func TestS6_TheGivenUpIsNotHeardForEver(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			fs := ends(t, mk, 2, limits{})
			meet(t, fs)
			why := errors.New("it babbles")
			fs[0].(interface{ Lose(int, error) }).Lose(1, why)
			ear := newInbox(t)
			for turn := 0; ear.downs[1] == nil; turn++ {
				if turn > 8*lastTurns {
					t.Fatalf("after %d turns in which it sends, the peer is not down", turn)
				}
				for range 1000 { // the peer always has more to send
					if !fs[1].Send(0, &wire.Header{Kind: wire.User, Size: 1000}, make([]byte, 1000)) {
						break
					}
				}
				fs[0].Poll(ear, -1)
				clear(ear.frames)
			}
			if !errors.Is(ear.downs[1], why) {
				t.Errorf("the peer is down: %v", ear.downs[1])
			}
		})
	}
}

// Close does not wait for a peer whose end of the connection is reset: that end accepts
// no more data.
func TestS6_CloseAfterAReset(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			const long = time.Hour
			fs := ends(t, mk, 2, limits{linger: long})
			meet(t, fs)
			for range 100_000 { // more than the kernel's buffers hold
				if !fs[1].Send(0, &wire.Header{Kind: wire.User, Size: 1000}, make([]byte, 1000)) {
					break
				}
			}
			fs[0].(interface{ Kill() }).Kill()
			fs[1].Close()
		})
	}
}
