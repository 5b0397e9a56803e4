package sys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The processes of a node that no launcher has connected meet at a Unix socket with an abstract name. The
// kernel gives the name to one of them, and takes it back when that process ends, however it does: nothing
// has to be removed. Names are those of a network namespace.

// ErrTaken is the error of ListenNode if another process has the name.
var ErrTaken = errors.New("another process has the name")

// ErrNobody is the error of DialNode if no process listens.
var ErrNobody = errors.New("no process listens")

// ErrFull is the error of DialNode if more processes connect than the listener can queue.
var ErrFull = fmt.Errorf("too many processes connect (%w)", ErrNobody)

// ListenNode returns a socket that listens at an abstract name of at most 100 bytes.
func ListenNode(name string) (*os.File, error) {
	fd, err := nodeSocket(name)
	if err != nil {
		return nil, err
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: "@" + name})
	switch {
	case err == unix.EADDRINUSE:
		err = ErrTaken
	case err == nil:
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("socket @%s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), "node"), nil
}

func nodeSocket(name string) (int, error) {
	if len(name) > 100 {
		return -1, fmt.Errorf("socket @%.40s...: name of %d bytes", name, len(name))
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	return fd, os.NewSyscallError("socket", err)
}

// DialNode connects to the process that listens at an abstract name.
func DialNode(name string) (*Link, error) {
	fd, err := nodeSocket(name)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + name})
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		unix.Close(fd)
		switch err {
		case unix.ECONNREFUSED:
			err = ErrNobody
		case unix.EAGAIN:
			err = ErrFull
		}
		return nil, fmt.Errorf("socket @%s: %w", name, err)
	}
	l, err := NewLink(fd)
	if err != nil {
		unix.Close(fd)
	}
	return l, err
}

// ServeNode calls serve for each process of this user that connects to a socket of ListenNode, until l is
// closed. serve closes the link. Others are turned away.
func ServeNode(l *os.File, serve func(link *Link, pid int)) {
	ServeUsers(l, func(link *Link, pid, uid int) {
		if uid != os.Getuid() {
			link.Close()
			return
		}
		serve(link, pid)
	})
}

// ServeUsers calls serve for each process that connects to a socket of ListenNode, of whichever user, until l is
// closed. serve closes the link.
func ServeUsers(l *os.File, serve func(link *Link, pid, uid int)) {
	for {
		link, err := acceptNode(l)
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of descriptors
			continue
		}
		pid, uid, err := link.Peer()
		if err != nil {
			link.Close()
			continue
		}
		serve(link, pid, uid)
	}
}

func acceptNode(l *os.File) (*Link, error) {
	fd, err := accept(l)
	if err != nil {
		return nil, err
	}
	link, err := NewLink(fd)
	if err != nil {
		unix.Close(fd)
	}
	return link, err
}

// Peer returns the process at the other end of a link, and its user. Of a socket that listens the kernel
// keeps who made it listen.
func (l *Link) Peer() (pid, uid int, err error) {
	e := l.raw.Control(func(fd uintptr) {
		var c *unix.Ucred
		c, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			pid, uid = int(c.Pid), int(c.Uid)
		}
	})
	return pid, uid, errors.Join(e, err)
}

// PeerEnded reports whether the process that Peer names has ended, so that its id may be that of another process. A
// kernel before Linux 6.5 does not tell: then it is false.
func (l *Link) PeerEnded() (ended bool) {
	l.raw.Control(func(fd uintptr) {
		pidfd, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		switch {
		case err == nil:
			ended = unix.PidfdSendSignal(pidfd, 0, nil, 0) == unix.ESRCH
			unix.Close(pidfd)
		case err == unix.ESRCH || err == unix.EINVAL: // it was reaped
			ended = true
		}
	})
	return ended
}

// Stream returns the link as a stream of bytes. Descriptors that the other end sends are closed.
func (l *Link) Stream() io.ReadWriteCloser { return linkStream{l} }

type linkStream struct{ l *Link }

func (s linkStream) Read(b []byte) (int, error) {
	n, files, err := s.l.Read(b)
	for _, f := range files {
		f.Close()
	}
	if LinkReset(err) {
		err = io.EOF
	}
	return n, err
}

func (s linkStream) Write(b []byte) (int, error) {
	if err := s.l.Write(b, nil); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s linkStream) Close() error { return s.l.Close() }

// DupFile returns another descriptor of an open file.
func DupFile(f *os.File) (dup *os.File, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	e := raw.Control(func(from uintptr) { fd, err = unix.FcntlInt(from, unix.F_DUPFD_CLOEXEC, 3) })
	err = errors.Join(e, err)
	if err != nil {
		return nil, fmt.Errorf("dup of %s: %w", f.Name(), err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// CPUsOf returns the number of CPUs that a process may use, 0 if that is not known.
func CPUsOf(pid int) int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(pid, &set) != nil {
		return 0
	}
	return set.Count()
}

// Addresses returns the IP addresses, of 4 or 16 bytes, of the interfaces of this host that are up, with
// the names of the interfaces. Addresses of links and of this host alone are left out.
func Addresses() (list []InterfaceAddress, err error) {
	names := map[uint32]string{}
	messages, err := netlink(syscall.RTM_GETLINK)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		if m := &messages[i]; m.Header.Type == syscall.RTM_NEWLINK && len(m.Data) >= syscall.SizeofIfInfomsg {
			index, flags := binary.NativeEndian.Uint32(m.Data[4:]), binary.NativeEndian.Uint32(m.Data[8:])
			attributes, _ := syscall.ParseNetlinkRouteAttr(m)
			for _, a := range attributes {
				if a.Attr.Type == syscall.IFLA_IFNAME && flags&syscall.IFF_UP != 0 && flags&syscall.IFF_LOOPBACK == 0 {
					names[index] = unix.ByteSliceToString(a.Value)
				}
			}
		}
	}
	messages, err = netlink(syscall.RTM_GETADDR)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		m := &messages[i]
		if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < syscall.SizeofIfAddrmsg {
			continue
		}
		bits, scope, index := int(m.Data[1]), m.Data[3], binary.NativeEndian.Uint32(m.Data[4:])
		name := names[index]
		if name == "" || scope != syscall.RT_SCOPE_UNIVERSE {
			continue
		}
		attributes, _ := syscall.ParseNetlinkRouteAttr(m)
		var local, address []byte
		for _, a := range attributes {
			switch a.Attr.Type {
			case syscall.IFA_LOCAL:
				local = a.Value
			case syscall.IFA_ADDRESS:
				address = a.Value
			}
		}
		if local == nil { // IPv6 has no other
			local = address
		}
		if len(local) == 4 || len(local) == 16 {
			list = append(list, InterfaceAddress{local, bits, name})
		}
	}
	return list, nil
}

// InterfaceAddress is an address of this host.
type InterfaceAddress struct {
	IP   []byte
	Bits int // of its network
	Name string
}

func netlink(kind int) ([]syscall.NetlinkMessage, error) {
	table, err := syscall.NetlinkRIB(kind, syscall.AF_UNSPEC)
	if err != nil {
		return nil, os.NewSyscallError("netlink", err)
	}
	return syscall.ParseNetlinkMessage(table)
}

// SourceOf returns the address from which this host sends packets to another one. It sends none.
func SourceOf(ip []byte) ([]byte, error) {
	e := TCPEndpoint(ip, 9)
	fd, err := unix.Socket(e.family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, e.address); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	own, err := unix.Getsockname(fd)
	switch a := own.(type) {
	case *unix.SockaddrInet4:
		return a.Addr[:], nil
	case *unix.SockaddrInet6:
		return a.Addr[:], nil
	}
	return nil, os.NewSyscallError("getsockname", err)
}
