package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Route returns the address of this host from which packets to ip are sent. It sends none.
func Route(ip []byte) ([]byte, error) {
	e := TCPEndpoint(ip, 9)
	fd, err := unix.Socket(e.family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, e.address); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	own, _, err := Ends(fd)
	return own, err
}

// Ends returns the addresses of the two ends of a connected socket.
func Ends(fd int) (own, peer []byte, err error) {
	a, err := unix.Getsockname(fd)
	if err != nil {
		return nil, nil, os.NewSyscallError("getsockname", err)
	}
	b, err := unix.Getpeername(fd)
	if err != nil {
		return nil, nil, os.NewSyscallError("getpeername", err)
	}
	return ipOf(a), ipOf(b), nil
}

func ipOf(a unix.Sockaddr) []byte {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return a.Addr[:]
	case *unix.SockaddrInet6:
		return a.Addr[:]
	}
	return nil
}
