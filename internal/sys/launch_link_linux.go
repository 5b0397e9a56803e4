package sys

import "golang.org/x/sys/unix"

const (
	recvFlags = unix.MSG_CMSG_CLOEXEC
	sendFlags = unix.MSG_NOSIGNAL
)
