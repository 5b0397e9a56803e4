package proc

// Parked is the number of waiters that sleep.
func (p *Proc) Parked() int { return len(p.parked) }

// Polling reports whether somebody polls.
func (p *Proc) Polling() bool { return p.polling }

// Deep reports whether all services sleep until something arrives.
func (p *Proc) Deep() bool {
	for _, l := range p.lanes {
		if !l.deep {
			return false
		}
	}
	return true
}

// FallAsleep notes that a goroutine is about to sleep until e.
func (p *Proc) FallAsleep(e *Event) { p.fallAsleep(e) }

// WakeUp notes that it is awake.
func (p *Proc) WakeUp(e *Event) { p.wakeUp(e) }
