package sys

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// AskUDP sends a packet to a port of a host, and returns the first packet that comes back from there within
// some time.
func AskUDP(ip []byte, port int, packet []byte, within time.Duration) ([]byte, error) {
	e := TCPEndpoint(ip, port)
	fd, err := unix.Socket(e.family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	limit := unix.NsecToTimeval(within.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Connect(fd, e.address); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	if _, err := unix.Write(fd, packet); err != nil {
		return nil, os.NewSyscallError("write", err)
	}
	b := make([]byte, 4096)
	for {
		n, err := unix.Read(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("read", err)
		}
		return b[:n], nil
	}
}
