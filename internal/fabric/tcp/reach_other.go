//go:build !linux

package tcp

import (
	"syscall"
	"time"
)

// limitHandshake has no effect on this platform: the limits of the handshake and of all
// attempts end it.
func limitHandshake(syscall.RawConn, time.Duration) error { return nil }

func unlimit(*socket) error { return nil }

// answered is unknown on this platform.
func answered(syscall.RawConn) bool { return false }
