package sys

import "golang.org/x/sys/unix"

// Unread returns how many bytes that were written to a pipe its reader has not read yet. It is 0 if nobody can read
// them any more, and for anything else than a pipe. fd may be either end of the pipe.
func Unread(fd int) int {
	var s unix.Stat_t
	if unix.Fstat(fd, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFIFO {
		return 0
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil || n == 0 {
		return 0
	}
	poll := []unix.PollFd{{Fd: int32(fd)}}
	if _, err := unix.Poll(poll, 0); err == nil && poll[0].Revents&unix.POLLERR != 0 { // there is no reader
		return 0
	}
	return n
}
