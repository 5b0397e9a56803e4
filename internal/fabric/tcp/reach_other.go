//go:build !linux

package tcp

import (
	"syscall"
	"time"
)

// watchShake has nothing to set here: the limits of the handshake and of all attempts end it.
func watchShake(syscall.RawConn, time.Duration) error { return nil }

func unwatch(*socket) error { return nil }

// answered cannot be asked here.
func answered(syscall.RawConn) bool { return false }
