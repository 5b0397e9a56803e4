//go:build !linux

package tcp

import (
	"net"
	"syscall"
	"time"
)

// watchShake has nothing to set here: the limit of the handshake ends it.
func watchShake(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }

func unwatch(*net.TCPConn) error { return nil }
