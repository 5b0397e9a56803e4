//go:build !linux

package tcp

import (
	"net"
	"syscall"
	"time"
)

// watchShake has nothing to set here: the limits of the handshake and of all attempts end it.
func watchShake(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }

func unwatch(*net.TCPConn) error { return nil }

// answered cannot be asked here.
func answered(syscall.RawConn) bool { return false }
