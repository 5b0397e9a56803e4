//go:build unix

package agent

import (
	"os"
	"slices"
	"syscall"

	"github.com/halo-mpi/halo/internal/sys"
)

// children are what this process has started, or starts children with: the agents of several jobs in one
// process share it.
type children struct {
	spawner *spawner
	warden  *wardenPipe
	others  map[int]func(syscall.WaitStatus) // those that are no ranks, and functions to call at their end
	mark    string                           // in their environment
	cores   int
	agents  []*Agent // whose ranks they are
}

// Beside returns an agent of another job, whose processes this process starts, too.
func (a *Agent) Beside(up Reporter) *Agent {
	b := &Agent{up: up, post: a.post, children: a.children}
	a.agents = append(a.agents, b)
	return b
}

// Leave ends an agent of beside when nothing of its job is left.
func (a *Agent) Leave() {
	a.agents = slices.DeleteFunc(a.agents, func(b *Agent) bool { return b == a })
	a.closeDoor()
	if a.memory != nil {
		a.memory.Close()
	}
}

// Reap reaps all processes that have ended. It reports those that were killed first, since
// others may have exited because of them.
func (c *children) Reap() {
	type death struct {
		a      *Agent
		p      *process
		status syscall.WaitStatus
	}
	byPid := map[int]death{}
	for _, a := range c.agents {
		for _, p := range a.procs {
			if p.alive() {
				byPid[p.pid] = death{a: a, p: p}
			}
		}
	}
	var gone []death
	for {
		pid, status, err := sys.WaitChild(false)
		if err != nil || pid == 0 {
			break
		}
		d, ours := byPid[pid]
		if !ours { // else an orphan that we adopted, or the warden
			if told := c.others[pid]; told != nil {
				delete(c.others, pid)
				told(status)
			}
			continue
		}
		d.status, d.p.ended = status, true
		d.a.memory.Notes().Ended(d.p.rank, status)
		c.warden.ended(pid)
		d.a.running--
		d.p.session.Ended()
		gone = append(gone, d)
	}
	for _, signaled := range []bool{true, false} {
		for _, d := range gone {
			if d.status.Signaled() == signaled {
				if !d.p.joined {
					if lib := d.a.linkedWith(d.p.app); lib != "" {
						d.a.up.Other(d.p.rank, lib, false)
					}
				}
				d.a.up.Ended(d.p.rank, d.status, d.a.memory.Notes().Last(d.p.rank))
				if d.p.links == 0 {
					d.a.up.LinkEnded(d.p.rank, nil)
				}
			}
		}
	}
}

// Dying reports whether a rank is exiting but not reaped yet.
func (c *children) Dying() bool {
	for _, a := range c.agents {
		for _, p := range a.procs {
			if p.alive() && sys.Exiting(p.pid) {
				return true
			}
		}
	}
	return false
}

// ChildSignals returns a channel that receives a value after children have ended.
// Some may have ended already, so it contains one value from the start. That is
// sent before notify, which is signal.Notify, is called: afterwards the channel may be full,
// and the caller, which is also the receiver, would block forever.
func ChildSignals(notify func(chan<- os.Signal, ...os.Signal)) <-chan os.Signal {
	c := make(chan os.Signal, 1)
	c <- syscall.SIGCHLD
	notify(c, syscall.SIGCHLD)
	return c
}

// StartOther starts a process that is no rank, in the environment of which the mark of the job must be. It calls ended
// when the process was reaped.
func (c *children) StartOther(what *Child, ended func(syscall.WaitStatus)) (pid int, err error) {
	c.spawner.do(func() { pid, err = c.spawner.start(what) })
	if err != nil {
		return 0, err
	}
	c.warden.started(pid)
	c.others[pid] = func(status syscall.WaitStatus) {
		c.warden.ended(pid)
		ended(status)
	}
	return pid, nil
}

// RemoveAtEnd has the warden remove a directory if this process cannot.
func (c *children) RemoveAtEnd(dir string) { c.warden.directory(dir) }
