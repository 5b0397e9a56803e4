package proc

// Parked is the number of waiters that sleep.
func (p *Proc) Parked() int { return len(p.parked) }

// Armed reports whether the node's fabric is armed and nobody polls.
func (p *Proc) Armed() bool {
	door := p.node.Control().Door(p.node.LocalIndex(p.job.Rank))
	return door.Armed.Load() != 0 && !p.polling()
}

// NoteSleep notes that a goroutine is about to sleep until e.
func (p *Proc) NoteSleep(e *Event) { p.noteSleep(e) }

// NoteWake notes that the goroutine is awake.
func (p *Proc) NoteWake(e *Event) { p.noteWake(e) }

// PollingMode reports whether calls leave the fabrics disarmed.
func (p *Proc) PollingMode() bool { return p.pollingMode() }

// Look counts a call that has looked at one ring only.
func (p *Proc) Look() { p.rec.Activity++ }

// A poller yields yieldMax times, after yieldEvery polls each, for threads that do not wait yet.
const (
	YieldEvery = yieldEvery
	YieldMax   = yieldMax
)

// SocketPolls is how many polls of memory count as one of sockets.
const SocketPolls = socketPolls

// Wanted reports whether another goroutine wants the lock.
func (p *Proc) Wanted() bool { return p.rec.Want.Load() != 0 }

// RaisePs makes the number of Ps at least n.
func (p *Proc) RaisePs(n int) { p.threads.raisePs(n) }
