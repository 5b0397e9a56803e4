package tcp

import (
	"fmt"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// reach is the state of the check whether the host of a peer can be reached. The kernel
// does not report a cut cable by itself, so on connections between hosts, every beat:
//
//   - if all that was sent is acknowledged, and the last acknowledgement is not
//     fresh, an empty record is sent, so that there is something to acknowledge;
//   - if the host has been silent for limits.silence although an acknowledgement
//     is due, and the kernel has sent again more than once, the host cannot be
//     reached.
//
// The peer's kernel answers, not its program: a process that computes, is stopped,
// or has not got a core for seconds is alive. When a process dies its kernel ends
// the connection, and the launcher's agent of that host reports it too. A connection
// that was never opened is not monitored and costs nothing.
//
// Rejected: TCP_USER_TIMEOUT, except while a connection is being made. The
// kernel applies it to a peer with a closed window too: a peer that is stopped for
// longer, while more is sent to it than its buffers hold, would count as failed.
// Answers by the peer's program would have the same defect. Keepalive of the
// kernel counts in whole seconds, and not at all while something is unsent.
//
// One case takes longer than promise F1 says: to a peer that does not read, the
// kernel sends probes at growing intervals. If its host is cut off then, some more
// such intervals pass before it shows.
type reach struct {
	since time.Time // since when an acknowledgement is due; zero: none is due
	tries uint8     // the kernel's count of unanswered attempts at that time
}

// A reading is the kernel's state of a connection.
type reading struct {
	owed      bool          // sent data is not acknowledged
	full      bool          // data waits because the peer's window is closed
	sinceAck  time.Duration // since the last acknowledgement
	sinceSent time.Duration // since data was last sent, again or for the first time
	tries     uint8         // attempts to send the oldest data again
	probes    uint8         // window probes that were not answered
	freshFor  time.Duration // how long an acknowledgement is fresh
	silence   time.Duration // limits.silence
}

// update takes one reading and decides whether to send an empty record, and whether the peer
// cannot be reached.
func (r *reach) update(now time.Time, m reading) (ask, dead bool) {
	switch {
	case m.full && !m.owed:
		r.since = time.Time{}
		return false, m.probes >= 3 && m.sinceAck >= m.silence
	case !m.owed:
		r.since = time.Time{}
		return m.sinceAck >= m.freshFor, false
	case m.sinceAck <= m.sinceSent, r.since.IsZero(), now.Add(-m.sinceAck).After(r.since):
		// The latest data is acknowledged, or its acknowledgement is due from now on.
		r.since, r.tries = now, m.tries
		return false, false
	}
	// A connection without acknowledgements is detected within about two beats.
	return false, m.sinceAck >= m.silence && now.Sub(r.since) >= m.silence*2/3 && m.tries-r.tries >= 2
}

// beat checks the connections with other hosts.
func (f *Fabric) beat() {
	now := time.Now()
	for _, l := range f.active {
		if l.seal == nil || l.broken != nil {
			continue
		}
		k, err := sys.Reach(l.fd)
		if err != nil {
			continue // the next read or write fails
		}
		ask, dead := l.reach.update(now, reading{
			owed: k.Unacked > 0, full: k.Unsent > 0, sinceAck: k.Heard, sinceSent: k.Said, tries: k.Retries, probes: k.Probes,
			freshFor: f.limits.beat / 2, silence: f.limits.silence,
		})
		switch {
		case dead:
			l.broken = fmt.Errorf("%s has not answered for %v and cannot be reached", f.connector.hostOf(l.peer), k.Heard.Round(100*time.Millisecond))
			f.broken = true // what has arrived is delivered first
		case ask:
			l.sendKeepalive(f)
		}
	}
}

// limitHandshake sets the kernel's limit for the silence of another host while a connection is
// being made: windows are open then.
func limitHandshake(c syscall.RawConn, silence time.Duration) error {
	return control(c, func(fd int) error { return sys.LimitSilence(fd, silence) })
}

// answered reports whether the connect of a socket has succeeded.
func answered(c syscall.RawConn) bool {
	there := false
	c.Control(func(fd uintptr) { there = sys.Connected(int(fd)) })
	return there
}

// unlimit removes the limit of limitHandshake.
func unlimit(conn *socket) error {
	return conn.control(func(fd int) error { return sys.LimitSilence(fd, 0) })
}
