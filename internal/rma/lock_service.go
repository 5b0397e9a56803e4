package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma/lock"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// lockAsked takes the request of a process on another node for the lock of the own memory.
// The lock is held.
func (w *Window) lockAsked(from int32, exclusive bool) bool {
	return w.queueLock(lock.Request{Process: from, Exclusive: exclusive})
}

// queueLock takes a request. It reports false if no correct process sends it.
func (w *Window) queueLock(r lock.Request) bool {
	if w.control == nil || w.e.near(r.Process) || w.Comm.RankOf(r.Process) < 0 || !w.service.Ask(r) {
		return false
	}
	w.serve()
	return true
}

// unlockAsked takes back the lock from a process on another node. The lock of the engine is held.
func (w *Window) unlockAsked(from int32) bool {
	if !w.service.Return(from) {
		return false
	}
	w.serve()
	return true
}

// lostOrigin removes a process that has died from the service, and has the service look again:
// claims of dead processes of the node are void, too. The next process that gets the lock is told
// of the death of a holder. The lock is held. It runs inside the handling of failures, so Work does
// the rest.
func (w *Window) lostOrigin(process int32) {
	if w.service.Lose(process) {
		w.control.Lock().Orphaned(w.Comm.RankOf(process))
	}
	if !w.service.Idle() {
		w.list(true)
	}
}

// list makes workSync look for the claim, or not.
func (w *Window) list(on bool) {
	e := w.e
	if w.listed == on {
		return
	}
	w.listed = on
	if on {
		e.serving = append(e.serving, w)
		e.p.SetBusy(1)
		return
	}
	e.p.SetBusy(-1)
	for i, o := range e.serving {
		if o == w {
			last := len(e.serving) - 1
			e.serving[i], e.serving[last] = e.serving[last], nil
			e.serving = e.serving[:last]
			return
		}
	}
}

// serve does what can be done for those that want the lock, and returns the number of steps. The
// lock is held.
func (w *Window) serve() int {
	n, sleeps := w.service.Step((*serviceClaim)(w))
	w.list(sleeps)
	return n
}

// serviceClaim is a window as the claim of its lock.Service.
type serviceClaim Window

func (c *serviceClaim) Make(exclusive bool) {
	l := c.control.Lock()
	l.Claim(l.Service(), exclusive, c.e.wakeClaimant)
}

func (c *serviceClaim) Look() shmfmt.LockState {
	l := c.control.Lock()
	return l.Look(l.Service(), c.e.deadLocals)
}

func (c *serviceClaim) Hold() {
	l := c.control.Lock()
	l.Hold(l.Service())
}

func (c *serviceClaim) AnnounceSleep(found shmfmt.LockState) {
	l := c.control.Lock()
	l.AnnounceSleep(l.Service(), found)
}

func (c *serviceClaim) Contended() bool {
	l := c.control.Lock()
	return l.Contended(l.Service(), c.e.deadLocals)
}

func (c *serviceClaim) Release() {
	l := c.control.Lock()
	l.Release(l.Service(), c.e.deadLocals, c.e.wakeClaimant)
}

func (c *serviceClaim) DeadHolder() (rank int, died bool) { return (*Window)(c).deadHolder(c.control) }

func (c *serviceClaim) Grant(process int32) { c.e.sendGrant((*Window)(c), process, class.Success, 0) }

func (c *serviceClaim) Refuse(process int32, died int) {
	c.e.sendGrant((*Window)(c), process, class.ProcFailed, int64(died))
}

// wakeClaimant wakes a process of the node that waits for the lock of the own memory.
func (e *Engine) wakeClaimant(claimant int) {
	if e.node != nil { // else it is this process, whose poller looks at watched words
		e.node.Ring(claimant)
	}
}
