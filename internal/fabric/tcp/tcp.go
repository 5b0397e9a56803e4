// Package tcp carries frames between the processes of a job over TCP.
//
// There is one connection per pair of processes, opened at the first Send in
// either direction and authenticated both ways with the job secret (package
// wire describes the handshake) before any frame is looked at. Opening
// connections is the work of ordinary goroutines and package net (door); the
// finished descriptor goes over to the data path, which makes its own
// non-blocking system calls under the engine's lock (Fabric, link). Where that
// is not possible, streams does the same with a goroutine per direction.
//
// The trap: all processes of the job are taken to be on this machine, so the
// listener is on loopback and frames are not sealed. Between machines frames
// must be sealed where link reads and writes them.
package tcp

import (
	"net"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/wire"
)

// Config says for which process a fabric is made.
type Config struct {
	Job *boot.Job

	limits limits // tests set what is not zero
}

// limits bounds what strangers, slow peers and dead peers can cost.
type limits struct {
	guests   int           // handshakes of callers at a time
	hello    time.Duration // for a caller to send its first message
	shake    time.Duration // for the whole handshake, either side
	patience time.Duration // a full house waits that long, then shows the oldest silent caller out
	penalty  time.Duration // a failed caller keeps its place that long, which limits the rate of failures
	reach    time.Duration // for all attempts to reach a peer together
	linger   time.Duration // for peers to take what was sent before Close
	buffer   int           // bytes of the kernel's buffers of a connection; 0: the kernel tunes them
}

// defaults fills in what is zero. A caller that belongs to the job sends its
// Hello in microseconds; the limits are what a machine with many more ranks
// than cores may need.
func (l limits) defaults() limits {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if l.guests == 0 {
		l.guests = 64
	}
	set(&l.hello, time.Second)
	set(&l.shake, 5*time.Second)
	set(&l.patience, 5*time.Millisecond)
	set(&l.penalty, 50*time.Millisecond)
	set(&l.reach, 20*time.Second)
	set(&l.linger, 2*time.Second)
	return l
}

const (
	// chunkMax lets a frame and its header fit one segment on loopback: 64 KiB
	// less the headers of IP and TCP with time stamps is 65483 bytes. A frame of
	// 64 KiB would be followed by a segment of a few bytes of its own, and move
	// at 6 GB/s where this one moves at 10.
	chunkMax = wire.MaxPayload - 128
	// A message is announced first only if it does not fit one frame: on TCP
	// the announcement costs a round trip, and a frame whose place is known is
	// read into it directly.
	eagerMax = chunkMax
)

// listen opens the port that peers dial. All processes are on this machine.
func listen() (net.Listener, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err == nil {
		return ln, nil
	}
	if six, e := net.Listen("tcp6", "[::1]:0"); e == nil {
		return six, nil
	}
	return nil, err
}
