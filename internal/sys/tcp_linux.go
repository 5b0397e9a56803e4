package sys

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// An Endpoint is an IP address and a TCP port.
//
// Its sockets are files that the runtime's poller waits for. Package net does the same, but its tables and
// those of package netip take 100 KiB of memory of each rank in C.
type Endpoint struct {
	family  int
	address unix.Sockaddr
}

// TCPEndpoint returns the endpoint of an address of 4 or 16 bytes.
func TCPEndpoint(ip []byte, port int) Endpoint {
	if len(ip) == 4 {
		return Endpoint{unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte(ip)}}
	}
	return Endpoint{unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte(ip)}}
}

func (e Endpoint) open() (int, error) {
	fd, err := unix.Socket(e.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return fd, os.NewSyscallError("socket", err)
}

// Listen returns a socket that listens at e. If e has no port the kernel chooses one.
func (e Endpoint) Listen() (l *os.File, port int, err error) {
	fd, err := e.open()
	if err != nil {
		return nil, 0, err
	}
	port, err = e.listen(fd)
	if err != nil {
		unix.Close(fd)
		return nil, 0, err
	}
	return os.NewFile(uintptr(fd), "listener"), port, nil
}

func (e Endpoint) listen(fd int) (port int, err error) {
	// The kernel keeps connections of a process that has ended for a minute, which shall not keep the port.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, e.address); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return 0, os.NewSyscallError("listen", err)
	}
	bound, err := unix.Getsockname(fd)
	switch a := bound.(type) {
	case *unix.SockaddrInet4:
		return a.Port, nil
	case *unix.SockaddrInet6:
		return a.Port, nil
	}
	return 0, os.NewSyscallError("getsockname", err)
}

// Accept waits for a connection to a listener.
func Accept(l *os.File) (*os.File, error) {
	fd, err := accept(l)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "connection"), nil
}

// accept is Accept for a descriptor, which is not blocking.
func accept(l *os.File) (fd int, err error) {
	raw, err := l.SyscallConn()
	if err != nil {
		return -1, err
	}
	e := raw.Read(func(listener uintptr) bool {
		for {
			fd, _, err = unix.Accept4(int(listener), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if err != unix.EINTR && err != unix.ECONNABORTED {
				return err != unix.EAGAIN
			}
		}
	})
	switch {
	case e != nil: // the poller has its own error for a file that is closed
		return -1, errors.Join(os.ErrClosed, e)
	case err != nil:
		return -1, os.NewSyscallError("accept", err)
	}
	return fd, nil
}

// Socket returns a socket for a connection to e.
func (e Endpoint) Socket() (*os.File, error) {
	fd, err := e.open()
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "connection"), nil
}

// Connect waits until s, which e.Socket has returned, is connected to e, or its deadline for writes has
// passed.
func (e Endpoint) Connect(s *os.File) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	begun := false
	over := raw.Write(func(fd uintptr) bool {
		if !begun {
			begun = true
			err = unix.Connect(int(fd), e.address)
		} else {
			err = connecting(int(fd))
		}
		return err != unix.EINPROGRESS && err != unix.EINTR
	})
	if over != nil {
		return over
	}
	return os.NewSyscallError("connect", err)
}

// connecting returns the state of a connect: EINPROGRESS while it is in progress, since the poller may
// wake its waiter early.
func connecting(fd int) error {
	switch e, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); {
	case err != nil:
		return err
	case e != 0:
		return syscall.Errno(e)
	case !Connected(fd):
		return unix.EINPROGRESS
	}
	return nil
}

// Connected reports whether a socket is connected.
func Connected(fd int) bool {
	_, err := unix.Getpeername(fd)
	return err == nil
}
