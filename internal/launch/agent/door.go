//go:build unix

package agent

import (
	"fmt"
	"os"
	"slices"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/ps"
	"github.com/halo-mpi/halo/internal/planted"
)

// A door is the second way by which ranks reach the agent of their host: a socket with an abstract name, which every
// process of the network namespace may try. Wrappers such as Python's subprocess and sudo close the descriptor of the
// link, and others put a socket of their own at its number (boot.EnvLink tells a program which one is the link).
//
// The kernel tells which process connects. It is served if it descends from the process of the rank whose link it
// asks for, which is as good a proof as having inherited the link, and is a process of this user or of root, who
// can read the memory of the launcher anyway. A process of another user is turned away, although sudo may have started
// it for this user: what one user gives to sudo is not for another one to use. The door is closed when all ranks of the
// host have joined.
//
// Rejected: a secret in the environment, which the log of a wrapper may show (promise S1); a socket in a directory,
// which somebody has to remove; and to let the name of the socket alone admit, which /proc/net/unix tells to all.
type door struct {
	name     string   // "" if there is none
	listener *os.File // nil if it is closed
	awaited  int      // ranks that have not joined
}

// closeDoor ends the second way.
func (a *Agent) closeDoor() {
	if a.door.listener != nil {
		a.door.listener.Close()
		a.door.listener = nil
	}
}

// serve serves a link of a process until it ends. A process may have two: the one that it has inherited, and one
// by the door. The end of the links is reported when there is none, and the process uses no other one any more.
func (a *Agent) serve(p *process, c *boot.Session) {
	p.links++
	go func() {
		err := c.Serve()
		c.Close()
		a.post(func() { a.linkOver(p, err) })
	}()
}

// linkOver is called when a link has ended.
func (a *Agent) linkOver(p *process, err error) {
	p.links--
	if err != nil || p.links == 0 && (p.joined || p.ended) { // otherwise it may come by the door, and reap reports the end
		a.up.LinkEnded(p.rank, err)
	}
	if a.unlinked != nil && !a.serving() {
		a.unlinked()
	}
}

// afterLinks calls f when the links of processes that have ended are served, now or later. A busy machine may take
// seconds for the frames that a process has sent last, and without them the launcher judges its end wrongly.
func (a *Agent) afterLinks(f func()) {
	if a.serving() {
		a.unlinked = f
	} else {
		f()
	}
}

// serving reports whether links of processes that have ended are still served.
func (a *Agent) serving() bool {
	return slices.ContainsFunc(a.procs, func(p *process) bool { return p.ended && p.links > 0 })
}

// admit decides whether the process of a session may take the place of a rank, and gives it the place.
func (a *Agent) admit(rank int, c *boot.Session) error {
	p := a.process(rank)
	switch {
	case !p.alive():
		return fmt.Errorf("process %d, which was rank %d, has ended: a wrapper waits for the program that it starts, as setsid does with -w", p.pid, rank)
	case (!ps.Descends(c.Pid(), p.pid) || c.PeerEnded()) && !planted.DoorUnguarded:
		return fmt.Errorf("process %d is not one that rank %d has started, which is process %d", c.Pid(), rank, p.pid)
	case p.joined || !p.session.PassOn():
		return fmt.Errorf("another program of rank %d has already joined the job: one program with mpi.Init per rank", rank)
	}
	p.session = c
	p.links++
	return nil
}

// Join is called when the process of a session says by the door that it is rank.
func (h *asHost) Join(rank int, _ bool, c *boot.Session) error {
	a, answer := (*Agent)(h), make(chan error, 1)
	a.post(func() { answer <- a.admit(rank, c) })
	return <-answer
}

// Given is called when a process has a segment from another server. None has in a job of this launcher.
func (h *asHost) Given(_ int, f *os.File) { f.Close() }
