//go:build unix

package sys

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Link is one end of a pair of Unix stream sockets between a launcher and a process that it started.
// It carries bytes and descriptors, and has no name that another process could open. Reads wait in Go's
// poller, so that no thread blocks in a read.
type Link struct {
	file *os.File
	raw  syscall.RawConn
}

// LinkPair returns a connected pair: an end for this process, and one that a child inherits. Both are
// closed on exec.
func LinkPair() (mine *Link, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	mine, err = NewLink(fds[0])
	if err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, nil, err
	}
	return mine, os.NewFile(uintptr(fds[1]), "link"), nil
}

// NewLink takes over descriptor fd, which must be a Unix stream socket, and sets its close-on-exec
// flag.
func NewLink(fd int) (*Link, error) {
	unix.CloseOnExec(fd)
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is not a socket: %w", fd, err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is not a socket: %w", fd, err)
	}
	if _, ok := name.(*syscall.SockaddrUnix); !ok || kind != unix.SOCK_STREAM {
		return nil, fmt.Errorf("descriptor %d is a socket of another kind than a Unix stream", fd)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	file := os.NewFile(uintptr(fd), "link")
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &Link{file, raw}, nil
}

// SocketInode returns the inode of the socket that descriptor fd is, by which the kernel tells sockets apart.
func SocketInode(fd int) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return 0, fmt.Errorf("descriptor %d is not a socket", fd)
	}
	return uint64(st.Ino), nil
}

// Read reads at least one byte, and the descriptors that were sent with it, which the caller owns. At the
// end of the stream it returns io.EOF.
func (l *Link) Read(b []byte) (n int, files []*os.File, err error) {
	var oob [64]byte // room for more than the one descriptor a message carries
	var oobn int
	var recvErr error
	receive := func(fd uintptr) bool {
		for {
			n, oobn, _, _, recvErr = syscall.Recvmsg(int(fd), b, oob[:], recvFlags)
			if recvErr != unix.EINTR {
				return recvErr != unix.EAGAIN
			}
		}
	}
	err = l.raw.Read(receive)
	if errors.Is(err, os.ErrDeadlineExceeded) { // what has arrived already is read nevertheless
		if e := l.raw.Control(func(fd uintptr) { receive(fd) }); e != nil {
			err = e
		} else if recvErr != unix.EAGAIN {
			err = nil
		}
	}
	if err == nil {
		err = recvErr
	}
	if err != nil {
		return 0, nil, err
	}
	if oobn > 0 {
		files = descriptors(oob[:oobn])
	}
	if n == 0 {
		for _, f := range files {
			f.Close()
		}
		return 0, nil, io.EOF
	}
	return n, files, nil
}

func descriptors(oob []byte) (files []*os.File) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "a file from another process"))
		}
	}
	return files
}

// Write writes all of b, with file attached to its first byte unless file is
// nil. Calls must not overlap.
func (l *Link) Write(b []byte, file *os.File) error {
	var rights []byte
	if file != nil {
		rights = unix.UnixRights(int(file.Fd()))
	}
	for len(b) > 0 {
		var n int
		var sendErr error
		err := l.raw.Write(func(fd uintptr) bool {
			for {
				n, sendErr = unix.SendmsgN(int(fd), b, rights, nil, sendFlags)
				if sendErr != unix.EINTR {
					return sendErr != unix.EAGAIN
				}
			}
		})
		err = errors.Join(err, sendErr)
		if err != nil {
			return err
		}
		b, rights = b[n:], nil
	}
	return nil
}

// Expire makes current and later calls transfer what is possible without blocking, and then
// fail with os.ErrDeadlineExceeded: the other end has ended.
func (l *Link) Expire() { l.file.SetDeadline(time.Now()) }

// Close ends the link. A Read in progress returns an error.
func (l *Link) Close() error { return l.file.Close() }

// LinkReset reports whether err means that the other end is gone.
func LinkReset(err error) bool {
	return errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}

// Inherit duplicates the descriptor of f for a program that gets only its number, and closes f. The
// duplicate has the close-on-exec flag.
func Inherit(f *os.File) (int, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	f.Close()
	return fd, err
}
