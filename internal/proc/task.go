package proc

import "github.com/halo-mpi/halo/internal/shmfmt"

// A user-callback task is a function of the program that only the program's own threads may
// call. A goroutine inside a call runs it: one that waits, for whatever event, or one that
// tests. Without such a goroutine the task stays queued; services never run it.

// AddTask queues f. A goroutine that waits or tests calls f without the lock.
func (p *Proc) AddTask(f func()) {
	p.tasks = append(p.tasks, f)
	p.setSlow(shmfmt.SlowTasks, true)
	if p.pollerEvent == nil { // else the poller runs it after its current poll
		p.wakeOne()
	}
}

// runTask runs the oldest task, and polls once: the operation that continues after the task
// may be one for which nobody waits.
func (p *Proc) runTask() {
	f := p.tasks[0]
	p.tasks[0] = nil
	p.tasks = p.tasks[1:]
	if len(p.tasks) == 0 {
		p.tasks = nil
		p.setSlow(shmfmt.SlowTasks, false)
	}
	p.Unlock()
	f()
	p.Lock()
	p.progress(-1)
}
