package proc

// Parked is the number of waiters that sleep.
func (p *Proc) Parked() int { return len(p.parked) }

// Deep reports whether the service of the node sleeps until something arrives.
func (p *Proc) Deep() bool {
	door := p.node.Control().Door(p.node.LocalIndex(p.job.Rank))
	return door.Armed.Load() != 0 && !p.polling
}

// FallAsleep notes that a goroutine is about to sleep until e.
func (p *Proc) FallAsleep(e *Event) { p.fallAsleep(e) }

// WakeUp notes that it is awake.
func (p *Proc) WakeUp(e *Event) { p.wakeUp(e) }

// Hot reports whether calls leave the fabrics disarmed.
func (p *Proc) Hot() bool { return p.hot }

// A poller yields crowdYields times, after crowdEvery polls each, for threads to come.
const (
	CrowdEvery  = crowdEvery
	CrowdYields = crowdYields
)

// Wanted reports whether somebody wants the lock.
func (p *Proc) Wanted() bool { return p.want.Load() != 0 }
