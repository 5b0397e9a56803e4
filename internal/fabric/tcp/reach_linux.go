package tcp

import (
	"fmt"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// reach is what is known of whether the host of a peer can be reached. A cut
// cable says nothing by itself, so on connections between hosts, every beat:
//
//   - if all that was sent is acknowledged, and the last acknowledgement is not
//     fresh, an empty record is sent, so that there is something to acknowledge;
//   - if the host has been silent for limits.silence although it owes an
//     acknowledgement, and the kernel has tried again more than once, it cannot
//     be reached.
//
// It is the peer's kernel that answers, not its program: a process that
// computes, is stopped, or has not been given a core for seconds is alive. That
// a process has died its kernel tells by the end of the connection, and the
// launcher's agent of that host knows it, too. A connection that was never
// opened is not watched and costs nothing.
//
// Rejected: TCP_USER_TIMEOUT, except while a connection is being made. The
// kernel applies it to a peer with a closed window, too: one that is stopped for
// longer while it is sent more than its buffers hold would be declared dead.
// Answers by the peer's program would have the same fault. Keepalive of the
// kernel counts in whole seconds and not at all while something is unsent.
//
// One case takes longer than promise F1 says: to a peer that does not read, the
// kernel tries again after ever longer pauses. If its host is cut off then, that
// shows after some more such pauses.
type reach struct {
	since time.Time // an acknowledgement is owed and none has come; zero: none is owed
	tries uint8     // the kernel's count of unanswered attempts at that time
}

// A reading is what the kernel knows of a connection, as far as it matters here.
type reading struct {
	owed     bool          // something was sent that is not acknowledged
	full     bool          // something waits that the peer's window has no room for
	heard    time.Duration // since the last acknowledgement
	said     time.Duration // since data was last sent, again or for the first time
	tries    uint8         // attempts to send the oldest data again
	probes   uint8         // questions for room in the peer's window that were not answered
	freshFor time.Duration // how long an acknowledgement is fresh
	silence  time.Duration // limits.silence
}

// judge takes one reading and says what to do.
func (r *reach) judge(now time.Time, m reading) (ask, dead bool) {
	switch {
	case m.full && !m.owed:
		r.since = time.Time{}
		return false, m.probes >= 3 && m.heard >= m.silence
	case !m.owed:
		r.since = time.Time{}
		return m.heard >= m.freshFor, false
	case m.heard <= m.said, r.since.IsZero(), now.Add(-m.heard).After(r.since):
		// The last of what was sent has an answer, or it begins to be owed now.
		r.since, r.tries = now, m.tries
		return false, false
	}
	// An unanswered connection is noticed to be one within two beats or so.
	return false, m.heard >= m.silence && now.Sub(r.since) >= m.silence*2/3 && m.tries-r.tries >= 2
}

// beat looks at the connections with other hosts.
func (f *Fabric) beat() {
	now := time.Now()
	for _, l := range f.active {
		if l.seal == nil || l.broken != nil {
			continue
		}
		k, err := sys.Reach(l.fd)
		if err != nil {
			continue // the next read or write will tell
		}
		ask, dead := l.reach.judge(now, reading{
			owed: k.Unacked > 0, full: k.Unsent > 0, heard: k.Heard, said: k.Said, tries: k.Retries, probes: k.Probes,
			freshFor: f.limits.beat / 2, silence: f.limits.silence,
		})
		switch {
		case dead:
			l.broken = fmt.Errorf("%s has not answered for %v and cannot be reached", hostOf(f.door.job, l.peer), k.Heard.Round(100*time.Millisecond))
			f.broken = true // what has come is delivered first
		case ask:
			l.ask(f)
		}
	}
}

// watchShake limits how long another host may be silent while a connection is
// being made, by the kernel's own means: windows are open then.
func watchShake(c syscall.RawConn, silence time.Duration) error {
	return control(c, func(fd int) error { return sys.LimitSilence(fd, silence) })
}

// answered reports whether a socket that connects has come through.
func answered(c syscall.RawConn) bool {
	there := false
	c.Control(func(fd uintptr) { there = sys.Connected(int(fd)) })
	return there
}

// unwatch ends that.
func unwatch(conn *socket) error {
	return conn.control(func(fd int) error { return sys.LimitSilence(fd, 0) })
}
