//go:build unix

package launch

import (
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
	agents  []*agent // whose ranks they are
}

// beside returns an agent of another job, whose processes this process starts, too.
func (a *agent) beside(up reporter) *agent {
	b := &agent{up: up, post: a.post, children: a.children}
	a.agents = append(a.agents, b)
	return b
}

// leave ends an agent of beside when nothing of its job is left.
func (a *agent) leave() {
	a.agents = slices.DeleteFunc(a.agents, func(b *agent) bool { return b == a })
	a.closeDoor()
	if a.memory != nil {
		a.memory.Close()
	}
}

// reap reaps all processes that have ended. It reports those that were killed first, since
// others may have exited because of them.
func (c *children) reap() {
	type death struct {
		a      *agent
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
						d.a.up.other(d.p.rank, lib, false)
					}
				}
				d.a.up.ended(d.p.rank, d.status, d.a.memory.Notes().Last(d.p.rank))
				if d.p.links == 0 {
					d.a.up.linkEnded(d.p.rank, nil)
				}
			}
		}
	}
}

// dying reports whether a rank is exiting but not reaped yet.
func (c *children) dying() bool {
	for _, a := range c.agents {
		for _, p := range a.procs {
			if p.alive() && sys.Exiting(p.pid) {
				return true
			}
		}
	}
	return false
}
