package proc

// Progress polls once, for calls that test, and runs the queued tasks.
func (p *Proc) Progress(hint int) {
	p.progress(hint)
	p.runTasks()
}

// ProgressMany is Progress for calls that then look at many operations: it polls on as long as something arrives. It ends
// after idle polls of memory in a row that have found nothing, or when as much was done as limit says, or if there is a poller,
// which receives anyway.
func (p *Proc) ProgressMany(limit, idle int) {
	if p.polling() {
		idle = 0
	} else if p.overSockets(-1) {
		idle /= socketPolls
	}
	for done, empty := 0, 0; done < limit && empty <= idle; {
		n := p.progress(-1)
		done += n
		empty++
		if n > 0 {
			empty = 0
		}
	}
	p.runTasks()
}

// runTasks runs the tasks that are queued.
func (p *Proc) runTasks() {
	for n := len(p.tasks); n > 0 && len(p.tasks) > 0; n-- {
		p.runTask()
	}
}

// progress polls once, and reports how much it did.
func (p *Proc) progress(hint int) int {
	if p.polling() {
		p.yieldLock() // the poller makes progress
		return 0
	}
	p.enterPoll()
	n := p.poll(hint)
	if n == 0 && p.rec.Want.Load() != 0 {
		p.yieldLock()
	}
	p.leavePoll()
	return n
}

// pollAll polls everything, sockets included. That is necessary after arming, since frames that
// arrived before do not ring. After a yield of the core the cost does not matter.
func (p *Proc) pollAll(hint int) int {
	p.rec.Turns |= SocketTurns - 1 // the next poll includes sockets
	return p.poll(hint)
}

// overSockets reports whether a waiter polls sockets every turn, which is a system call: only when a frame from there is
// awaited, or when there is no other fabric.
func (p *Proc) overSockets(hint int) bool {
	return p.rings == nil || hint >= 0 && !p.ThroughRings(hint)
}

// poll polls memory, and sockets only in some turns. It reports how much it did.
func (p *Proc) poll(hint int) int {
	n := 0
	if p.rings != nil {
		n = p.rings.Poll(p.sink, hint)
		if p.node != nil {
			n += p.node.PollOffers(n == 0)
		}
	}
	p.rec.Turns++
	for _, l := range p.transports {
		if l.sockets && (p.rec.Turns%SocketTurns == 0 || p.overSockets(hint)) {
			n += l.fab.Poll(p.sink, hint)
			if len(p.ended) > 0 {
				p.forgetEnded()
			}
		}
	}
	if p.rec.Turns%noteTurns == 0 {
		p.noteParked()
	}
	if len(p.queuedPeers) > 0 {
		n += p.flushQueues()
		if len(p.ended) > 0 {
			p.forgetEnded()
		}
	}
	if p.busy > 0 {
		for _, w := range p.work {
			n += w.Work()
		}
	}
	if p.watched > 0 {
		for _, e := range p.parked {
			if e.word != nil && e.happened() {
				e.park.unpark()
			}
		}
	}
	return n
}
