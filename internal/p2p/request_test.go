package p2p

import "testing"

// P2P-12: a wait for the buffer of the process, which belongs to no communicator, is
// described like others.
func TestAWaitWithoutCommunicatorIsDescribed(t *testing.T) {
	if got := string((&Request{operation: "BufferFlush"}).AppendAbout(nil)); got != "BufferFlush" {
		t.Errorf("it waits for %q", got)
	}
}
