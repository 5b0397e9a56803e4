package p2p

import "testing"

// P2P-12: who waits long for the buffer of the process, which is no communicator's,
// is described like others.
func TestAWaitWithoutCommunicatorIsDescribed(t *testing.T) {
	if got := string((&Request{what: "BufferFlush"}).AppendAbout(nil)); got != "BufferFlush" {
		t.Errorf("it waits for %q", got)
	}
}
