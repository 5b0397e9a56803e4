package sys

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// The next job can listen at the port of one that has just ended, whose connections the kernel keeps for a
// minute; two at a time cannot.
func TestListenAtThePortOfAnEndedJob(t *testing.T) {
	for _, ip := range [][]byte{{127, 0, 0, 1}, append(make([]byte, 15), 1)} {
		l, port, err := TCPEndpoint(ip, 0).Listen()
		if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT) {
			continue // the kernel has no IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		e := TCPEndpoint(ip, port)
		for range 2 {
			l, _, err := e.Listen()
			if err != nil {
				t.Fatalf("port %d, again: %v", port, err)
			}
			if other, _, err := e.Listen(); !errors.Is(err, unix.EADDRINUSE) {
				t.Errorf("port %d, twice: %v", port, err)
				other.Close()
			}
			mine, err := e.Socket()
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Connect(mine); err != nil {
				t.Fatal(err)
			}
			theirs, err := Accept(l)
			if err != nil {
				t.Fatal(err)
			}
			theirs.Close() // the side that closes first keeps the connection
			mine.Read(make([]byte, 1))
			mine.Close()
			l.Close()
		}
	}
}
