package proc

// An errand is work of the program, a function that it wants called by its own threads
// only. Whoever is inside a call does it: a goroutine that waits, whatever for, or one that
// tests. While there is none it has to wait; services never do it.

// Errand has f called, without the lock, by a goroutine that waits or tests.
func (p *Proc) Errand(f func()) {
	p.errands = append(p.errands, f)
	if p.polled == nil { // else the poller goes, when it looks next
		p.wakeOne()
	}
}

// runErrand does the oldest errand, and polls once: what goes on behind it need not be what
// anybody waits for.
func (p *Proc) runErrand() {
	f := p.errands[0]
	p.errands[0] = nil
	if p.errands = p.errands[1:]; len(p.errands) == 0 {
		p.errands = nil
	}
	p.Unlock()
	f()
	p.Lock()
	p.progress(-1)
}
