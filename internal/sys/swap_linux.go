package sys

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SwapBytes sends out over a stream socket and receives in at the same time, until ctx ends. It reads no
// byte more, and does not change whether the socket blocks.
func SwapBytes(ctx context.Context, fd int, out, in []byte) error {
	const slice = 50 // ms, after which ctx is looked at
	for len(out)+len(in) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := []unix.PollFd{{Fd: int32(fd)}}
		if len(in) > 0 {
			p[0].Events |= unix.POLLIN
		}
		if len(out) > 0 {
			p[0].Events |= unix.POLLOUT
		}
		if _, err := unix.Poll(p, slice); err != nil && err != unix.EINTR {
			return os.NewSyscallError("poll", err)
		}
		if p[0].Revents&unix.POLLNVAL != 0 {
			return os.NewSyscallError("poll", unix.EBADF)
		}
		if len(out) > 0 {
			n, err := unix.SendmsgN(fd, out, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
			if err != nil && err != unix.EAGAIN && err != unix.EINTR {
				return os.NewSyscallError("send", err)
			}
			out = out[max(n, 0):]
		}
		if len(in) > 0 {
			n, e := Recv(fd, in)
			switch {
			case e == 0 && n == 0:
				return io.ErrUnexpectedEOF
			case e != 0 && e != syscall.EAGAIN && e != syscall.EINTR:
				return os.NewSyscallError("recv", e)
			}
			in = in[n:]
		}
	}
	return nil
}

// NoSocket reports whether an error of SwapBytes says that the descriptor is no stream socket.
func NoSocket(err error) bool {
	return errors.Is(err, unix.ENOTSOCK) || errors.Is(err, unix.EBADF) || errors.Is(err, unix.ENOTCONN) || errors.Is(err, unix.EDESTADDRREQ)
}
