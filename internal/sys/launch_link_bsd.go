//go:build unix && !linux

package sys

// A write to a closed link must fail, not kill: the Go runtime turns SIGPIPE
// into an error for every descriptor but 1 and 2.
const (
	recvFlags = 0
	sendFlags = 0
)

// PeerEnded is always false on this platform, which has no sockets with abstract names.
func (*Link) PeerEnded() bool { return false }
