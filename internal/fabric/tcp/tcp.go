// Package tcp carries frames between the processes of a job over TCP.
//
// There is one connection per pair of processes, opened at the first Send in
// either direction and authenticated both ways with the job secret (package
// wire describes the handshake) before any frame is looked at. Opening
// connections is the work of ordinary goroutines (door, socket); the
// finished descriptor goes over to the data path, which makes its own
// non-blocking system calls under the engine's lock (Fabric, link). Where that
// is not possible, streams does the same with a goroutine per direction.
//
// Between processes of one host frames travel as they are, and are read straight
// into their place. Between hosts each is sealed, and opened in a staging buffer
// before anything is looked at (wire.Sealed); and there connections are watched,
// since a cut cable says nothing by itself (reach). Which it is follows from the
// job's table of hosts, the same for both ends: nothing is negotiated.
//
// The trap: the seal proves who speaks, not that he speaks the truth. What a
// peer sends is checked by the layers above, sealed or not.
package tcp

import (
	"fmt"
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
	connect  time.Duration // for another host to answer one attempt to connect
	silence  time.Duration // another host that owes an answer for so long cannot be reached
	beat     time.Duration // how often connections with other hosts are looked at

	// inside, if not nil, runs what makes sockets in the network that they shall be in.
	inside func(func() error) error
}

// far tells peers on other hosts.
func far(j *boot.Job, peer int) bool { return len(j.Host) > 0 && j.Host[peer] != j.Host[j.Rank] }

// hostOf names the host of a peer in errors.
func hostOf(j *boot.Job, peer int) string {
	if len(j.Host) > 0 && int(j.Host[peer]) < len(j.Hosts) {
		return "host " + j.Hosts[j.Host[peer]]
	}
	return "this host"
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
	// Promise F1: within 2 s after a cable was cut, every call that needs it has
	// returned. The kernel sends a segment again after some 0.2, 0.6 and 1.4 s,
	// so silence of 1.5 s means that at least three in a row were lost.
	set(&l.silence, 1500*time.Millisecond)
	set(&l.beat, 200*time.Millisecond)
	set(&l.connect, 300*time.Millisecond)
	if l.inside == nil {
		l.inside = func(work func() error) error { return work() }
	}
	return l
}

// lastTurns is for how many turns a peer that is given up is listened to at most:
// that is far more than the credit of its messages, or kernels, can hold of what
// it sent before. One that goes on all the same is not dead but hostile.
const lastTurns = 256

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

// listen opens the port that peers dial: on the address that the job names, the
// one by which they reach this host, and on no other.
func listen(j *boot.Job) (*listener, error) {
	if j.Listen == "" || j.Listen == boot.Loopback {
		ln, err := listenOn(boot.Loopback, address{127, 0, 0, 1})
		if err == nil {
			return ln, nil
		}
		if six, e := listenOn("::1", address{15: 1}); e == nil {
			return six, nil
		}
		return nil, err
	}
	a, err := parseAddress(j.Listen)
	if err != nil {
		return nil, fmt.Errorf("the address to listen on: %w", err)
	}
	if a.unspecified() || a.multicast() {
		return nil, fmt.Errorf("told to listen on %s, which is not the address of an interface", j.Listen)
	}
	return listenOn(j.Listen, a)
}
