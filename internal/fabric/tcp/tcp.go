package tcp

import (
	"context"
	"fmt"
	"time"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/wire"
)

// Lookup returns the address of a process of the job. It waits until the process has one, or until
// ctx ends.
type Lookup func(ctx context.Context, process int) (string, error)

// Config describes the process for which a fabric is made.
type Config struct {
	Job *boot.Job
	// Alone opens the port of a process that is alone in its job, too: it meets others.
	Alone bool
	// Parted is called in Poll when a connection with a process of another job has ended because
	// both have left it.
	Parted func(peer int)
	// Rings carry frames with processes of other jobs on this node through memory; nil: sockets do.
	Rings Rings

	limits limits // tests set what is not zero
}

// Rings carry the frames of connections with processes of other jobs on this node through memory that the two
// processes share (package pair). The connection then only wakes the peer, and shows its end. The methods are called
// in Poll and Close.
type Rings interface {
	// Attach is called when a connection with a process of another job has been opened, and before it carries any
	// frame. m is the memory for its frames, which the callee closes; it is nil if frames travel through the
	// connection itself, and then why says why.
	Attach(peer int, m *pair.Memory, why error)
	// Drain delivers what has arrived in memory. It is called when the peer has rung, has sent its Leave or has
	// failed.
	Drain(peer int, s fabric.Sink) int
	// Detach ends the use of the memory: the connection has ended.
	Detach(peer int)
}

// limits bounds what unauthenticated callers, slow peers and failed peers can cost.
type limits struct {
	callers   int           // handshakes of callers at a time
	hello     time.Duration // for a caller to send its first message
	handshake time.Duration // for the whole handshake, either side
	slotWait  time.Duration // with all slots in use, how long to wait before the oldest handshake is dropped
	penalty   time.Duration // how long a failed caller keeps its slot, which limits the rate of failures
	reach     time.Duration // for all attempts to reach a peer together
	linger    time.Duration // for peers to take what was sent before Close
	buffer    int           // bytes of the kernel's buffers of a connection; 0: the kernel tunes them
	connect   time.Duration // for another host to answer one attempt to connect
	silence   time.Duration // another host that has not acknowledged for so long cannot be reached
	beat      time.Duration // interval between checks of the connections with other hosts

	// inside, if not nil, runs functions that create sockets, in a network namespace.
	inside func(func() error) error
}

// far reports whether a peer is on another host.
func far(j *boot.Job, peer int) bool { return len(j.Host) > 0 && j.Host[peer] != j.Host[j.Rank] }

// hostOf names the host of a peer in errors.
func hostOf(j *boot.Job, peer int) string {
	if len(j.Host) > 0 && int(j.Host[peer]) < len(j.Hosts) {
		return "host " + j.Hosts[j.Host[peer]]
	}
	return "this host"
}

// defaults sets the limits that are zero. A caller that belongs to the job sends its
// Hello in microseconds; the limits allow for a machine with many more ranks than cores.
func (l limits) defaults() limits {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if l.callers == 0 {
		l.callers = 64
	}
	set(&l.hello, time.Second)
	set(&l.handshake, 5*time.Second)
	set(&l.slotWait, 5*time.Millisecond)
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

// lastTurns is for how many turns at most a lost peer is still read: that is far more
// than its credit and the kernels can hold of what it sent before. A peer that sends more
// has not failed but is hostile.
const lastTurns = 256

const (
	// chunkMax lets a frame and its header, or a sealed record, fit one segment of the kernel. On
	// loopback that is 64 KiB less the headers of IP and TCP with time stamps, 65483 bytes; to a network
	// card it is 45 packets, with 1448 bytes each, 1428 over IPv6. A longer frame would be followed by a
	// segment of a few bytes of its own: on loopback frames of 64 KiB move at 6 GB/s where these move at
	// 10, and between two hosts frames of 65408 bytes at 2.8 where these move at 3.5.
	chunkMax = wire.MaxPayload - 1536
	// A message that fits one frame is eager: on TCP an announcement costs a round trip,
	// and a frame with a posted receive is read directly into its buffer.
	eagerMax = chunkMax
)

// listenAt listens at an address. If port is 0 it is one of the range that the user gives.
func listenAt(host string, a address.IP, port int) (*listener, error) {
	ports, err := address.PortsOfEnviron()
	switch {
	case err != nil:
		return nil, err
	case port != 0:
		return bind(host, a, port)
	}
	return address.ListenIn(ports, func(port int) (*listener, error) { return bind(host, a, port) })
}

// listen opens the port that peers dial, only on the address that the job names: the one
// by which they reach this host.
func listen(j *boot.Job) (*listener, error) {
	if j.Listen == "" || j.Listen == boot.Loopback {
		ln, err := listenAt(boot.Loopback, address.IP{127, 0, 0, 1}, 0)
		if err == nil {
			return ln, nil
		}
		if six, e := listenAt("::1", address.IP{15: 1}, 0); e == nil {
			return six, nil
		}
		return nil, err
	}
	a, err := address.Parse(j.Listen)
	if err != nil {
		return nil, fmt.Errorf("the address to listen on: %w", err)
	}
	if a.Unspecified() || a.Multicast() {
		return nil, fmt.Errorf("told to listen on %s, which is not the address of an interface", j.Listen)
	}
	return listenAt(j.Listen, a, 0)
}
