package tcp

import (
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Short messages beside long ones
//
// The frames of a long message and short messages share a connection, and a short message waits for what
// the kernel has been given before, and for the system call in which a process is at that moment. A run of
// four frames is up to a quarter faster than single frames, and takes four times as long. Therefore, while
// short messages travel on a connection, long ones are sent frame by frame, and a turn of receiving ends
// when a short message is delivered, so that the process can answer it.
//
// Short messages are those of the program: eager ones, one-sided operations, and answers to these. What
// the protocol of long messages itself sends (Ready, Clear, Ack, Credit) does not count, and neither do
// requests for data and flushes, which are short beside long operations, too.
//
// Rejected: a second connection for long messages, which leaves the system calls as long as they are; and
// smaller buffers of the kernel, which are not what a short message waits for, because a receiver that
// polls empties them.

const (
	// mixedFrames is after how many frames of long messages without a short one these are sent in runs
	// again.
	mixedFrames = 16
	// shortMax is the payload of the longest message that counts as short, in bytes. Hardly any last frame
	// of a long operation is as short.
	shortMax = 512
)

// shortMessage reports whether a frame is a short message of the program.
func shortMessage(h *wire.Header) bool {
	if h.Size > shortMax {
		return false
	}
	switch h.Kind {
	case wire.Eager, wire.EagerSync, wire.WinPut, wire.WinAcc, wire.WinCas, wire.WinReply, wire.WinEpoch:
		return true
	}
	return false
}

// noteSent notes a frame that is sent.
func (l *link) noteSent(h *wire.Header) {
	if shortMessage(h) && !planted.RunsBeside {
		l.mixed = mixedFrames
	}
}

// noteArrived notes a whole frame that has arrived.
func (l *link) noteArrived(h *wire.Header) {
	if shortMessage(h) {
		l.mixed, l.message = mixedFrames, !planted.TurnGoesOn
	}
}

// single reports whether the next frame of a long message is to be sent alone.
func (l *link) single() bool {
	if l.mixed == 0 {
		return false
	}
	l.mixed--
	return true
}
